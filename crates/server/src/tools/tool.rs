//! The [`Tool`] trait. A tool is a struct: its fields are the parameters, its doc comment is the description, and its `run` is the
//! behaviour.

pub(crate) mod arguments;
mod common;
mod context;
mod observation;
mod permission;
mod schema;
mod step;

use crate::access::principal::Permission;
use crate::answers::reply::{Image, Part, Reply};
use crate::calls::Call;
use crate::calls::tool_spec::{OutputFormat, ToolSpec};
use crate::config::{AnswerStyle, Capability, Risk};
use crate::error::{Error, ErrorCode, Problem, Result};
use crate::sessions::Visible;
use crate::sessions::session::Session;
use engine::Page;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(crate) use crate::calls::tool_spec::Effect;
pub(crate) use common::SESSION;
pub use common::SessionNaming;
pub(crate) use permission::JudgedPage;
pub(crate) use schema::{Nullable, nullable, present};
pub(crate) use step::{StepCaller, StepError};

/// The arguments of a call, as the client sent them.
pub(crate) type Arguments = Map<String, Value>;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool. The trait is implemented by the struct of the tool's parameters.
pub(crate) trait Tool: DeserializeOwned + JsonSchema + Send + 'static {
    /// The name in `tools/list`.
    const NAME: &'static str;
    /// A short name for users.
    const TITLE: &'static str;
    /// Whether the tool only reads or also changes something.
    const EFFECT: Effect;
    /// The permission that the caller needs. Tools that return or accept what grants access elsewhere (cookies, storage, headers of
    /// requests) and tools that run code outside the page require [`Permission::Admin`].
    const PERMISSION: Permission;
    /// The error code for an element that is not actionable.
    const NOT_READY: ErrorCode = ErrorCode::ElementNotInteractive;
    /// The `--caps` value that enables the tool. Tools with `None` need no capability.
    const CAPABILITY: Option<Capability> = None;
    /// The risk for which an operator can disable the tool. Tools with `None` have no such risk.
    const RISK: Option<Risk> = None;
    /// Whether the tool creates sessions, whose identifiers other calls can use.
    const CREATES_SESSIONS: bool = false;
    /// How long a call may take in addition to the limit of all calls.
    const EXTRA_TIME: Duration = Duration::ZERO;
    /// Whether the input schema lists `timeout`. Every tool with a JSON answer accepts it.
    const WAITS: bool = true;
    /// Whether the input schema lists `maxTokens`, because answers are often too large. Every tool accepts it.
    const HAS_LARGE_ANSWERS: bool = false;
    /// What the tool acts on.
    type Scope: Scope;
    /// The type of the answer: a [`Reply`], which is rendered as Markdown, or an [`Object`].
    type Output: Output;

    /// Returns the page by which the policy judges the call.
    fn judged_page(&self, _: &Session) -> JudgedPage {
        JudgedPage::Current
    }

    /// Executes the call. It has its turn when this function is called.
    fn run(
        self,
        scope: Self::Scope,
        call: &Call,
    ) -> impl Future<Output = Result<Self::Output>> + Send;
}

/// The answer of a tool.
pub(crate) trait Output: Send + Sized + 'static {
    const OUTPUT_FORMAT: OutputFormat;
    /// The JSON Schema of the answer, if it is a JSON object.
    const SCHEMA: Option<fn() -> Map<String, Value>>;
    /// Returns the JSON Schema of the parameters `T` of a tool with this type of answer.
    fn parameters<T: JsonSchema>() -> Map<String, Value>;

    fn into_reply(self) -> impl Future<Output = serde_json::Result<Reply>> + Send;
}

impl Output for Reply {
    const OUTPUT_FORMAT: OutputFormat = OutputFormat::Markdown;
    const SCHEMA: Option<fn() -> Map<String, Value>> = None;

    fn parameters<T: JsonSchema>() -> Map<String, Value> {
        schema::of_parameters::<T>()
    }

    async fn into_reply(self) -> serde_json::Result<Reply> {
        Ok(self)
    }
}

/// An answer that is one JSON object, with optional images.
pub(crate) struct Object<T> {
    object: T,
    images: Vec<Image>,
}

