//! Screenshots of the page.

use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::{AnswerStyle, Capability};
use crate::error::{Error, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use crate::tools::verbs::screenshot::{
    Format, Request, WrittenScreenshot, full_or_viewport, rounded, take,
};
use engine::codegen::javascript::Options;
use engine::codegen::{Argument, Receiver, Statement};
use engine::{Placement, Screenshot, ScreenshotArea, VisibleRef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

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
    /// Scale down to this width.
    #[schemars(extend("x-addition" = true), range(min = 1))]
    max_width: Option<u32>,
    /// Of jpeg and webp.
    #[schemars(extend("x-addition" = true), range(min = 1, max = 100))]
    quality: Option<u8>,
    /// Draw the refs of elements.
    #[schemars(extend("x-addition" = true))]
    annotate: Option<bool>,
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
        if format == Format::Png && self.quality.is_some() {
            return Err(Error::Arguments {
                reason: "quality is only for jpeg and webp: png is lossless.".into(),
                parameters: &["quality", "type"],
                missing: &[],
                bare: false,
            });
        }
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
            quality: self.quality,
            css_scale: self.scale == Scale::Css,
            max_width: self.max_width,
            annotate: self.annotate == Some(true),
            filename,
            prefix,
        };
        let mut written = take(&tab, call, request).await?;
        let link = written.file.link.clone();
        // `@playwright/mcp` has the quality in generated code only for JPEG.
        let is_shown = format == Format::Jpeg || self.quality.is_some();
        let quality = format.quality(self.quality).filter(|_| is_shown);
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
        let mut reply = Reply::statements(call.language(), code, [statement]).and(Part::File {
            title: format!("Screenshot of {subject}"),
            link,
        });
        let is_attached = filename.is_none();
        if is_attached {
            written.fit(&tab, call).await?;
        }
        let is_own_style = call.settings.answers.style == AnswerStyle::Compact;
        if (is_own_style && is_attached) || self.max_width.is_some() {
            reply.parts.extend(scale_note(&tab, call, &written).await?);
        }
        let elements = written.elements().iter().map(legend_line);
        let legend: Vec<_> = elements.collect();
        if !legend.is_empty() {
            reply = reply.and(Part::Page(legend.join("\n")));
        }
        Ok(match is_attached {
            true => reply.and(Part::Image(written.into_image())),
            false => reply,
        })
    }
}

/// Returns the line of an element in the legend of an annotated screenshot.
fn legend_line(element: &VisibleRef) -> String {
    let VisibleRef {
        reference,
        role,
        name,
        ..
    } = element;
    match name.as_str() {
        "" => format!("{reference} {role}"),
        name => format!("{reference} {role} {}", Value::from(name)),
    }
}

/// Returns the factor by which the image is scaled, and with the tools for coordinates how to convert those of the image.
async fn scale_note(
    tab: &CurrentTab,
    call: &Call,
    written: &WrittenScreenshot,
) -> Result<Option<Part>> {
    let Screenshot { area, shrink, .. } = written.options;
    let mut note = match shrink < 1.0 {
        true => format!("Image scaled by {}", rounded(shrink)),
        false => String::new(),
    };
    let has_coordinates = call
        .settings
        .tools
        .capabilities
        .contains(&Capability::Vision);
    let is_whole_viewport = area == ScreenshotArea::Viewport && written.options.css_scale;
    if has_coordinates && (shrink < 1.0 || !is_whole_viewport) {
        let placement = tab.page.placement(&call.action(), &written.options).await?;
        let Placement { origin, scale } = placement;
        let convert = |axis: &str, start: f64| {
            let mut term = axis.to_owned();
            match rounded(scale).to_string().as_str() {
                "1" => {}
                scale => term += &format!(" / {scale}"),
            }
            match start.round() {
                start if start > 0.0 => format!("{term} + {start}"),
                start if start < 0.0 => format!("{term} - {}", -start),
                _ => term,
            }
        };
        let (x, y) = (convert("x", origin.x), convert("y", origin.y));
        if (&*x, &*y) != ("x", "y") {
            note += if note.is_empty() { "" } else { ". " };
            note += &format!("Coordinates in the viewport: {x}, {y}");
        }
    }
    Ok((!note.is_empty()).then_some(Part::Text(note)))
}
