//! Screenshots.

use super::page::WebDriverPage;
use crate::backend::{Screenshot, ScreenshotArea, ScreenshotFormat};
use crate::error::{Error, Result};
use crate::task::compute;
use base64::Engine as _;
use image::{DynamicImage, ImageFormat, codecs, imageops::FilterType};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::webdriver::screenshot::TakeScreenshot;

/// Where a page is scrolled to, and how large it is in all.
const EXTENT: &str = "
  const all = document.scrollingElement ?? document.documentElement;
  return [scrollX, scrollY, Math.max(all.scrollWidth, document.documentElement.clientWidth), Math.max(all.scrollHeight, document.documentElement.clientHeight), innerWidth, innerHeight]";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Snapshot {
    #[serde(rename = "dataURL")]
    data_url: String,
}

/// A rectangle of whole pixels of a document.
#[derive(Debug, Clone, Copy)]
struct Box {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

impl WebDriverPage {
    pub(super) async fn capture_screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        if options.area == ScreenshotArea::Viewport && !self.has_inspector() {
            let png = self.send_to_main(&TakeScreenshot {}).await?.0;
            return finish_screenshot(png, options).await;
        }
        let main = self.main().clone();
        let extent = self.run_raw(&main, EXTENT.to_owned(), vec![]).await?;
        let number = |index: usize| extent.get(index).and_then(Value::as_f64).unwrap_or(0.0);
        let (scroll_x, scroll_y) = (number(0), number(1));
        let wanted = match options.area {
            ScreenshotArea::Clip {
                x,
                y,
                width,
                height,
            } => pixel_box(x + scroll_x, y + scroll_y, width, height),
            // The driver would draw scroll bars too, which come and go.
            ScreenshotArea::Viewport => pixel_box(scroll_x, scroll_y, number(4), number(5)),
            ScreenshotArea::FullPage => pixel_box(0.0, 0.0, number(2), number(3)),
        };
        if self.has_inspector() {
            let png = self.snapshot(wanted).await?;
            return finish_screenshot(png, options).await;
        }
        // A driver draws the viewport only: what lies outside of it stays out of the picture.
        let png = self.send_to_main(&TakeScreenshot {}).await?.0;
        let shown = pixel_box(scroll_x, scroll_y, number(4), number(5));
        let x = wanted.x.saturating_sub(shown.x);
        let y = wanted.y.saturating_sub(shown.y);
        let options = options.clone();
        compute(move || {
            let part = decode_screenshot(&png)?.crop_imm(x, y, wanted.width, wanted.height);
            finish(part, &options)
        })
        .await
    }

    /// A part of the document, wherever it is scrolled to.
    async fn snapshot(&self, part: Box) -> Result<Vec<u8>> {
        let asked = json!({
            "x": part.x,
            "y": part.y,
            "width": part.width,
            "height": part.height,
            "coordinateSystem": "Page",
        });
        let snapshot: Snapshot = self.call_inspector("Page.snapshotRect", &asked).await?;
        let (_, data) = snapshot
            .data_url
            .split_once(";base64,")
            .ok_or_else(|| screenshot_error(&"no picture"))?;
        base64::engine::general_purpose::STANDARD
            .decode(data)
            .map_err(|error| screenshot_error(&error))
    }
}

/// The whole pixels that a rectangle touches.
fn pixel_box(x: f64, y: f64, width: f64, height: f64) -> Box {
    /// Layout is in fractions; what is less of a pixel than this is nothing.
    const TOLERANCE: f64 = 1e-3;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place in a document, not before its beginning"
    )]
    let stretch = |start: f64, length: f64| {
        let first = (start + TOLERANCE).floor().max(0.0);
        let end = (start + length - TOLERANCE).ceil();
        (first as u32, (end - first).max(1.0) as u32)
    };
    let (x, width) = stretch(x, width);
    let (y, height) = stretch(y, height);
    Box {
        x,
        y,
        width,
        height,
    }
}

/// The picture as it was asked for.
async fn finish_screenshot(png: Vec<u8>, options: &Screenshot) -> Result<Vec<u8>> {
    if options.format == ScreenshotFormat::Png && (options.shrink - 1.0).abs() < 1e-6 {
        return Ok(png);
    }
    let options = options.clone();
    compute(move || finish(decode_screenshot(&png)?, &options)).await
}

fn decode_screenshot(png: &[u8]) -> Result<DynamicImage> {
    image::load_from_memory_with_format(png, ImageFormat::Png)
        .map_err(|error| screenshot_error(&error))
}

fn finish(mut picture: DynamicImage, options: &Screenshot) -> Result<Vec<u8>> {
    if (options.shrink - 1.0).abs() > 1e-6 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a size in pixels"
        )]
        let scaled = |length: u32| (f64::from(length) * options.shrink).round().max(1.0) as u32;
        let (width, height) = (scaled(picture.width()), scaled(picture.height()));
        picture = picture.resize_exact(width, height, FilterType::Triangle);
    }
    let mut bytes = std::io::Cursor::new(Vec::new());
    match options.format {
        ScreenshotFormat::Png => picture.write_to(&mut bytes, ImageFormat::Png),
        ScreenshotFormat::Webp => {
            DynamicImage::ImageRgba8(picture.into_rgba8()).write_to(&mut bytes, ImageFormat::WebP)
        }
        ScreenshotFormat::Jpeg => {
            let quality = options.quality.unwrap_or(80);
            let encoder = codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, quality);
            picture.into_rgb8().write_with_encoder(encoder)
        }
    }
    .map_err(|error| screenshot_error(&error))?;
    Ok(bytes.into_inner())
}

fn screenshot_error(error: &dyn std::fmt::Display) -> Error {
    Error::Protocol {
        method: "Take Screenshot".to_owned(),
        message: error.to_string(),
    }
}