impl<T> Object<T> {
    pub(crate) fn and_image(mut self, image: Image) -> Self {
        self.images.push(image);
        self
    }
}

impl<T> From<T> for Object<T> {
    fn from(object: T) -> Self {
        Self {
            object,
            images: Vec::new(),
        }
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for Object<T> {
    const OUTPUT_FORMAT: OutputFormat = OutputFormat::Json;
    const SCHEMA: Option<fn() -> Map<String, Value>> = Some(schema::of_output::<T>);

    fn parameters<P: JsonSchema>() -> Map<String, Value> {
        schema::of_object::<P>()
    }

    async fn into_reply(self) -> serde_json::Result<Reply> {
        let Self { object, images } = self;
        let is_large = task::is_large(&object);
        let object = task::compute_if_large(is_large, move || serde_json::to_value(object)).await?;
        let images = images.into_iter().map(Part::Image);
        Ok(images.fold(Reply::default().and(Part::Object(object)), Reply::and))
    }
}

/// What a tool acts on. A call enters the scope before the tool runs.
pub(crate) trait Scope: Send + Sized + 'static {
    /// Whether a call in this scope can name a session.
    const HAS_SESSION: bool = true;
    /// Whether a call can be a step of a batch: it works on its session, in the turn of that session.
    const CAN_BE_STEP: bool = true;
    /// Whether a call in this scope calls other tools as its steps.
    const HAS_STEPS: bool = false;

    /// Waits for the call's turn and returns the scope. Fails if the scope is not available, for example because a modal state is open.
    fn enter(call: &Call, reach: &Reach) -> impl Future<Output = Result<Self>> + Send;
}

/// The sessions that a call can act on.
pub(crate) struct Reach {
    /// The sessions that are visible to the caller.
    pub(crate) sessions: Visible,
    /// The session that the call names, or the default session.
    pub(crate) session: Arc<Session>,
    /// Calls the tools of the steps, if the call has any.
    pub(crate) steps: Arc<dyn StepCaller>,
}

impl Reach {
    /// Returns the URL of the current page of the call. Returns `None` if the call has no turn or there is no page.
    pub(crate) fn page_url(&self, call: &Call) -> Option<String> {
        Some(self.page(call)?.url())
    }

    /// Returns whether the current page has an open dialog, which blocks the page. Returns false if the call has no turn.
    pub(crate) fn has_dialog(&self, call: &Call) -> bool {
        self.page(call).is_some_and(|page| page.dialog().is_some())
    }

    fn page(&self, call: &Call) -> Option<Page> {
        call.has_turn().then(|| self.session.page(call))?
    }
}

/// A group of tools that are documented and enabled together (`--toolsets`).
pub struct Toolset {
    /// The name for `--toolsets`.
    pub name: &'static str,
    /// The purpose of the tools, for the reference.
    pub about: &'static str,
    groups: &'static [&'static [ToolDef]],
    /// The tools of features, each with the last tool of the group after which they are listed.
    features: &'static [(&'static str, &'static [ToolDef])],
}

impl Toolset {
    pub(crate) const fn new(
        name: &'static str,
        about: &'static str,
        groups: &'static [&'static [ToolDef]],
    ) -> Self {
        Self {
            name,
            about,
            groups,
            features: &[],
        }
    }

    /// Adds the tools of features.
    pub(crate) const fn with(
        self,
        features: &'static [(&'static str, &'static [ToolDef])],
    ) -> Self {
        Self { features, ..self }
    }

    /// Returns the tools, in the order of `tools/list`.
    pub fn tools(&self) -> impl Iterator<Item = &'static ToolDef> + use<> {
        let features = self.features;
        self.groups.iter().flat_map(move |group| {
            let last = group.last().map(|tool| tool.name);
            let follows = move |(after, _): &&(&str, _)| last == Some(*after);
            let features = features.iter().filter(follows);
            group.iter().chain(features.flat_map(|(_, tools)| *tools))
        })
    }
}

