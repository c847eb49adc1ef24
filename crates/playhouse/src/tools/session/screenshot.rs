//! Pictures of a page or of an element.

use crate::access::principal::Permission;
use crate::answers::reply::Image;
use crate::calls::Call;
use crate::error::Result;
use crate::tools::image_size;
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use engine::{ScreenshotArea, ScreenshotFormat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<Screenshot>(),
    ToolDef::of::<ScreenshotElement>(),
];

/// As good as it needs to be, and much smaller than the best.
const QUALITY: u8 = 90;

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

/// An image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Png,
    Jpeg,
    Webp,
}

impl From<Format> for ScreenshotFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Png => Self::Png,
            Format::Jpeg => Self::Jpeg,
            Format::Webp => Self::Webp,
        }
    }
}

/// Where a picture lies, and its size in pixels.
#[derive(Serialize, JsonSchema)]
pub(super) struct ScreenshotFile {
    uri: String,
    /// As other tools take it.
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
        let area = full_or_viewport(self.full_page);
        let format = self.format().into();
        let name = self.path.as_deref();
        taken(&tab, call, area, (name, "page"), format, self.quality).await
    }
}

impl Screenshot {
    /// What the call asks for, or what the file's name says.
    fn format(&self) -> Format {
        let named = || {
            let (_, extension) = self.path.as_deref()?.rsplit_once('.')?;
            match extension.to_ascii_lowercase().as_str() {
                "jpg" | "jpeg" => Some(Format::Jpeg),
                "webp" => Some(Format::Webp),
                _ => None,
            }
        };
        self.kind.or_else(named).unwrap_or(Format::Png)
    }
}

pub(super) fn full_or_viewport(full_page: Option<bool>) -> ScreenshotArea {
    if full_page == Some(true) {
        ScreenshotArea::FullPage
    } else {
        ScreenshotArea::Viewport
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
        let locator = tab.awaited(&self.selector)?;
        let area = locator.screenshot_area(&call.action()).await?;
        let format = self.kind.unwrap_or(Format::Png).into();
        taken(&tab, call, area, (None, "element"), format, None).await
    }
}

/// Takes a picture and keeps it as a file, of that name or of an automatic one with that beginning; the answer has it too, small enough
/// to be seen.
async fn taken(
    tab: &FreeTab,
    call: &Call,
    area: ScreenshotArea,
    (name, prefix): (Option<&str>, &str),
    format: ScreenshotFormat,
    quality: Option<u8>,
) -> Result<Object<ScreenshotFile>> {
    let progress = call.navigation();
    let mut wanted = engine::Screenshot {
        format,
        quality: (format != ScreenshotFormat::Png).then_some(quality.unwrap_or(QUALITY)),
        area,
        css_scale: true,
        shrink: 1.0,
    };
    let mut bytes = tab.page.screenshot(&progress, &wanted).await?;
    let files = tab.files(call).await;
    files.refuse_large(&bytes)?;
    let file = files.file(name, prefix, &format.to_string()).await?;
    files.write_bytes(&file, bytes.clone()).await?;
    let (width, height) = image_size::size(&bytes).unwrap_or_default();
    if let Some(factor) = image_size::scale_to_fit(&bytes) {
        wanted.shrink = factor;
        bytes = tab.page.screenshot(&progress, &wanted).await?;
    }
    let full_page = matches!(wanted.area, ScreenshotArea::FullPage);
    let uri = tab.record_screenshot(&files, &file, (width, height), full_page);
    let picture = ScreenshotFile {
        uri,
        path: file.link,
        width,
        height,
    };
    Ok(Object::from(picture).and_image(Image {
        bytes,
        mime_type: format!("image/{format}"),
    }))
}
