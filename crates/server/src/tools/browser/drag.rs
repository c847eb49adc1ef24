//! Dragging one element onto another.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript;
use engine::codegen::{Receiver, Statement};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Drag>()];

/// Drag one element onto another.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Drag {
    /// What is dragged, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
    start_element: Option<String>,
    /// Ref or selector of what is dragged.
    start_target: String,
    /// Where it is dropped, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
    end_element: Option<String>,
    /// Ref or selector of where it is dropped.
    end_target: String,
}

impl Tool for Drag {
    const NAME: &'static str = "browser_drag";
    const TITLE: &'static str = "Drag mouse";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let start = tab.find(call, &self.start_target).await?;
        let end = tab.find(call, &self.end_target).await?;
        let progress = call.action();
        tab.act(call, start.locator.drag_to(&progress, &end.locator))
            .await?;
        let code = javascript::drag_to(&start.shown, &end.shown);
        let receiver = Receiver::Element(start.shown);
        let statement = Statement::new(receiver, "dragTo").argument(&end.shown);
        Ok(Reply::statements(call.language(), code, [statement]).and_snapshot())
    }
}
