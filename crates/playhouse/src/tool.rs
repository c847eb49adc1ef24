//! What a tool is: a struct whose fields are the parameters, whose doc comment is the description, and whose
//! `run` is the behaviour. Everything else about it follows from those.

mod arguments;
mod common;
mod context;
mod permission;
mod schema;

use crate::call::Call;
use crate::config::{Capability, Risk};
use crate::error::{Error, Result};
use crate::policy::Subject;
use crate::principal::Permission;
use crate::reply::{Image, Part, Reply};
use crate::session::Session;
use crate::sessions::Visible;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

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
    /// What has to be asked for with `--caps`; `None`: it is on anyway.
    const CAPABILITY: Option<Capability> = None;
    /// What may be forbidden about it; `None`: nothing.
    const RISK: Option<Risk> = None;
    /// What it works on.
    type Scope: Scope;

    /// The URL that it opens, where it opens one. Rules about origins hold for that one then, and not for the page that is left.
    fn goal(&self, _: &Session) -> Option<String> {
        None
    }

    /// Does it.
    fn run(self, on: Self::Scope, call: &Call) -> impl Future<Output = Result<Reply>> + Send;
}

/// One tool that answers with an object, for programs. Implement it on the struct of the tool's parameters.
pub(crate) trait ObjectTool: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its name in `tools/list`.
    const NAME: &'static str;
    /// A short name for people.
    const TITLE: &'static str;
    /// What it does to the world.
    const EFFECT: Effect;
    /// What may be forbidden about it; `None`: nothing.
    const RISK: Option<Risk> = None;
    /// Whether its `timeout` is worth a word; it is taken in any case.
    const WAITS: bool = true;
    /// What it works on.
    type Scope: Scope;
    /// What it answers, beside `success`.
    type Output: Serialize + JsonSchema + Send + 'static;

    /// The URL that it opens, where it opens one. Rules about origins hold for that one then, and not for the page that is left.
    fn goal(&self, _: &Session) -> Option<String> {
        None
    }

    /// Does it.
    fn run(
        self,
        on: Self::Scope,
        call: &Call,
    ) -> impl Future<Output = Result<Outcome<Self::Output>>> + Send;
}

/// What an [`ObjectTool`] has to answer.
pub(crate) struct Outcome<T> {
    object: T,
    images: Vec<Image>,
}

impl<T> Outcome<T> {
    /// Adds an image.
    pub(crate) fn and_image(mut self, image: Image) -> Self {
        self.images.push(image);
        self
    }
}

impl<T> From<T> for Outcome<T> {
    fn from(object: T) -> Self {
        Self {
            object,
            images: Vec::new(),
        }
    }
}

/// What a tool works on, and how a call gets hold of it.
pub(crate) trait Scope: Send + Sized + 'static {
    /// Whether the call may say which session it is for.
    const OF_A_SESSION: bool = true;

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

/// How the answers of a tool are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Sections of Markdown, as clients of `@playwright/mcp` read them.
    Markdown,
    /// One JSON object.
    Json,
}

/// What a tool does to the world; the MCP annotations follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Looks only.
    Reads,
    /// Changes something.
    Acts,
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

/// Tools that give out or take in what opens other doors (cookies, storage, saved logins, headers of requests), or run code beside the page, whatever else they do.
const OPENS_DOORS: [&str; 8] = [
    "browser_network_request",
    "get_request",
    "browser_run_code_unsafe",
    "browser_context_save_storage",
    "get_cookies",
    "set_cookies",
    "save_state",
    "restore_state",
];

