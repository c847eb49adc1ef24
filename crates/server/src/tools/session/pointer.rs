//! Mouse actions and scrolling.

use super::Done;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::{ErrorCode, Result};
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use engine::{HeldKey, Locator, Modifier, MouseButton};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<Click>(),
    ToolDef::of::<Hover>(),
    ToolDef::of::<DragAndDrop>(),
    ToolDef::of::<Scroll>(),
];

/// Click an element.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Click {
    /// The element.
    selector: String,
    /// Mouse button, left by default.
    button: Option<MouseButton>,
    /// 2 for a double click.
    #[schemars(range(min = 1, max = 3))]
    click_count: Option<u32>,
    /// Do not wait until it can be clicked.
    force: Option<bool>,
    /// Keys to hold.
    modifiers: Option<Vec<HeldKey>>,
}

impl Tool for Click {
    const NAME: &'static str = "click";
    const TITLE: &'static str = "Click";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const NOT_READY: ErrorCode = ErrorCode::ElementNotClickable;
    type Scope = FreeTab;
    type Output = Object<Done>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Done>> {
        let how = engine::Click {
            button: self.button.unwrap_or_default(),
            count: self.click_count.unwrap_or(1),
            modifiers: held(self.modifiers),
            force: self.force == Some(true),
            ..engine::Click::default()
        };
        let locator = tab.locator_with_wait(&self.selector)?;
        tab.act(call, locator.click(&call.action(), &how)).await?;
        Ok(Done::new(format!("Clicked {}", self.selector)).into())
    }
}

pub(super) fn held(modifiers: Option<Vec<HeldKey>>) -> Vec<Modifier> {
    let modifiers = modifiers.unwrap_or_default();
    modifiers.into_iter().map(Into::into).collect()
}

/// Move the mouse over an element.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Hover {
    /// The element.
    selector: String,
}

impl Tool for Hover {
    const NAME: &'static str = "hover";
    const TITLE: &'static str = "Hover";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = FreeTab;
    type Output = Object<Done>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Done>> {
        let locator = tab.locator_with_wait(&self.selector)?;
        let how = engine::Click::default();
        tab.act_briefly(call, locator.hover(&call.action(), &how))
            .await?;
        Ok(Done::new(format!("Hovered {}", self.selector)).into())
    }
}

/// Drag one element onto another.
#[derive(Deserialize, JsonSchema)]
pub(super) struct DragAndDrop {
    /// What is dragged.
    source: String,
    /// Where it is dropped.
    target: String,
}

impl Tool for DragAndDrop {
    const NAME: &'static str = "drag_and_drop";
    const TITLE: &'static str = "Drag and drop";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = FreeTab;
    type Output = Object<Done>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Done>> {
        let source = tab.locator_with_wait(&self.source)?;
        let target = tab.locator_with_wait(&self.target)?;
        tab.act(call, source.drag_to(&call.action(), &target))
            .await?;
        Ok(Done::new(format!("Dragged {} to {}", self.source, self.target)).into())
    }
}

/// Scroll the page, or an element into view and then its content.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Scroll {
    /// To the right, in CSS pixels.
    x: Option<f64>,
    /// Down, in CSS pixels.
    y: Option<f64>,
    /// The element.
    selector: Option<String>,
}

/// The scroll position after the call, in CSS pixels.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Scrolled {
    scroll_x: f64,
    scroll_y: f64,
}

impl Tool for Scroll {
    const NAME: &'static str = "scroll";
    const TITLE: &'static str = "Scroll";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = FreeTab;
    type Output = Object<Scrolled>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Scrolled>> {
        let progress = call.action();
        let (x, y) = (self.x.unwrap_or(0.0), self.y.unwrap_or(0.0));
        let watch = tab.page.watch(&progress).await;
        let position = match &self.selector {
            Some(selector) => {
                let locator = tab.locator_with_wait(selector)?;
                locator.scroll_into_view(&progress).await?;
                of_element(&locator, call, x, y).await?
            }
            None => {
                let by = format!(
                    "() => {{ scrollBy({{ left: {x}, top: {y}, behavior: 'instant' }}); return [scrollX, scrollY]; }}"
                );
                tab.page.evaluate(&progress, &by).await?
            }
        };
        tab.settle_briefly(call, watch).await;
        let at = |index: usize| {
            position
                .as_ref()
                .and_then(|position| position[index].as_f64())
        };
        Ok(Scrolled {
            scroll_x: at(0).unwrap_or_default(),
            scroll_y: at(1).unwrap_or_default(),
        }
        .into())
    }
}

async fn of_element(locator: &Locator, call: &Call, x: f64, y: f64) -> Result<Option<Value>> {
    let by = format!(
        "(element) => {{ element.scrollBy({{ left: {x}, top: {y}, behavior: 'instant' }}); return [element.scrollLeft, element.scrollTop]; }}"
    );
    Ok(locator.evaluate(&call.action(), &by).await?)
}
