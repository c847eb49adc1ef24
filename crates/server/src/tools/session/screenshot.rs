//! Screenshots of the page and of elements.

use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use crate::tools::verbs::screenshot::{Format, Request, full_or_viewport, take};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<Screenshot>(),
    ToolDef::of::<ScreenshotElement>(),
];

/// Take a screenshot of the page.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Screenshot {
    /// The whole page, not just the viewport.
    full_page: Option<bool>,
    /// Png by default.
    #[serde(rename = "type")]
    kind: Option<Format>,
    /// Of jpeg and webp, 0 to 100.
    #[schemars(range(min = 0, max = 100))]
    quality: Option<u8>,
    /// File to write.
    path: Option<String>,
}

/// The file of a screenshot, and its size in pixels.
#[derive(Serialize, JsonSchema)]
pub(super) struct ScreenshotFile {
    uri: String,
    /// The path of the file, as other tools accept it.
    path: String,
    width: u32,
    height: u32,
}

impl Tool for Screenshot {
    const NAME: &'static str = "screenshot";
    const TITLE: &'static str = "Screenshot";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = FreeTab;
    type Output = Object<ScreenshotFile>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<ScreenshotFile>> {
        let filename = self.path.as_deref();
        let request = Request {
            area: full_or_viewport(self.full_page),
            format: Format::of(self.kind, filename),
            quality: self.quality,
            css_scale: true,
            filename,
            prefix: "page",
        };
        answer(&tab, call, request).await
    }
}

/// Take a screenshot of an element.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ScreenshotElement {
    /// The element.
    selector: String,
    /// Png by default.
    #[serde(rename = "type")]
    kind: Option<Format>,
}

impl Tool for ScreenshotElement {
    const NAME: &'static str = "screenshot_element";
    const TITLE: &'static str = "Screenshot element";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = FreeTab;
    type Output = Object<ScreenshotFile>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<ScreenshotFile>> {
        let locator = tab.locator_with_wait(&self.selector)?;
        let request = Request {
            area: locator.screenshot_area(&call.action()).await?,
            format: self.kind.unwrap_or(Format::Png),
            quality: None,
            css_scale: true,
            filename: None,
            prefix: "element",
        };
        answer(&tab, call, request).await
    }
}

async fn answer(
    tab: &FreeTab,
    call: &Call,
    request: Request<'_>,
) -> Result<Object<ScreenshotFile>> {
    let taken = take(tab, call, request).await?;
    let (width, height) = taken.size;
    let file = ScreenshotFile {
        uri: taken.uri.clone(),
        path: taken.file.link.clone(),
        width,
        height,
    };
    let image = taken.into_image(tab, call).await?;
    Ok(Object::from(file).and_image(image))
}
