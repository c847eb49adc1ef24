//! Highlighting elements for the user and in screenshots.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{Locator, Target};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Highlight>(), ToolDef::of::<HideHighlight>()];

/// Outline an element until it is hidden or the page navigates.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Highlight {
    /// What the element is, for people.
    element: Option<String>,
    /// Ref from the snapshot, or a selector.
    target: String,
    /// Additional CSS, such as outline: 2px dashed red.
    style: Option<String>,
}

/// Hide a highlight; without a target, all.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HideHighlight {
    /// What the element is, for people.
    element: Option<String>,
    /// Ref from the snapshot, or a selector.
    target: Option<String>,
}

impl Tool for Highlight {
    const NAME: &'static str = "browser_highlight";
    const TITLE: &'static str = "Highlight element";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let locator = tab.page.locator(&self.target)?;
        locator
            .highlight(&call.action(), self.style.as_deref())
            .await?;
        let shown = shown(&locator, self.element);
        Ok(Reply::text(format!("Highlighted {shown}")))
    }
}

impl Tool for HideHighlight {
    const NAME: &'static str = "browser_hide_highlight";
    const TITLE: &'static str = "Hide element highlight";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let Some(target) = &self.target else {
            tab.page.hide_highlights(&call.action()).await?;
            return Ok(Reply::text("Hid page highlight"));
        };
        let locator = tab.page.locator(target)?;
        locator.hide_highlight(&call.action()).await?;
        let shown = shown(&locator, self.element);
        Ok(Reply::text(format!("Hid highlight for {shown}")))
    }
}

/// Returns the locator as text. `@playwright/mcp` shows the description instead of a ref.
fn shown(locator: &Locator, element: Option<String>) -> String {
    match (locator.target(), element) {
        (Target::Ref(_), Some(element)) => element,
        _ => locator.to_string(),
    }
}
