//! Reading texts, attributes and values of elements.

use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<GetText>(),
    ToolDef::of::<GetAllText>(),
    ToolDef::of::<GetAttribute>(),
    ToolDef::of::<GetValue>(),
];

/// Read the text of an element.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetText {
    /// The element.
    selector: String,
}

/// The text.
#[derive(Serialize, JsonSchema)]
pub(super) struct Text {
    text: String,
}

impl Tool for GetText {
    const NAME: &'static str = "get_text";
    const TITLE: &'static str = "Get text";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = FreeTab;
    type Output = Object<Text>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Text>> {
        let locator = tab.locator_with_wait(&self.selector)?;
        let text = locator.inner_text(&call.action()).await?;
        Ok(Text { text }.into())
    }
}

/// Read the texts of all elements that match.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetAllText {
    /// The elements.
    selector: String,
}

/// The texts, in the order of the document.
#[derive(Serialize, JsonSchema)]
pub(super) struct Texts {
    texts: Vec<String>,
}

impl Tool for GetAllText {
    const NAME: &'static str = "get_all_text";
    const TITLE: &'static str = "Get all text";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    type Scope = FreeTab;
    type Output = Object<Texts>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Texts>> {
        let locator = tab.page.locator(&self.selector)?;
        let texts = locator.all_texts(&call.action()).await?;
        Ok(Texts { texts }.into())
    }
}

/// Read an attribute of an element.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetAttribute {
    /// The element.
    selector: String,
    /// The attribute's name.
    attribute: String,
}

/// The value; null if there is none.
#[derive(Serialize, JsonSchema)]
pub(super) struct ValueOf {
    value: Option<String>,
}

impl Tool for GetAttribute {
    const NAME: &'static str = "get_attribute";
    const TITLE: &'static str = "Get attribute";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = FreeTab;
    type Output = Object<ValueOf>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<ValueOf>> {
        let locator = tab.locator_with_wait(&self.selector)?;
        let value = locator.attribute(&call.action(), &self.attribute).await?;
        Ok(ValueOf { value }.into())
    }
}

/// Read the value of a field.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetValue {
    /// The field.
    selector: String,
}

impl Tool for GetValue {
    const NAME: &'static str = "get_value";
    const TITLE: &'static str = "Get value";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = FreeTab;
    type Output = Object<ValueOf>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<ValueOf>> {
        let locator = tab.locator_with_wait(&self.selector)?;
        let value = locator.value(&call.action()).await?;
        Ok(ValueOf { value }.into())
    }
}