/// A tool with its types erased: a row of the registry.
pub struct ToolDef {
    /// Its name in `tools/list`.
    pub name: &'static str,
    /// A short name for people.
    pub title: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    /// What has to be asked for with `--caps`; `None`: it is on anyway.
    pub capability: Option<Capability>,
    /// What may be forbidden about it; `None`: nothing.
    pub risk: Option<Risk>,
    /// How its answers are laid out.
    pub dialect: Dialect,
    /// Whether a call may say which session it is for.
    pub(crate) of_a_session: bool,
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
            name: T::NAME,
            title: T::TITLE,
            effect: T::EFFECT,
            capability: T::CAPABILITY,
            risk: T::RISK,
            dialect: Dialect::Markdown,
            of_a_session: T::Scope::OF_A_SESSION,
            waits: false,
            schema: schema::of_parameters::<T>,
            output: None,
            run: run::<T>,
        }
    }

    pub(crate) const fn object<T: ObjectTool>() -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            effect: T::EFFECT,
            capability: None,
            risk: T::RISK,
            dialect: Dialect::Json,
            of_a_session: T::Scope::OF_A_SESSION,
            waits: T::WAITS,
            schema: schema::of_object::<T>,
            output: Some(schema::of_output::<T::Output>),
            run: run_object::<T>,
        }
    }

    /// What a model reads first.
    pub fn description(&self) -> String {
        match (self.schema)().remove("description") {
            Some(Value::String(text)) => text,
            _ => String::new(),
        }
    }

    /// What its caller must be permitted.
    pub fn permission(&self) -> Permission {
        let opens_doors = matches!(
            self.capability,
            Some(Capability::Storage | Capability::Config)
        ) || OPENS_DOORS.contains(&self.name);
        match self.effect {
            _ if opens_doors => Permission::Admin,
            Effect::Reads => Permission::Read,
            Effect::Acts => Permission::Act,
        }
    }

    /// The tool as rules of a policy know it.
    pub(crate) fn subject(&self) -> Subject {
        Subject {
            name: self.name,
            is_read_only: self.effect == Effect::Reads,
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
        let reads = self.effect == Effect::Reads;
        let mut shown = serde_json::json!({
            "name": self.name,
            "description": self.description(),
            "inputSchema": self.input_schema(naming),
            "annotations": {
                "title": self.title,
                "readOnlyHint": reads,
                "destructiveHint": !reads,
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
        let permit = permission::begin(def, &arguments, call)?;
        let tool: T = read(def, arguments).await?;
        let scope: T::Scope = enter(call, reach).await?;
        let goal = permission::goal(call, reach, |session| tool.goal(session));
        permit.obtain(call, reach, goal).await?;
        tool.run(scope, call).await
    })
}

fn run_object<'a, T: ObjectTool>(
    def: &'static ToolDef,
    arguments: Arguments,
    call: &'a Call,
    reach: &'a Reach,
) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(async move {
        let permit = permission::begin(def, &arguments, call)?;
        let tool: T = read(def, arguments).await?;
        let scope: T::Scope = enter(call, reach).await?;
        let goal = permission::goal(call, reach, |session| tool.goal(session));
        permit.obtain(call, reach, goal).await?;
        let Outcome { object, images } = tool.run(scope, call).await?;
        let is_large = engine::is_large(&object);
        let to_json = move || serde_json::to_value(object);
        let object = engine::computed(is_large, to_json).await;
        let object = object.map_err(|error| def.internal(&error))?;
        let reply = Reply::default().and(Part::Object(object));
        Ok(images
            .into_iter()
            .fold(reply, |reply, image| reply.and(Part::Image(image))))
    })
}

/// What a tool works on, once it is the call's turn.
async fn enter<S: Scope>(call: &Call, reach: &Reach) -> Result<S> {
    let entered = S::enter(call, reach).await;
    if let Some(entry) = call.entry() {
        entry.finds(reach.page_url(call).as_deref());
    }
    entered
}

/// The struct of a tool, from its arguments.
async fn read<T: DeserializeOwned + Send + 'static>(
    def: &'static ToolDef,
    arguments: Arguments,
) -> Result<T> {
    let is_large = engine::is_large(&arguments);
    let read = move || {
        let arguments = checked(def, arguments)?;
        // The schema let them through: if they do not fit, the schema and the struct disagree.
        serde_json::from_value(arguments).map_err(|error| def.internal(&error))
    };
    engine::computed(is_large, read).await
}

/// The arguments as the struct of the tool takes them, or what is wrong with them.
fn checked(def: &ToolDef, mut arguments: Arguments) -> Result<Value> {
    let schema = (def.schema)();
    arguments::leave_out_empty(&schema, &mut arguments);
    let mut problems = arguments::problems(&schema, &arguments);
    if def.dialect == Dialect::Json {
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
