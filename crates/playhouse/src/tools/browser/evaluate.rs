//! Scripts in the page's own world.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Evaluate>()];

/// Run JavaScript in the page.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Evaluate {
    /// What the element is, for people.
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: Option<String>,
    /// () => {…}, or (element) => {…} with a target.
    function: String,
    /// Save the result to this file.
    filename: Option<String>,
}

impl Tool for Evaluate {
    const NAME: &'static str = "browser_evaluate";
    const TITLE: &'static str = "Evaluate JavaScript";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
