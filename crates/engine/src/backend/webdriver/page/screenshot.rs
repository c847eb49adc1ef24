//! Screenshots.

use super::WebDriverPage;
use crate::backend::image::{convert, is_scaled, pixel_span};
use crate::backend::{Capture, Feature, PdfOptions, Screenshot, ScreenshotArea, ScreenshotFormat};
use crate::error::{Error, Result};
use async_trait::async_trait;
use base64::Engine as _;
use serde::Deserialize;
use serde_json::{Value, json};
use task::compute;
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
struct PixelBox {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

#[async_trait]
impl Capture for WebDriverPage {
    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        if options.area == ScreenshotArea::Viewport && !self.has_inspector() {
            let png = self.send_to_main(&TakeScreenshot {}).await?.0;
            return converted(png, None, options).await;
        }
        let main = self.main.clone();
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
            return converted(png, None, options).await;
        }
        // A driver draws the viewport only: what lies outside of it stays out of the picture.
        let png = self.send_to_main(&TakeScreenshot {}).await?.0;
        let shown = pixel_box(scroll_x, scroll_y, number(4), number(5));
        let x = wanted.x.saturating_sub(shown.x);
        let y = wanted.y.saturating_sub(shown.y);
        converted(png, Some([x, y, wanted.width, wanted.height]), options).await
    }

    async fn pdf(&self, _options: &PdfOptions) -> Result<Vec<u8>> {
        self.require(Feature::Pdf)?;
        Err(Error::PageClosed {})
    }
}

impl WebDriverPage {
    /// A part of the document, wherever it is scrolled to.
    async fn snapshot(&self, part: PixelBox) -> Result<Vec<u8>> {
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
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a document, not before its beginning"
)]
fn pixel_box(x: f64, y: f64, width: f64, height: f64) -> PixelBox {
    let (x, width) = pixel_span(x, width, 0.0);
    let (y, height) = pixel_span(y, height, 0.0);
    let [x, y, width, height] = [x, y, width, height].map(|length| length as u32);
    PixelBox {
        x,
        y,
        width,
        height,
    }
}

/// The screenshot as it was requested; a part of it, if one is given.
async fn converted(png: Vec<u8>, part: Option<[u32; 4]>, options: &Screenshot) -> Result<Vec<u8>> {
    let scale = options.shrink;
    if part.is_none() && options.format == ScreenshotFormat::Png && !is_scaled(scale) {
        return Ok(png);
    }
    let options = options.clone();
    compute(move || convert(&png, part, scale, &options))
        .await
        .map_err(|error| screenshot_error(&error))
}

fn screenshot_error(error: &dyn std::fmt::Display) -> Error {
    Error::protocol("Take Screenshot", error)
}
