//! Hovering.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::Click;
use engine::codegen::Action;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Hover>()];

/// Move the mouse over an element.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hover {
    /// What the element is, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
}

impl Tool for Hover {
    const NAME: &'static str = "browser_hover";
    const TITLE: &'static str = "Hover mouse";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let found = tab.find(call, &self.target).await?;
        let progress = call.action();
        let how = Click::default();
        tab.act_briefly(call, found.locator.hover(&progress, &how))
            .await?;
        let locator = found.shown;
        Ok(Reply::action(call.language(), &Action::Hover { locator }).and_snapshot())
    }
}
