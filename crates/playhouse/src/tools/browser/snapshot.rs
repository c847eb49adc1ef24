//! What the page shows, as text.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Snapshot>()];

/// Show the page as an accessibility tree with refs to act on.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Snapshot {
    /// Ref from the snapshot, or a selector that matches one element.
    target: Option<String>,
    /// Save to this file instead.
    filename: Option<String>,
    /// Levels to show.
    depth: Option<f64>,
    /// Add [box=x,y,width,height].
    boxes: Option<bool>,
}

impl Tool for Snapshot {
    const NAME: &'static str = "browser_snapshot";
    const TITLE: &'static str = "Page snapshot";
    const EFFECT: Effect = Effect::Reads;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
