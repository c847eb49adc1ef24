//! Assertions.

use super::form::FieldKind;
use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::{Action, javascript};
use engine::{Checked, Locator, Page, Selector};
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
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Testing);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let target = format!(
            "getByRole({}, {{ name: {} }})",
            javascript::string(&self.role),
            javascript::string(&self.accessible_name)
        );
        let Some(locator) = locate_first(&tab.page, call, &target).await? else {
            return Ok(failed(format!(
                "Element with role \"{}\" and accessible name \"{}\" not found",
                self.role, self.accessible_name
            )));
        };
        Ok(passed(call, &Action::ExpectVisible { locator }))
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
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Testing);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let target = format!(
            "getByText({}).filter({{ visible: true }})",
            javascript::string(&self.text)
        );
        let Some(locator) = locate_first(&tab.page, call, &target).await? else {
            return Ok(failed("Text not found".to_owned()));
        };
        Ok(passed(call, &Action::ExpectVisible { locator }))
    }
}

/// Check that a list shows these items.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VerifyList {
    /// What the list is, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
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
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Testing);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let list = tab.page.locator(&self.target)?;
        let mut lines = Vec::new();
        for item in &self.items {
            let Some(text) = item_text(&list, call, item).await? else {
                return Ok(failed(format!("Item \"{item}\" not found")));
            };
            lines.push(format!("\n  - listitem: {}", serde_json::Value::from(text)));
        }
        let action = Action::ExpectSnapshot {
            locator: tab.page.locator("body")?.generated(&call.action()).await?,
            snapshot: format!("- list:{}", lines.concat()),
        };
        Ok(passed(call, &action))
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
    #[expect(dead_code, reason = "for users who follow the calls")]
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
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Testing);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let found = tab.find(call, &self.target).await?;
        let progress = call.action();
        let expected = &self.value;
        let (actual, is_expected, action) = match self.kind {
            FieldKind::Checkbox | FieldKind::Radio => {
                let states = found.locator.states(&progress).await?;
                let checked = states.checked.is_some_and(Checked::is_checked);
                let action = Action::ExpectChecked {
                    locator: found.shown,
                    checked,
                };
                let actual = checked.to_string();
                (actual.clone(), actual == *expected, action)
            }
            FieldKind::Textbox | FieldKind::Slider | FieldKind::Combobox => {
                let compared = found.locator.compare_value(&progress, expected).await?;
                let Some((value, is_expected)) = compared else {
                    return Ok(failed(
                        "Error: Node is not an <input>, <textarea> or <select> element".to_owned(),
                    ));
                };
                let action = Action::ExpectValue {
                    locator: found.shown,
                    value: expected.clone(),
                };
                (value, is_expected, action)
            }
        };
        if !is_expected {
            return Ok(failed(format!(
                "Expected value \"{expected}\", but got \"{actual}\""
            )));
        }
        Ok(passed(call, &action))
    }
}

/// Returns the answer for a check that passed.
fn passed(call: &Call, action: &Action) -> Reply {
    let reply = Reply::text("Done").and_action(call.language(), action);
    reply.into_test_step()
}

/// Returns the answer for a check that failed.
fn failed(reason: String) -> Reply {
    Reply::error(Error::VerificationFailed { reason })
}

/// Returns the best locator of the first element that matches, in the page or in one of its frames.
async fn locate_first(page: &Page, call: &Call, target: &str) -> Result<Option<Selector>> {
    let progress = call.action();
    let mut documents = vec![String::new()];
    while let Some(document) = documents.pop() {
        let found = page.locator(&format!("{document}{target}"))?.first();
        if found.count(&progress).await? > 0 {
            return Ok(Some(found.best(&progress).await?));
        }
        let frames = page.locator(&format!("{document}locator('iframe')"))?;
        for index in (0..frames.count(&progress).await?).rev() {
            documents.push(format!(
                "{document}locator('iframe').nth({index}).contentFrame()."
            ));
        }
    }
    Ok(None)
}

/// A function that returns the text of the first of the smallest elements in a list that contain the text of an item.
const ITEM_TEXT: &str = include_str!("verify.js");

async fn item_text(list: &Locator, call: &Call, item: &str) -> Result<Option<String>> {
    let item = serde_json::Value::from(item);
    let function = format!("list => ({ITEM_TEXT})(list, {item})");
    let text = list.evaluate(&call.action(), &function).await?;
    Ok(text.and_then(|text| text.as_str().map(str::to_owned)))
}
