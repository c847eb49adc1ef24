//! Typing.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::{ErrorCode, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use crate::tools::verbs::press::press;
use engine::codegen::Action;
use engine::codegen::javascript;
use engine::codegen::{Receiver, Statement};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<PressKey>(), ToolDef::of::<Type>()];

/// Press a key.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PressKey {
    /// Key, such as ArrowLeft, a, or Control+a.
    key: String,
}

impl Tool for PressKey {
    const NAME: &'static str = "browser_press_key";
    const TITLE: &'static str = "Press a key";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let (key, progress) = (&self.key, call.action());
        press(&tab, call, key, tab.page.press(&progress, key)).await?;
        let code = format!(
            "// Press {key}\nawait page.keyboard.press({});",
            javascript::string(key)
        );
        let statement = Statement::new(Receiver::Keyboard, "press").argument(key.as_str());
        let reply = Reply::statements(call.language(), code, [statement]);
        Ok(match key.as_str() {
            "Enter" => reply.and_snapshot(),
            _ => reply.and_changes(),
        })
    }
}

/// Type text into a field, replacing its content.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Type {
    /// What the element is, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
    /// The text.
    text: String,
    /// Press Enter afterwards.
    submit: Option<bool>,
    /// Type key by key.
    slowly: Option<bool>,
}

impl Tool for Type {
    const NAME: &'static str = "browser_type";
    const TITLE: &'static str = "Type text";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const NOT_READY: ErrorCode = ErrorCode::ElementNotEditable;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let found = tab.find(call, &self.target).await?;
        let (locator, text, shown) = tab.typed(call, found.locator, &self.text).await?;
        let (locator, text) = (&locator, text.as_str());
        let (submit, slowly) = (self.submit == Some(true), self.slowly == Some(true));
        let typed = async {
            let progress = call.action();
            if slowly {
                locator
                    .press_sequentially(&progress, text, Duration::ZERO)
                    .await?;
            } else {
                locator.fill(&progress, text).await?;
            }
            if submit {
                locator.press(&call.action(), "Enter").await?;
            }
            Ok(())
        };
        let mut reply = Reply::default();
        if submit || slowly {
            tab.act(call, typed).await?;
            reply = reply.and_snapshot();
        } else {
            tab.act_briefly(call, typed).await?;
            reply = reply.and_changes();
        }
        let locator = found.shown;
        reply = if slowly {
            let code = javascript::press_sequentially(&locator, &shown);
            let receiver = Receiver::Element(locator.clone());
            let statement = Statement::new(receiver, "pressSequentially").argument(&shown);
            reply.and_statements(call.language(), code, [statement])
        } else {
            let (locator, value) = (locator.clone(), shown);
            reply.and_action(call.language(), &Action::Fill { locator, value })
        };
        if submit {
            let key = "Enter".to_owned();
            reply = reply.and_action(call.language(), &Action::Press { locator, key });
        }
        Ok(reply)
    }
}