/// A tool without its types: an entry of a toolset.
pub struct ToolDef {
    /// The facts about the tool that are independent of its types.
    spec: ToolSpec,
    waits: bool,
    has_large_answers: bool,
    schema: fn() -> Map<String, Value>,
    output: Option<fn() -> Map<String, Value>>,
    parse: fn(&'static str, Value) -> Result<Box<dyn BoxedTool>>,
}

impl ToolDef {
    pub(crate) const fn of<T: Tool>() -> Self {
        Self {
            spec: ToolSpec {
                name: T::NAME,
                title: T::TITLE,
                effect: T::EFFECT,
                permission: T::PERMISSION,
                capability: T::CAPABILITY,
                risk: T::RISK,
                output_format: T::Output::OUTPUT_FORMAT,
                creates_sessions: T::CREATES_SESSIONS,
                has_session: T::Scope::HAS_SESSION,
                can_be_step: T::Scope::CAN_BE_STEP,
                has_steps: T::Scope::HAS_STEPS,
                extra_time: T::EXTRA_TIME,
                not_ready: T::NOT_READY,
            },
            waits: T::WAITS,
            has_large_answers: T::HAS_LARGE_ANSWERS,
            schema: T::Output::parameters::<T>,
            output: T::Output::SCHEMA,
            parse: parse::<T>,
        }
    }

    /// Returns the facts about the tool that are independent of its types.
    pub(crate) fn spec(&'static self) -> &'static ToolSpec {
        &self.spec
    }

    /// Returns the description of the tool for `tools/list`.
    pub fn description(&self) -> String {
        match (self.schema)().remove("description") {
            Some(Value::String(text)) => text,
            _ => String::new(),
        }
    }

    /// Returns the JSON Schema of the arguments for `tools/list`. If calls cannot name a session, the parameters are those of
    /// `@playwright/mcp`.
    pub fn input_schema(&self, naming: SessionNaming) -> Map<String, Value> {
        let is_drop_in = naming == SessionNaming::Impossible;
        self.with_common(self.own_schema(is_drop_in), naming, is_drop_in)
    }

    /// Returns the JSON Schema of all arguments except for `sessionId`, for documents and command lines.
    pub fn full_schema(&self) -> Map<String, Value> {
        self.with_common(self.own_schema(false), SessionNaming::Impossible, false)
    }

    /// Returns the JSON Schema of the arguments without the common ones.
    fn own_schema(&self, is_drop_in: bool) -> Map<String, Value> {
        let mut schema = (self.schema)();
        schema.remove("description");
        schema::hide_may_be_empty(&mut schema);
        schema::hide_additions(&mut schema, is_drop_in);
        schema
    }

    /// Returns the full JSON Schema of the answer if it is a JSON object. `tools/list` has only an outline of this schema.
    pub fn output_schema(&self) -> Option<Map<String, Value>> {
        self.output.map(|schema| schema())
    }

    /// Returns the tool as an entry of `tools/list`. The other annotations have their defaults: tools that act are destructive, and all
    /// reach the open world. Each would cost seven tokens.
    pub fn to_json(&self, naming: SessionNaming) -> Value {
        let mut entry = serde_json::json!({
            "name": self.name,
            "description": self.description(),
            "inputSchema": self.input_schema(naming),
            "annotations": {
                "title": self.title,
                "readOnlyHint": !self.acts(),
            },
        });
        if let Some(schema) = self.output_schema() {
            entry["outputSchema"] = schema::outline(schema).into();
        }
        entry
    }

    /// Checks the arguments, waits for the call's turn, has the call permitted and runs it.
    pub(crate) async fn run(
        &'static self,
        arguments: Arguments,
        call: &Call,
        reach: &Reach,
    ) -> Result<Reply> {
        let permit = permission::begin(&self.spec, &arguments, call)?;
        let observable = observation::arguments(call, reach, &arguments);
        let is_large = task::is_large(&arguments);
        let is_strict = call.settings.answers.style == AnswerStyle::Compact;
        let parse = move || (self.parse)(self.name, check(self, arguments, is_strict)?);
        let mut tool = task::compute_if_large(is_large, parse).await?;
        let entered = tool.enter(call, reach).await;
        if let Some(entry) = call.entry() {
            entry.set_initial_page(reach.page_url(call).as_deref());
        }
        entered?;
        let judged = permission::judged_url(call, reach, |session| tool.judged_page(session));
        permit.obtain(call, reach, judged).await?;
        let observation = observation::begin(call, reach, observable).await;
        let reply = tool.run(call).await;
        if let Some(observation) = observation {
            observation.end(call, &reply).await;
        }
        reply
    }
}

impl Deref for ToolDef {
    type Target = ToolSpec;

