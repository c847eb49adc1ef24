//! Filling several fields at once.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<FillForm>()];

/// Fill several form fields.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FillForm {
    /// The fields, in order.
    fields: Vec<Field>,
}

/// A field and its value.
#[derive(Deserialize, JsonSchema)]
struct Field {
    /// What the element is, for people.
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
    /// Name of the field, for people.
    name: String,
    /// Kind of field.
    #[serde(rename = "type")]
    kind: FieldKind,
    /// Text; true or false for checkbox and radio; the option for combobox.
    value: String,
}

/// What kind of field it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum FieldKind {
    Textbox,
    Checkbox,
    Radio,
    Combobox,
    Slider,
}

impl Tool for FillForm {
    const NAME: &'static str = "browser_fill_form";
    const TITLE: &'static str = "Fill form";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
