//! Finding elements and reading their states.

use super::Done;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use engine::{ElementFacts, Page, Progress, WaitFor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<FindElement>(),
    ToolDef::of::<FindElements>(),
    ToolDef::of::<ElementExists>(),
    ToolDef::of::<IsVisible>(),
    ToolDef::of::<IsEnabled>(),
    ToolDef::of::<WaitForSelector>(),
];

/// The default of `limit`.
const DEFAULT_LIMIT: usize = 20;

/// Describes the element that a ref or a selector names, as JSON. Fails if there is not exactly one.
pub(crate) async fn element(page: &Page, selector: &str, progress: &Progress) -> Result<Value> {
    let facts = page.locator(selector)?.describe(progress).await?;
    Ok(json!({
        "selector": selector,
        "tagName": facts.tag,
        "attributes": facts.attributes,
        "boundingBox": facts.bounds,
        "text": facts.text,
        "role": facts.role,
        "name": facts.name,
        "ref": facts.reference,
    }))
}

/// Describe the element that matches.
#[derive(Deserialize, JsonSchema)]
pub(super) struct FindElement {
    /// The element.
    selector: String,
}

impl Tool for FindElement {
    const NAME: &'static str = "find_element";
    const TITLE: &'static str = "Find element";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = FreeTab;
    type Output = Object<ElementFacts>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<ElementFacts>> {
        let locator = tab.locator_with_wait(&self.selector)?;
        let facts = locator.describe(&call.action()).await?;
        Ok(facts.into())
    }
}

/// Describe all elements that match.
#[derive(Deserialize, JsonSchema)]
pub(super) struct FindElements {
    /// The elements.
    selector: String,
    /// Describe so many at most; 20 by default.
    limit: Option<usize>,
}

/// The elements that match.
#[derive(Serialize, JsonSchema)]
pub(super) struct AllFacts {
    /// The number of elements that match.
    count: usize,
    elements: Vec<ElementFacts>,
}

impl Tool for FindElements {
    const NAME: &'static str = "find_elements";
    const TITLE: &'static str = "Find elements";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    type Scope = FreeTab;
    type Output = Object<AllFacts>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<AllFacts>> {
        let locator = tab.page.locator(&self.selector)?;
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        let (count, elements) = locator.describe_all(&call.action(), limit).await?;
        Ok(AllFacts { count, elements }.into())
    }
}

/// Check whether an element exists.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ElementExists {
    /// The element.
    selector: String,
}

/// Whether an element exists.
#[derive(Serialize, JsonSchema)]
pub(super) struct Exists {
    exists: bool,
}

impl Tool for ElementExists {
    const NAME: &'static str = "element_exists";
    const TITLE: &'static str = "Element exists";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    type Scope = FreeTab;
    type Output = Object<Exists>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Exists>> {
        let locator = tab.page.locator(&self.selector)?;
        let exists = locator.count(&call.action()).await? > 0;
        Ok(Exists { exists }.into())
    }
}

/// Check whether an element is visible.
#[derive(Deserialize, JsonSchema)]
pub(super) struct IsVisible {
    /// The element.
    selector: String,
}

/// Whether an element is visible.
#[derive(Serialize, JsonSchema)]
pub(super) struct Visible {
    visible: bool,
}

impl Tool for IsVisible {
    const NAME: &'static str = "is_visible";
    const TITLE: &'static str = "Is visible";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    type Scope = FreeTab;
    type Output = Object<Visible>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Visible>> {
        let locator = tab.page.locator(&self.selector)?;
        let visible = locator.is_visible(&call.action()).await?;
        Ok(Visible { visible }.into())
    }
}

/// Check whether an element is enabled.
#[derive(Deserialize, JsonSchema)]
pub(super) struct IsEnabled {
    /// The element.
    selector: String,
}

/// Whether an element is enabled.
#[derive(Serialize, JsonSchema)]
pub(super) struct Enabled {
    enabled: bool,
}

impl Tool for IsEnabled {
    const NAME: &'static str = "is_enabled";
    const TITLE: &'static str = "Is enabled";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    type Scope = FreeTab;
    type Output = Object<Enabled>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Enabled>> {
        let locator = tab.page.locator(&self.selector)?;
        let enabled = locator.states(&call.action()).await?.enabled;
        Ok(Enabled { enabled }.into())
    }
}

/// Wait until an element is there, or gone.
#[derive(Deserialize, JsonSchema)]
pub(super) struct WaitForSelector {
    /// The element.
    selector: String,
    /// What to wait for; visible by default.
    state: Option<WaitFor>,
}

impl Tool for WaitForSelector {
    const NAME: &'static str = "wait_for_selector";
    const TITLE: &'static str = "Wait for selector";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = FreeTab;
    type Output = Object<Done>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Done>> {
        let state = self.state.unwrap_or(WaitFor::Visible);
        let locator = tab.page.locator(&self.selector)?.first();
        locator.wait_for(&call.navigation(), state).await?;
        Ok(Done::new(format!("{} is {state}", self.selector)).into())
    }
}
