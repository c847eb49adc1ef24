//! Screenshots.

use super::WebKitPage;
use crate::backend::image::{convert, is_scaled, pixel_span};
use crate::backend::{Capture, Feature, PdfOptions, Screenshot, ScreenshotArea, ScreenshotFormat};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::Value;
use task::compute;

/// The scroll position of a page, its size, and the size of its viewport.
const EXTENT: &str = "
  const all = document.scrollingElement ?? document.documentElement;
  return [scrollX, scrollY, Math.max(all.scrollWidth, document.documentElement.clientWidth), Math.max(all.scrollHeight, document.documentElement.clientHeight), innerWidth, innerHeight]";

/// A rectangle of whole pixels of a picture or a document: left, top, width, height.
pub(crate) type PixelBox = [u32; 4];
/// The part of a picture that is used; `None` for the whole picture.
pub(crate) type CapturedPart = Option<PixelBox>;

#[async_trait]
impl Capture for WebKitPage {
    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        let (png, part) = self.capture(options.area).await?;
        converted(png, part, options).await
    }

    async fn pdf(&self, _options: &PdfOptions) -> Result<Vec<u8>> {
        self.refuse(Feature::Pdf)
    }
}

impl WebKitPage {
    /// Returns the pixels of the document that an area covers.
    pub(crate) async fn pixel_box_of(&self, area: ScreenshotArea) -> Result<PixelBox> {
        let main = self.main.clone();
        let extent = self.run_raw(&main, EXTENT.to_owned(), vec![]).await?;
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

/// Converts a part of a picture to the requested format and size.
async fn converted(png: Vec<u8>, part: CapturedPart, options: &Screenshot) -> Result<Vec<u8>> {
    let scale = options.shrink;
    if part.is_none() && options.format == ScreenshotFormat::Png && !is_scaled(scale) {
        return Ok(png);
    }
    let options = options.clone();
    compute(move || convert(&png, part, scale, &options))
        .await
        .map_err(|error| screenshot_error(&error))
}

pub(crate) fn screenshot_error(error: &dyn std::fmt::Display) -> Error {
    Error::protocol("Take Screenshot", error)
}
