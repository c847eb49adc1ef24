//! Generating locators for tests.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<GenerateLocator>()];

/// Generate a locator for an element, for tests.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerateLocator {
    /// What the element is, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
}

impl Tool for GenerateLocator {
    const NAME: &'static str = "browser_generate_locator";
    const TITLE: &'static str = "Create locator for element";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Testing);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let found = tab.find(call, &self.target).await?;
        found.locator.resolve(&call.action()).await?;
        Ok(Reply::page(found.shown.to_string()))
    }
}
