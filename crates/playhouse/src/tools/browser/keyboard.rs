//! Typing.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<PressKey>(), ToolDef::of::<Type>()];

/// Press a key.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PressKey {
    /// Key, such as ArrowLeft, a, or Control+a.
    key: String,
}

impl Tool for PressKey {
    const NAME: &'static str = "browser_press_key";
    const TITLE: &'static str = "Press a key";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Type text into a field, replacing its content.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Type {
    /// What the element is, for people.
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
    /// The text.
    text: String,
    /// Press Enter afterwards.
    submit: Option<bool>,
    /// Type key by key.
    slowly: Option<bool>,
}

impl Tool for Type {
    const NAME: &'static str = "browser_type";
    const TITLE: &'static str = "Type text";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
