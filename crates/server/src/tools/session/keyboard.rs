//! Typing and pressing keys.

use super::Done;
use super::pointer::held;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::{Error, ErrorCode, Result};
use crate::tools::scope::{FreeTab, TabInAnyState};
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use crate::tools::verbs::press::press;
use engine::HeldKey;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<Type>(),
    ToolDef::of::<Fill>(),
    ToolDef::of::<Press>(),
];

/// Type text key by key into what is there.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Type {
    /// The field.
    selector: String,
    /// The text.
    text: String,
    /// Pause between keys, in ms.
    #[schemars(range(min = 0, max = 10_000))]
    delay: Option<u64>,
    /// Empty the field first.
    clear: Option<bool>,
}

impl Tool for Type {
    const NAME: &'static str = "type";
    const TITLE: &'static str = "Type";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const NOT_READY: ErrorCode = ErrorCode::ElementNotEditable;
    type Scope = FreeTab;
    type Output = Object<Done>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Done>> {
        let locator = tab.locator_with_wait(&self.selector)?;
        let (locator, text, _) = tab.typed(call, locator, &self.text).await?;
        let delay = Duration::from_millis(self.delay.unwrap_or(0));
        let typed = async {
            locator.wait_until_editable(&call.action()).await?;
            if self.clear == Some(true) {
                locator.fill(&call.action(), "").await?;
            }
            let keys = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
            let progress = call.action_with_extra(delay.saturating_mul(keys));
            locator.press_sequentially(&progress, &text, delay).await
        };
        tab.act_briefly(call, typed).await?;
        Ok(Done::new(format!("Typed into {}", self.selector)).into())
    }
}

/// Replace the value of a field.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Fill {
    /// The field.
    selector: String,
    /// Its new value.
    value: String,
}

impl Tool for Fill {
    const NAME: &'static str = "fill";
    const TITLE: &'static str = "Fill";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const NOT_READY: ErrorCode = ErrorCode::ElementNotEditable;
    type Scope = FreeTab;
    type Output = Object<Done>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Done>> {
        let locator = tab.locator_with_wait(&self.selector)?;
        let (locator, value, _) = tab.typed(call, locator, &self.value).await?;
        tab.act_briefly(call, locator.fill(&call.action(), &value))
            .await?;
        Ok(Done::new(format!("Filled {}", self.selector)).into())
    }
}

/// Press a key. Enter accepts an open dialog, Escape dismisses it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Press {
    /// Key, such as Enter, a, or Control+a.
    key: String,
    /// Keys to hold.
    modifiers: Option<Vec<HeldKey>>,
    /// Focus this element first.
    selector: Option<String>,
}

impl Tool for Press {
    const NAME: &'static str = "press";
    const TITLE: &'static str = "Press";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = TabInAnyState;
    type Output = Object<Done>;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Object<Done>> {
        let held = held(self.modifiers);
        let mut names: Vec<_> = held.into_iter().map(|key| key.to_string()).collect();
        names.push(self.key.clone());
        let key = names.join("+");
        let progress = call.action();
        if let Some(dialog) = tab.page.dialog() {
            let accept = match key.as_str() {
                "Enter" => true,
                "Escape" => false,
                _ => {
                    return Err(Error::ModalState {
                        tool: call.tool.name,
                    });
                }
            };
            let text = Some(dialog.default_value.as_str());
            let answer = tab.page.answer_dialog(&progress, accept, text);
            tab.act(call, answer).await?;
            let done = if accept { "Accepted" } else { "Dismissed" };
            return Ok(Done::new(format!("{done} the {}", dialog.kind)).into());
        }
        let sent = async {
            match &self.selector {
                Some(selector) => {
                    let locator = tab.page.locator(selector)?.waiting_for_element();
                    locator.press(&progress, &key).await
                }
                None => tab.page.press(&progress, &key).await,
            }
        };
        press(&tab, call, &self.key, sent).await?;
        Ok(Done::new(format!("Pressed {key}")).into())
    }
}
