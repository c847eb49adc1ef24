//! Tabs.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::session::Session;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Tabs>()];

/// List, open, close or select tabs.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tabs {
    /// What to do.
    action: Action,
    /// Tab to close (the current one by default) or select.
    index: Option<f64>,
    /// URL to open in a new tab.
    url: Option<String>,
}

/// What to do with tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    New,
    Close,
    Select,
}

impl Tool for Tabs {
    const NAME: &'static str = "browser_tabs";
    const TITLE: &'static str = "Manage tabs";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Arc<Session>;

    async fn run(self, _on: Arc<Session>, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
