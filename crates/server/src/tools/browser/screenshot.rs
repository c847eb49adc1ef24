//! Screenshots of the page.

use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use crate::tools::verbs::screenshot::{Format, Request, full_or_viewport, take};
use engine::codegen::javascript::Options;
use engine::codegen::{Argument, Receiver, Statement};
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
        let filename = self.filename.as_deref();
        let format = Format::of(self.kind, filename);
        let mut receiver = Receiver::Page;
        let (area, subject, prefix, shown) = match &self.target {
            Some(target) => {
                let found = tab.find(call, target).await?;
                let area = found.locator.screenshot_area(&call.action()).await?;
                let subject = self.element.as_deref().unwrap_or("element");
                let shown = format!("page.{}", found.shown);
                receiver = Receiver::Element(found.shown);
                (area, subject, "element", shown)
            }
            None => {
                let subject = if full_page { "full page" } else { "viewport" };
                let area = full_or_viewport(self.full_page);
                (area, subject, "page", "page".to_owned())
            }
        };
        let request = Request {
            area,
            format,
            quality: None,
            css_scale: self.scale == Scale::Css,
            filename,
            prefix,
        };
        let written = take(&tab, call, request).await?;
        let link = written.file.link.clone();
        // `@playwright/mcp` has the quality in generated code only for JPEG.
        let quality = format.quality(None).filter(|_| format == Format::Jpeg);
        let options = Options::default()
            .with_some("fullPage", full_page.then_some(true))
            .with("path", &link)
            .with_some("quality", quality.map(f64::from))
            .with("scale", <&str>::from(self.scale))
            .with("type", <&str>::from(format));
        let code = format!(
            "// Screenshot {subject} and save it as {link}\nawait {shown}.screenshot({options});"
        );
        let choice = |class, value: &str| {
            let value = value.to_owned();
            Some(Argument::Choice { class, value })
        };
        let statement = Statement::new(receiver, "screenshot")
            .option("fullPage", full_page.then_some(true))
            .option("path", Some(Argument::Path(link.clone())))
            .option("quality", quality.map(f64::from))
            .option("scale", choice("ScreenshotScale", self.scale.into()))
            .option("type", choice("ScreenshotType", format.into()));
        let reply = Reply::statements(call.language(), code, [statement]).and(Part::File {
            title: format!("Screenshot of {subject}"),
            link,
        });
        if filename.is_some() {
            return Ok(reply);
        }
        let image = written.into_image(&tab, call).await?;
        Ok(reply.and(Part::Image(image)))
    }
}
