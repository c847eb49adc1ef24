//! Closing the browser.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::session::Session;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Close>()];

/// Close the browser.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Close {}

impl Tool for Close {
    const NAME: &'static str = "browser_close";
    const TITLE: &'static str = "Close browser";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Arc<Session>;

    async fn run(self, _on: Arc<Session>, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
