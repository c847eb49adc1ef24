//! Searching the snapshot.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Find>()];

/// Search the page snapshot for text; gives matches with their surroundings.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Find {
    /// Text, in any case.
    text: Option<String>,
    /// Regular expression, or /…/flags.
    regex: Option<String>,
    /// Save to this file instead.
    filename: Option<String>,
}

impl Tool for Find {
    const NAME: &'static str = "browser_find";
    const TITLE: &'static str = "Find in page snapshot";
    const EFFECT: Effect = Effect::Reads;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
