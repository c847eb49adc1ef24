//! Screenshots and PDFs by client code.

use super::Host;
use crate::failure::Failure;
use crate::request::{Length, PrintOptions, ScreenshotOptions};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::{Page, PdfOptions, Progress, Screenshot, ScreenshotArea};
use serde_json::Value;

/// CSS pixels per inch.
const INCH: f64 = 96.0;

/// Takes a screenshot of the page or a part of it, as base64.
pub(super) async fn screenshot(
    host: &Host,
    page: &Page,
    progress: &Progress,
    options: ScreenshotOptions,
    area: Option<ScreenshotArea>,
) -> Result<Value, Failure> {
    if options.omit_background {
        return Err(Failure::new(
            "the option \"omitBackground\" is not supported by browser_run_code_unsafe; see docs/run-code.md",
        ));
    }
    let named = || match options.path.as_ref()?.rsplit_once('.')?.1 {
        "jpg" | "jpeg" => Some(engine::ScreenshotFormat::Jpeg),
        "webp" => Some(engine::ScreenshotFormat::Webp),
        _ => None,
    };
    let area = match (area, options.clip) {
        (Some(area), _) => area,
        (None, Some(clip)) => ScreenshotArea::Clip {
            x: clip.x,
            y: clip.y,
            width: clip.width,
            height: clip.height,
        },
        (None, None) if options.full_page => ScreenshotArea::FullPage,
        (None, None) => ScreenshotArea::Viewport,
    };
    let wanted = Screenshot {
        format: options.r#type.or_else(named).unwrap_or_default(),
        quality: options.quality,
        area,
        css_scale: options.scale.as_deref() == Some("css"),
        ..Screenshot::default()
    };
    let bytes = page.screenshot(progress, &wanted).await?;
    host.setting.access.check_screenshot(&bytes)?;
    saved(host, options.path.as_deref(), bytes).await
}

pub(super) async fn print(
    host: &Host,
    page: &Page,
    progress: &Progress,
    options: PrintOptions,
) -> Result<Value, Failure> {
    let (mut width, mut height) = paper(options.format.as_deref().unwrap_or("letter"))?;
    if let Some(given) = options.width {
        width = inches(&given)?;
    }
    if let Some(given) = options.height {
        height = inches(&given)?;
    }
    let wanted = PdfOptions {
        width,
        height,
        background: options.print_background,
        landscape: options.landscape,
    };
    let bytes = page.pdf(progress, &wanted).await?;
    saved(host, options.path.as_deref(), bytes).await
}

/// Also writes the bytes to the file that the code names.
async fn saved(host: &Host, path: Option<&str>, bytes: Vec<u8>) -> Result<Value, Failure> {
    if let Some(path) = path {
        host.setting.access.write(path, bytes.clone()).await?;
    }
    Ok(BASE64_STANDARD.encode(bytes).into())
}

/// Returns width and height of a paper format, in inches.
fn paper(format: &str) -> Result<(f64, f64), Failure> {
    Ok(match format.to_ascii_lowercase().as_str() {
        "letter" => (8.5, 11.0),
        "legal" => (8.5, 14.0),
        "tabloid" => (11.0, 17.0),
        "ledger" => (17.0, 11.0),
        "a0" => (33.1, 46.8),
        "a1" => (23.4, 33.1),
        "a2" => (16.54, 23.4),
        "a3" => (11.7, 16.54),
        "a4" => (8.27, 11.7),
        "a5" => (5.83, 8.27),
        "a6" => (4.13, 5.83),
        _ => return Err(Failure::new(format!("Unknown paper format: {format}"))),
    })
}

fn inches(length: &Length) -> Result<f64, Failure> {
    let text = match length {
        Length::Pixels(pixels) => return Ok(pixels / INCH),
        Length::Text(text) => text.trim(),
    };
    let (number, unit) = text.split_at(text.trim_end_matches(char::is_alphabetic).len());
    let per_inch = match unit {
        "" | "px" => INCH,
        "in" => 1.0,
        "cm" => 2.54,
        "mm" => 25.4,
        _ => return Err(Failure::new(format!("Unknown unit: {text}"))),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| Failure::new(format!("Not a length: {text}")))?;
    Ok(number / per_inch)
}