    fn deref(&self) -> &ToolSpec {
        &self.spec
    }
}

impl std::fmt::Debug for ToolDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ToolDef").field(&self.name).finish()
    }
}

/// A tool with its arguments, without its types. Everything that does not depend on the types is compiled once and not for each tool.
trait BoxedTool: Send {
    /// Waits for the call's turn.
    fn enter<'a>(&'a mut self, call: &'a Call, reach: &'a Reach) -> BoxFuture<'a, Result<()>>;

    /// See [`Tool::judged_page`].
    fn judged_page(&self, session: &Session) -> JudgedPage;

    /// Runs the tool in the scope that it has entered.
    fn run<'a>(self: Box<Self>, call: &'a Call) -> BoxFuture<'a, Result<Reply>>;
}

/// The arguments and the scope of a tool.
struct ScopedTool<T: Tool> {
    name: &'static str,
    tool: T,
    scope: Option<T::Scope>,
}

impl<T: Tool> BoxedTool for ScopedTool<T> {
    fn enter<'a>(&'a mut self, call: &'a Call, reach: &'a Reach) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            self.scope = Some(T::Scope::enter(call, reach).await?);
            Ok(())
        })
    }

    fn judged_page(&self, session: &Session) -> JudgedPage {
        self.tool.judged_page(session)
    }

    fn run<'a>(self: Box<Self>, call: &'a Call) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(async move {
            let Self { name, tool, scope } = *self;
            let scope = scope.expect("the scope was entered");
            let output = tool.run(scope, call).await?;
            let reply = output.into_reply().await;
            reply.map_err(|error| internal(name, &error))
        })
    }
}

/// Parses the arguments, which match the schema. If parsing fails, the schema and the struct disagree.
fn parse<T: Tool>(name: &'static str, arguments: Value) -> Result<Box<dyn BoxedTool>> {
    let tool: T = serde_json::from_value(arguments).map_err(|error| internal(name, &error))?;
    let scope = None;
    Ok(Box::new(ScopedTool { name, tool, scope }))
}

fn internal(tool: &'static str, error: &serde_json::Error) -> Error {
    Error::Internal {
        tool,
        reason: error.to_string(),
    }
}

/// Checks the arguments against the schema. Returns them in the form that the struct of the tool accepts. Unknown parameters of tools that
/// `@playwright/mcp` has too are refused if the check `is_strict`, and are otherwise ignored as there.
fn check(def: &ToolDef, mut arguments: Arguments, is_strict: bool) -> Result<Value> {
    let schema = known_schema(def);
    arguments::remove_empty(&schema, &mut arguments);
    let mut problems = arguments::problems(&schema, &arguments);
    let unknown = arguments::unknown(&schema, &arguments);
    if is_strict || def.output_format == OutputFormat::Json {
        problems.extend(unknown);
    } else {
        for Problem {
            parameter, message, ..
        } in unknown
        {
            tracing::warn!(tool = def.name, parameter, "ignored a parameter: {message}");
        }
    }
    if !problems.is_empty() {
        return Err(Error::InvalidArguments {
            tool: def.name,
            problems,
        });
    }
    Ok(arguments::with_integers(Value::Object(arguments)))
}

/// The schemas of the arguments of tools that were called, by the name of the tool. Building one takes longer than most calls that do not
/// reach a browser.
static SCHEMAS: Mutex<BTreeMap<&'static str, Arc<Map<String, Value>>>> =
    Mutex::new(BTreeMap::new());

fn known_schema(def: &ToolDef) -> Arc<Map<String, Value>> {
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    let schema = schemas.entry(def.name);
    schema.or_insert_with(|| (def.schema)().into()).clone()
}
