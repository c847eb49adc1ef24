//! Screenshots of the page and of elements.

use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use crate::tools::verbs::screenshot::{Format, Request, full_or_viewport, rounded, take};
use engine::VisibleRef;
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
    #[serde(flatten)]
    changes: ImageChanges,
}

/// How the image differs from what the page shows.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ImageChanges {
    /// Scale down to this width.
    #[schemars(range(min = 1))]
    max_width: Option<u32>,
    /// Draw the refs of elements.
    annotate: Option<bool>,
}

/// The file of a screenshot, and its size in pixels.
#[derive(Serialize, JsonSchema)]
pub(super) struct ScreenshotFile {
    uri: String,
    /// The path of the file, as other tools accept it.
    path: String,
    width: u32,
    height: u32,
    /// Pixels of the attached image per CSS pixel, if it is scaled down.
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<f64>,
    /// The elements whose refs are on the image.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elements: Vec<ShownElement>,
}

/// An element whose ref is on the image.
#[derive(Serialize, JsonSchema)]
struct ShownElement {
    #[serde(rename = "ref")]
    reference: String,
    role: String,
    name: String,
}

impl From<&VisibleRef> for ShownElement {
    fn from(element: &VisibleRef) -> Self {
        Self {
            reference: element.reference.clone(),
            role: element.role.clone(),
            name: element.name.clone(),
        }
    }
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
            max_width: self.changes.max_width,
            annotate: self.changes.annotate == Some(true),
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
    #[serde(flatten)]
    changes: ImageChanges,
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
            max_width: self.changes.max_width,
            annotate: self.changes.annotate == Some(true),
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
    let mut taken = take(tab, call, request).await?;
    let (width, height) = taken.size;
    taken.fit(tab, call).await?;
    let shrink = taken.options.shrink;
    let file = ScreenshotFile {
        uri: taken.uri.clone(),
        path: taken.file.link.clone(),
        width,
        height,
        scale: (shrink < 1.0).then(|| rounded(shrink)),
        elements: taken.elements().iter().map(Into::into).collect(),
    };
    Ok(Object::from(file).and_image(taken.into_image()))
}
