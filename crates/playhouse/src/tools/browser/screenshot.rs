//! Pictures of the page.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<TakeScreenshot>()];

/// Take a screenshot. To act on the page use browser_snapshot.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TakeScreenshot {
    /// What the element is, for people.
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: Option<String>,
    /// Image format, png by default.
    #[serde(rename = "type")]
    kind: Option<Format>,
    /// File to write; the image is then not attached.
    filename: Option<String>,
    /// The whole page, not just the viewport.
    full_page: Option<bool>,
    /// Image pixels: one per CSS pixel, or per device pixel.
    #[serde(default)]
    scale: Scale,
}

/// An image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Png,
    Jpeg,
    Webp,
}

/// What an image pixel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Scale {
    #[default]
    Css,
    Device,
}

impl Tool for TakeScreenshot {
    const NAME: &'static str = "browser_take_screenshot";
    const TITLE: &'static str = "Take a screenshot";
    const EFFECT: Effect = Effect::Reads;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
