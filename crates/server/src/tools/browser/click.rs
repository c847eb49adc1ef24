//! Clicking.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::{ErrorCode, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::Action;
use engine::{HeldKey, Modifier, MouseButton};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Click>()];

/// Click an element.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Click {
    /// What the element is, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
    /// Click twice.
    double_click: Option<bool>,
    /// Mouse button, left by default.
    button: Option<MouseButton>,
    /// Keys to hold.
    modifiers: Option<Vec<HeldKey>>,
}

impl Tool for Click {
    const NAME: &'static str = "browser_click";
    const TITLE: &'static str = "Click";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const NOT_READY: ErrorCode = ErrorCode::ElementNotClickable;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let found = tab.find(call, &self.target).await?;
        let count = if self.double_click == Some(true) {
            2
        } else {
            1
        };
        let modifiers: Vec<Modifier> = self
            .modifiers
            .unwrap_or_default()
            .into_iter()
            .map(Into::into)
            .collect();
        let how = engine::Click {
            button: self.button.unwrap_or_default(),
            count,
            modifiers: modifiers.clone(),
            ..engine::Click::default()
        };
        let progress = call.action();
        tab.act(call, found.locator.click(&progress, &how)).await?;
        let click = Action::Click {
            locator: found.shown,
            button: self.button,
            modifiers,
            count,
            position: None,
        };
        Ok(Reply::action(call.language(), &click).and_snapshot())
    }
}
