//! Going to pages.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Navigate>(), ToolDef::of::<NavigateBack>()];

/// Open a URL.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Navigate {
    /// The URL.
    url: String,
}

impl Tool for Navigate {
    const NAME: &'static str = "browser_navigate";
    const TITLE: &'static str = "Navigate to a URL";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Go back in the history.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NavigateBack {}

impl Tool for NavigateBack {
    const NAME: &'static str = "browser_navigate_back";
    const TITLE: &'static str = "Go back";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
