//! Pictures of the page.

use crate::access::principal::Permission;
use crate::answers::reply::{Image, Part, Reply};
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::tools::image_size;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript::Options;
use engine::{Screenshot, ScreenshotArea, ScreenshotFormat};
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
enum Format {
    Png,
    Jpeg,
    Webp,
}

/// What an image pixel is.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Deserialize,
    Serialize,
    JsonSchema,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
enum Scale {
    #[default]
    Css,
    Device,
}

impl Tool for TakeScreenshot {
    const NAME: &'static str = "browser_take_screenshot";
    const TITLE: &'static str = "Take a screenshot";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let full_page = self.full_page == Some(true);
        if full_page && self.target.is_some() {
            return Err(Error::Arguments {
                reason: "fullPage cannot be used with element screenshots.".into(),
                parameters: &["fullPage", "target"],
                missing: &[],
                bare: false,
            });
        }
        let format = self.format();
        let progress = call.navigation();
        let (area, subject, prefix, shown) = match &self.target {
            Some(target) => {
                let found = tab.find(call, target).await?;
                let area = found.locator.screenshot_area(&call.action()).await?;
                let subject = self.element.clone().unwrap_or_else(|| "element".to_owned());
                (area, subject, "element", format!("page.{}", found.shown))
            }
            None if full_page => (
                ScreenshotArea::FullPage,
                "full page".to_owned(),
                "page",
                "page".to_owned(),
            ),
            None => (
                ScreenshotArea::Viewport,
                "viewport".to_owned(),
                "page",
                "page".to_owned(),
            ),
        };
        let files = tab.files(call).await;
        // What may not be written is not made.
        let named = self.filename.as_deref();
        let named = named.map(|name| files.writable(name)).transpose()?;
        let quality = (format != Format::Png).then_some(QUALITY);
        let mut wanted = Screenshot {
            format: format.into(),
            quality,
            area,
            css_scale: self.scale == Scale::Css,
            shrink: 1.0,
        };
        let mut bytes = tab.page.screenshot(&progress, &wanted).await?;
        files.refuse_large(&bytes)?;
        let file = match named {
            Some(file) => file,
            None => files.automatic(prefix, format.into()).await?,
        };
        files.write_bytes(&file, bytes.clone()).await?;
        let size = image_size::size(&bytes).unwrap_or_default();
        let _ = tab.record_screenshot(&files, &file, size, full_page);
        // Code that others know names it for JPEG only.
        let shown_quality = (format == Format::Jpeg).then_some(f64::from(QUALITY));
        let options = Options::default()
            .with_some("fullPage", full_page.then_some(true))
            .with("path", &file.link)
            .with_some("quality", shown_quality)
            .with("scale", <&str>::from(self.scale))
            .with("type", <&str>::from(format));
        let link = &file.link;
        let code = format!(
            "// Screenshot {subject} and save it as {link}\nawait {shown}.screenshot({options});"
        );
        let mut reply = Reply::code(code).and(Part::File {
            title: format!("Screenshot of {subject}"),
            link: file.link.clone(),
        });
        if self.filename.is_none() {
            if let Some(factor) = image_size::scale_to_fit(&bytes) {
                wanted.shrink = factor;
                bytes = tab.page.screenshot(&progress, &wanted).await?;
            }
            reply = reply.and(Part::Image(Image {
                bytes,
                mime_type: format!("image/{}", <&str>::from(format)),
            }));
        }
        Ok(reply)
    }
}

/// As good as it needs to be, and much smaller than the best.
const QUALITY: u8 = 90;

impl TakeScreenshot {
    /// What the call asks for, or what the file's name says.
    fn format(&self) -> Format {
        let named = || {
            let (_, extension) = self.filename.as_deref()?.rsplit_once('.')?;
            match extension.to_ascii_lowercase().as_str() {
                "jpg" | "jpeg" => Some(Format::Jpeg),
                "webp" => Some(Format::Webp),
                _ => None,
            }
        };
        self.kind.or_else(named).unwrap_or(Format::Png)
    }
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
