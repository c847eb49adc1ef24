//! Selecting options.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::Action;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<SelectOption>()];

/// Choose options of a select.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SelectOption {
    /// What the element is, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
    /// Values or labels.
    values: Vec<String>,
}

impl Tool for SelectOption {
    const NAME: &'static str = "browser_select_option";
    const TITLE: &'static str = "Select option";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let found = tab.find(call, &self.target).await?;
        let progress = call.action();
        let chosen = found.locator.select_options(&progress, &self.values);
        tab.act(call, chosen).await?;
        let select = Action::SelectOption {
            locator: found.shown,
            values: self.values,
        };
        Ok(Reply::action(call.language(), &select).and_snapshot())
    }
}
