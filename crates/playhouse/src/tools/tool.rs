//! What a tool is: a struct whose fields are the parameters, whose doc comment is the description, and whose
//! `run` is the behaviour. Everything else about it follows from those.

mod arguments;
mod common;
mod context;
mod permission;
mod schema;

use crate::access::principal::Permission;
use crate::answers::reply::{Image, Part, Reply};
use crate::calls::Call;
use crate::calls::tool_spec::{OutputFormat, ToolSpec};
use crate::config::{Capability, Risk};
use crate::error::{Error, ErrorCode, Result};
use crate::sessions::Visible;
use crate::sessions::session::Session;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

pub(crate) use crate::calls::tool_spec::Effect;
pub(crate) use common::SESSION;
pub use common::SessionNaming;
pub(crate) use schema::{Nullable, nullable, present};

/// The arguments of a call, as they came.
pub(crate) type Arguments = Map<String, Value>;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One tool. Implement it on the struct of the tool's parameters.
pub(crate) trait Tool: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its name in `tools/list`.
    const NAME: &'static str;
    /// A short name for people.
    const TITLE: &'static str;
    /// What it does to the world.
    const EFFECT: Effect;
    /// What its caller must be permitted. Tools that return or take what grants access elsewhere (cookies, storage, headers of requests)
    /// and tools that run code beside the page need [`Permission::Admin`].
    const PERMISSION: Permission;
    /// The error code for an element that is not ready for it.
    const NOT_READY: ErrorCode = ErrorCode::ElementNotInteractive;
    /// The `--caps` value that switches it on; `None`: it is on anyway.
    const CAPABILITY: Option<Capability> = None;
    /// The risk for which an operator can switch it off; `None`: there is none.
    const RISK: Option<Risk> = None;
    /// Whether it creates sessions, which other calls then name.
    const CREATES_SESSIONS: bool = false;
    /// Whether its schema shows `timeout`, which every tool that answers with an object takes.
    const WAITS: bool = true;
    /// What it works on.
    type Scope: Scope;
    /// What it answers: a [`Reply`], which is rendered as Markdown, or an [`Object`].
    type Output: Output;

    /// The URL that it opens, where it opens one. Rules about origins apply to that URL then, and not to the page that is left.
    fn goal(&self, _: &Session) -> Option<String> {
        None
    }

    /// Runs it.
    fn run(
        self,
        scope: Self::Scope,
        call: &Call,
    ) -> impl Future<Output = Result<Self::Output>> + Send;
}

/// What a tool answers.
pub(crate) trait Output: Send + Sized + 'static {
    const OUTPUT_FORMAT: OutputFormat;
    /// The JSON Schema of the answer, where that is an object.
    const SCHEMA: Option<fn() -> Map<String, Value>>;
    /// The JSON Schema of the parameters of a tool that answers so.
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

/// One JSON object as an answer, for programs, and perhaps images.
pub(crate) struct Object<T> {
    object: T,
    images: Vec<Image>,
}

impl<T> Object<T> {
    /// Adds an image.
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

/// What a tool works on, and how a call gets hold of it.
pub(crate) trait Scope: Send + Sized + 'static {
    /// Whether a call may name the session that it is for.
    const HAS_SESSION: bool = true;

    /// Waits for the call's turn and takes hold of it.
    fn enter(call: &Call, reach: &Reach) -> impl Future<Output = Result<Self>> + Send;
}

/// What a call can get at.
pub(crate) struct Reach {
    /// The sessions that the caller can see.
    pub(crate) sessions: Visible,
    /// The one that the call is for.
    pub(crate) session: Arc<Session>,
}

impl Reach {
    /// The URL of the page that a call works on; `None` where it has no turn, or there is no page.
    pub(crate) fn page_url(&self, call: &Call) -> Option<String> {
        call.has_turn().then(|| self.session.page_url(call))?
    }

    /// Whether that page shows a dialog, which keeps it from answering.
    pub(crate) fn has_dialog(&self, call: &Call) -> bool {
        call.has_turn() && self.session.has_dialog(call)
    }
}

/// Tools that are documented together and switched on together (`--toolsets`).
pub struct Toolset {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    families: &'static [&'static [ToolDef]],
}

impl Toolset {
    pub(crate) const fn new(
        name: &'static str,
        about: &'static str,
        families: &'static [&'static [ToolDef]],
    ) -> Self {
        Self {
            name,
            about,
            families,
        }
    }

    /// Its tools, in the order of `tools/list`.
    pub fn tools(&self) -> impl Iterator<Item = &'static ToolDef> + use<> {
        self.families.iter().flat_map(|family| family.iter())
    }
}

