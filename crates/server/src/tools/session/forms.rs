//! Selecting options and checking boxes.

use super::Done;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::{ErrorCode, Result};
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<Select>(),
    ToolDef::of::<Check>(),
    ToolDef::of::<Uncheck>(),
];

/// Choose options of a select.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Select {
    /// The select.
    selector: String,
    /// Value or label; several separated by the array.
    #[schemars(schema_with = "one_or_many")]
    value: OneOrMany,
}

/// A text, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

fn one_or_many(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
}

/// The selected options after the call.
#[derive(Serialize, JsonSchema)]
pub(super) struct Selected {
    /// The values of the options.
    selected: Vec<String>,
}

impl Tool for Select {
    const NAME: &'static str = "select";
    const TITLE: &'static str = "Select";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = FreeTab;
    type Output = Object<Selected>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Selected>> {
        let values = match self.value {
            OneOrMany::One(value) => vec![value],
            OneOrMany::Many(values) => values,
        };
        let locator = tab.locator_with_wait(&self.selector)?;
        let mut selected = Vec::new();
        tab.act(call, async {
            selected = locator.select_options(&call.action(), &values).await?;
            Ok(())
        })
        .await?;
        Ok(Selected { selected }.into())
    }
}

/// Check a checkbox, radio button or switch.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Check {
    /// The box.
    selector: String,
}

impl Tool for Check {
    const NAME: &'static str = "check";
    const TITLE: &'static str = "Check";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const NOT_READY: ErrorCode = ErrorCode::ElementNotClickable;
    type Scope = FreeTab;
    type Output = Object<Done>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Done>> {
        let locator = tab.locator_with_wait(&self.selector)?;
        tab.act(call, locator.set_checked(&call.action(), true))
            .await?;
        Ok(Done::new(format!("Checked {}", self.selector)).into())
    }
}

/// Uncheck a checkbox or switch.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Uncheck {
    /// The box.
    selector: String,
}

impl Tool for Uncheck {
    const NAME: &'static str = "uncheck";
    const TITLE: &'static str = "Uncheck";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const NOT_READY: ErrorCode = ErrorCode::ElementNotClickable;
    type Scope = FreeTab;
    type Output = Object<Done>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Done>> {
        let locator = tab.locator_with_wait(&self.selector)?;
        tab.act(call, locator.set_checked(&call.action(), false))
            .await?;
        Ok(Done::new(format!("Unchecked {}", self.selector)).into())
    }
}
