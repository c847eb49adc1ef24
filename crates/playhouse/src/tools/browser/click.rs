//! Clicking.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Click>()];

/// Click an element.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Click {
    /// What the element is, for people.
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
    /// Click twice.
    double_click: Option<bool>,
    /// Mouse button, left by default.
    button: Option<Button>,
    /// Keys to hold.
    modifiers: Option<Vec<Modifier>>,
}

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Button {
    Left,
    Right,
    Middle,
}

/// A key to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
enum Modifier {
    Alt,
    Control,
    ControlOrMeta,
    Meta,
    Shift,
}

impl Tool for Click {
    const NAME: &'static str = "browser_click";
    const TITLE: &'static str = "Click";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
