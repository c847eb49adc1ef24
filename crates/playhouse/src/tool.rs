//! What a tool is: a struct whose fields are the parameters, whose doc comment is the description, and whose
//! `run` is the behaviour. Everything else about it follows from those.

mod arguments;
mod schema;

use crate::call::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::session::Session;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

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
    /// What it works on.
    type Scope: Scope;

    /// Does it.
    fn run(self, on: Self::Scope, call: &Call) -> impl Future<Output = Result<Reply>> + Send;
}

/// What a tool works on, and how a call gets hold of it.
pub(crate) trait Scope: Send + Sized + 'static {
    /// Waits for the call's turn and takes hold of it.
    fn enter(call: &Call, session: &Arc<Session>) -> impl Future<Output = Result<Self>> + Send;
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
    schema: fn() -> Map<String, Value>,
    run: Run,
}

/// Reads the arguments, and runs the tool with them.
type Run = for<'a> fn(
    &'static ToolDef,
    Arguments,
    &'a Call,
    &'a Arc<Session>,
) -> BoxFuture<'a, Result<Reply>>;

impl ToolDef {
    pub(crate) const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            effect: T::EFFECT,
            capability: T::CAPABILITY,
            schema: schema::of::<T>,
            run: run::<T>,
        }
    }

    /// What a model reads first.
    pub fn description(&self) -> String {
        match (self.schema)().remove("description") {
            Some(Value::String(text)) => text,
            _ => String::new(),
        }
    }

    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Map<String, Value> {
        let mut schema = (self.schema)();
        schema.remove("description");
        schema
    }

    /// The tool as `tools/list` shows it.
    pub fn to_json(&self) -> Value {
        let reads = self.effect == Effect::Reads;
        serde_json::json!({
            "name": self.name,
            "description": self.description(),
            "inputSchema": self.input_schema(),
            "annotations": {
                "title": self.title,
                "readOnlyHint": reads,
                "destructiveHint": !reads,
                "openWorldHint": true,
            },
        })
    }

    /// Checks the arguments, waits for the call's turn, runs.
    pub(crate) async fn run(
        &'static self,
        arguments: Arguments,
        call: &Call,
        session: &Arc<Session>,
    ) -> Result<Reply> {
        (self.run)(self, arguments, call, session).await
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
    session: &'a Arc<Session>,
) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(async move {
        let problems = arguments::problems(&(def.schema)(), &arguments);
        if !problems.is_empty() {
            return Err(Error::InvalidArguments {
                tool: def.name,
                problems,
            });
        }
        let arguments = arguments::whole(Value::Object(arguments));
        let tool: T = serde_json::from_value(arguments).map_err(|error| {
            // The schema let it through, so the schema and the struct disagree.
            Error::Internal {
                tool: def.name,
                reason: error.to_string(),
            }
        })?;
        let scope = T::Scope::enter(call, session).await?;
        tool.run(scope, call).await
    })
}
