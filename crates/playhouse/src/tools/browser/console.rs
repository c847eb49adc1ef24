//! What the page wrote to its console.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<ConsoleMessages>()];

/// List console messages.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConsoleMessages {
    /// Least severe level to list.
    #[serde(default)]
    level: Level,
    /// Also those before the last navigation.
    all: Option<bool>,
    /// Save to this file instead.
    filename: Option<String>,
}

/// A severity; each includes those before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
enum Level {
    Error,
    Warning,
    #[default]
    Info,
    Debug,
}

impl Tool for ConsoleMessages {
    const NAME: &'static str = "browser_console_messages";
    const TITLE: &'static str = "Get console messages";
    const EFFECT: Effect = Effect::Reads;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
