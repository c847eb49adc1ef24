//! Screenshots.

use super::WebKitPage;
use crate::backend::image::{convert, is_scaled, pixel_span};
use crate::backend::{Capture, Feature, PdfOptions, Screenshot, ScreenshotArea, ScreenshotFormat};
use crate::error::{Error, Result};
use async_trait::async_trait;
use base64::Engine as _;
use serde_json::{Value, json};
use task::compute;

/// The scroll position of a page, its size, and the size of its viewport.
const EXTENT: &str = "() => {
  const all = document.scrollingElement ?? document.documentElement;
  return [scrollX, scrollY, Math.max(all.scrollWidth, document.documentElement.clientWidth), Math.max(all.scrollHeight, document.documentElement.clientHeight), innerWidth, innerHeight];
}";

/// A rectangle of whole pixels of a document: left, top, width, height.
type PixelBox = [u32; 4];

#[async_trait]
impl Capture for WebKitPage {
    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        let [x, y, width, height] = self.pixel_box_of(options.area).await?;
        let rectangle = json!({
            "x": x,
            "y": y,
            "width": width,
            "height": height,
            "coordinateSystem": "Page",
        });
        converted(self.snapshot_rect(&rectangle).await?, options).await
    }

    async fn pdf(&self, _options: &PdfOptions) -> Result<Vec<u8>> {
        self.refuse(Feature::Pdf)
    }
}

impl WebKitPage {
    /// Takes a PNG screenshot of the viewport.
    pub(super) async fn capture_frame(&self) -> Result<Vec<u8>> {
        let [_, _, width, height] = self.pixel_box_of(ScreenshotArea::Viewport).await?;
        let rectangle = json!({
            "x": 0,
            "y": 0,
            "width": width,
            "height": height,
            "coordinateSystem": "Viewport",
        });
        self.snapshot_rect(&rectangle).await
    }

    /// Returns a PNG of a part of the page.
    async fn snapshot_rect(&self, rectangle: &Value) -> Result<Vec<u8>> {
        let snapshot: Value = self.call_inspector("Page.snapshotRect", rectangle).await?;
        let data_url = snapshot["dataURL"].as_str().unwrap_or_default();
        let (_, data) = data_url
            .split_once(";base64,")
            .ok_or_else(|| screenshot_error(&"no picture"))?;
        let png = base64::engine::general_purpose::STANDARD.decode(data);
        png.map_err(|error| screenshot_error(&error))
    }

    /// Returns the pixels of the document that an area covers.
    async fn pixel_box_of(&self, area: ScreenshotArea) -> Result<PixelBox> {
        let main = self.main.clone();
        let extent = self.run(&main, EXTENT, &[]).await?;
        let number = |index: usize| extent.get(index).and_then(Value::as_f64).unwrap_or(0.0);
        let (scroll_x, scroll_y) = (number(0), number(1));
        Ok(match area {
            ScreenshotArea::Clip {
                x,
                y,
                width,
                height,
            } => pixel_box(x + scroll_x, y + scroll_y, width, height),
            ScreenshotArea::Viewport => pixel_box(scroll_x, scroll_y, number(4), number(5)),
            ScreenshotArea::FullPage => pixel_box(0.0, 0.0, number(2), number(3)),
        })
    }
}

/// Returns the whole pixels that a rectangle touches.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position in a document, which is not negative"
)]
fn pixel_box(x: f64, y: f64, width: f64, height: f64) -> PixelBox {
    let (x, width) = pixel_span(x, width, 0.0);
    let (y, height) = pixel_span(y, height, 0.0);
    [x, y, width, height].map(|length| length as u32)
}

/// Converts a picture to the requested format and size.
async fn converted(png: Vec<u8>, options: &Screenshot) -> Result<Vec<u8>> {
    let scale = options.shrink;
    if options.format == ScreenshotFormat::Png && !is_scaled(scale) {
        return Ok(png);
    }
    let options = options.clone();
    compute(move || convert(&png, None, scale, &options))
        .await
        .map_err(|error| screenshot_error(&error))
}

fn screenshot_error(error: &dyn std::fmt::Display) -> Error {
    Error::protocol("Page.snapshotRect", error)
}