/// A tool with its types erased: a row of the registry.
pub struct ToolDef {
    /// The facts about it.
    spec: ToolSpec,
    waits: bool,
    schema: fn() -> Map<String, Value>,
    output: Option<fn() -> Map<String, Value>>,
    run: Run,
}

/// Reads the arguments, and runs the tool with them.
type Run =
    for<'a> fn(&'static ToolDef, Arguments, &'a Call, &'a Reach) -> BoxFuture<'a, Result<Reply>>;

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
                not_ready: T::NOT_READY,
            },
            waits: T::WAITS,
            schema: T::Output::parameters::<T>,
            output: T::Output::SCHEMA,
            run: run::<T>,
        }
    }

    /// The facts about it.
    pub(crate) fn spec(&'static self) -> &'static ToolSpec {
        &self.spec
    }

    /// What a model reads first.
    pub fn description(&self) -> String {
        match (self.schema)().remove("description") {
            Some(Value::String(text)) => text,
            _ => String::new(),
        }
    }

    /// The JSON Schema of its arguments.
    pub fn input_schema(&self, naming: SessionNaming) -> Map<String, Value> {
        let mut schema = (self.schema)();
        schema.remove("description");
        schema::hide_may_be_empty(&mut schema);
        self.with_common(schema, naming)
    }

    /// The JSON Schema of its answer, where that is an object: in full, as documents describe it.
    pub fn output_schema(&self) -> Option<Map<String, Value>> {
        self.output.map(|schema| schema())
    }

    /// The tool as `tools/list` shows it.
    pub fn to_json(&self, naming: SessionNaming) -> Value {
        let acts = self.acts();
        let mut shown = serde_json::json!({
            "name": self.name,
            "description": self.description(),
            "inputSchema": self.input_schema(naming),
            "annotations": {
                "title": self.title,
                "readOnlyHint": !acts,
                "destructiveHint": acts,
                "openWorldHint": true,
            },
        });
        if let Some(schema) = self.output_schema() {
            shown["outputSchema"] = schema::outline(schema).into();
        }
        shown
    }

    /// Checks the arguments, waits for the call's turn, runs.
    pub(crate) async fn run(
        &'static self,
        arguments: Arguments,
        call: &Call,
        reach: &Reach,
    ) -> Result<Reply> {
        (self.run)(self, arguments, call, reach).await
    }

    fn internal(&self, error: &serde_json::Error) -> Error {
        Error::Internal {
            tool: self.name,
            reason: error.to_string(),
        }
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

fn run<'a, T: Tool>(
    def: &'static ToolDef,
    arguments: Arguments,
    call: &'a Call,
    reach: &'a Reach,
) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(async move {
        let permit = permission::begin(&def.spec, &arguments, call)?;
        let tool: T = read(def, arguments).await?;
        let scope: T::Scope = enter(call, reach).await?;
        let goal = permission::goal(call, reach, |session| tool.goal(session));
        permit.obtain(call, reach, goal).await?;
        let output = tool.run(scope, call).await?;
        let reply = output.into_reply().await;
        reply.map_err(|error| def.internal(&error))
    })
}

/// What a tool works on, once it is the call's turn.
async fn enter<S: Scope>(call: &Call, reach: &Reach) -> Result<S> {
    let entered = S::enter(call, reach).await;
    if let Some(entry) = call.entry() {
        entry.set_initial_page(reach.page_url(call).as_deref());
    }
    entered
}

/// The struct of a tool, from its arguments.
async fn read<T: DeserializeOwned + Send + 'static>(
    def: &'static ToolDef,
    arguments: Arguments,
) -> Result<T> {
    let is_large = task::is_large(&arguments);
    let read = move || {
        let arguments = checked(def, arguments)?;
        // The schema let them through: if they do not fit, the schema and the struct disagree.
        serde_json::from_value(arguments).map_err(|error| def.internal(&error))
    };
    task::compute_if_large(is_large, read).await
}

/// The arguments as the struct of the tool takes them, or what is wrong with them.
fn checked(def: &ToolDef, mut arguments: Arguments) -> Result<Value> {
    let schema = (def.schema)();
    arguments::leave_out_empty(&schema, &mut arguments);
    let mut problems = arguments::problems(&schema, &arguments);
    if def.output_format == OutputFormat::Json {
        problems.extend(arguments::unknown(&schema, &arguments));
    }
    if !problems.is_empty() {
        return Err(Error::InvalidArguments {
            tool: def.name,
            problems,
        });
    }
    Ok(arguments::whole(Value::Object(arguments)))
}
