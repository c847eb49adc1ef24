//! Assertions.

use super::form::FieldKind;
use crate::call::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<VerifyElement>(),
    ToolDef::of::<VerifyText>(),
    ToolDef::of::<VerifyList>(),
    ToolDef::of::<VerifyValue>(),
];

/// Check that an element is visible.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VerifyElement {
    /// Its ARIA role.
    role: String,
    /// Its accessible name.
    accessible_name: String,
}

impl Tool for VerifyElement {
    const NAME: &'static str = "browser_verify_element_visible";
    const TITLE: &'static str = "Verify element visible";
    const EFFECT: Effect = Effect::Reads;
    const CAPABILITY: Option<Capability> = Some(Capability::Testing);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Check that a text is visible.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VerifyText {
    /// The text.
    text: String,
}

impl Tool for VerifyText {
    const NAME: &'static str = "browser_verify_text_visible";
    const TITLE: &'static str = "Verify text visible";
    const EFFECT: Effect = Effect::Reads;
    const CAPABILITY: Option<Capability> = Some(Capability::Testing);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Check that a list shows these items.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VerifyList {
    /// What the list is, for people.
    element: String,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
    /// Texts of the items.
    items: Vec<String>,
}

impl Tool for VerifyList {
    const NAME: &'static str = "browser_verify_list_visible";
    const TITLE: &'static str = "Verify list visible";
    const EFFECT: Effect = Effect::Reads;
    const CAPABILITY: Option<Capability> = Some(Capability::Testing);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Check the value of a field.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VerifyValue {
    /// Kind of field.
    #[serde(rename = "type")]
    kind: FieldKind,
    /// What the field is, for people.
    element: String,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
    /// The value; true or false for checkbox and radio.
    value: String,
}

impl Tool for VerifyValue {
    const NAME: &'static str = "browser_verify_value";
    const TITLE: &'static str = "Verify value";
    const EFFECT: Effect = Effect::Reads;
    const CAPABILITY: Option<Capability> = Some(Capability::Testing);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
