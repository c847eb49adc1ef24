//! Waiting.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<WaitFor>()];

/// Wait for text to appear or vanish, or for a time.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WaitFor {
    /// Seconds.
    time: Option<f64>,
    /// Text to appear.
    text: Option<String>,
    /// Text to vanish.
    text_gone: Option<String>,
}

impl Tool for WaitFor {
    const NAME: &'static str = "browser_wait_for";
    const TITLE: &'static str = "Wait for";
    const EFFECT: Effect = Effect::Reads;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
