//! Screenshots and PDFs.

use super::BidiPage;
use crate::backend::image::{convert, is_scaled, pixel_span};
use crate::backend::{Capture, PdfOptions, Screenshot, ScreenshotArea, ScreenshotFormat};
use crate::error::{Error, Result};
use async_trait::async_trait;
use std::time::Duration;
use task::compute;
use wire::bidi::browsing_context::{
    CaptureScreenshot, Clip, ImageFormat, Margin, PaperSize, Print,
};

/// The largest number of attempts for a page whose document is being replaced.
const MAX_ATTEMPTS: u32 = 10;
/// Part of Firefox's message for a document that was replaced during the screenshot.
const CAPTURE_FAILED: &str = "Unable to capture screenshot";
const RETRY_INTERVAL: Duration = Duration::from_millis(10);
const CENTIMETRES: f64 = 2.54;

#[async_trait]
impl Capture for BidiPage {
    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        let scale = if options.css_scale {
            1.0 / self.device_scale_factor()
        } else {
            1.0
        } * options.shrink;
        let resized = is_scaled(scale);
        let format = ImageFormat {
            kind: match options.format {
                _ if resized => "image/png",
                ScreenshotFormat::Png => "image/png",
                ScreenshotFormat::Jpeg => "image/jpeg",
                ScreenshotFormat::Webp => "image/webp",
            },
            quality: options
                .quality
                .filter(|_| !resized)
                .map(|quality| f64::from(quality) / 100.0),
        };
        let (origin, clip) = match options.area {
            ScreenshotArea::Viewport => ("viewport", None),
            ScreenshotArea::FullPage => ("document", None),
            // Areas outside of the viewport are relative to the origin of the document.
            ScreenshotArea::Clip {
                x,
                y,
                width,
                height,
            } => {
                let (scroll_x, scroll_y) = self.scroll_position().await?;
                let (x, width) = pixel_span(x + scroll_x, width, 0.0);
                let (y, height) = pixel_span(y + scroll_y, height, 0.0);
                let clip = Clip {
                    kind: "box",
                    x,
                    y,
                    width,
                    height,
                };
                ("document", Some(clip))
            }
        };
        let command = CaptureScreenshot {
            context: self.name(),
            origin,
            format,
            clip,
        };
        let mut tries = 1;
        let drawn = loop {
            match self.root().call(&command).await {
                // The document was replaced meanwhile.
                Err(wire::Error::Refused { message, .. })
                    if message.starts_with(CAPTURE_FAILED) && tries < MAX_ATTEMPTS =>
                {
                    tries += 1;
                    // The next document needs time to render.
                    tokio::time::sleep(RETRY_INTERVAL).await;
                }
                drawn => break drawn?,
            }
        };
        if resized {
            let (png, options) = (drawn.data.0, options.clone());
            let converted = compute(move || convert(&png, None, scale, &options)).await;
            return converted
                .map_err(|error| Error::protocol("browsingContext.captureScreenshot", error));
        }
        Ok(drawn.data.0)
    }

    async fn pdf(&self, options: &PdfOptions) -> Result<Vec<u8>> {
        let printed = self
            .root()
            .call(&Print {
                context: self.name(),
                background: options.background,
                margin: Margin::default(),
                orientation: if options.landscape {
                    "landscape"
                } else {
                    "portrait"
                },
                page: PaperSize {
                    width: options.width * CENTIMETRES,
                    height: options.height * CENTIMETRES,
                },
                shrink_to_fit: true,
            })
            .await?;
        Ok(printed.data.0)
    }
}

impl BidiPage {
    async fn scroll_position(&self) -> Result<(f64, f64)> {
        let at = self
            .in_sandbox(&self.main, "() => [scrollX, scrollY].join()", vec![])
            .await?;
        let text: String = at.decode().unwrap_or_default();
        let (x, y) = text.split_once(',').unwrap_or_default();
        Ok((x.parse().unwrap_or(0.0), y.parse().unwrap_or(0.0)))
    }
}
