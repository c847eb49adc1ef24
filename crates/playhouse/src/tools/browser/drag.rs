//! Dragging one element onto another.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Drag>()];

/// Drag one element onto another.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Drag {
    /// What is dragged, for people.
    start_element: Option<String>,
    /// Ref or selector of what is dragged.
    start_target: String,
    /// Where it is dropped, for people.
    end_element: Option<String>,
    /// Ref or selector of where it is dropped.
    end_target: String,
}

impl Tool for Drag {
    const NAME: &'static str = "browser_drag";
    const TITLE: &'static str = "Drag mouse";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
