//! Screenshots and prints.

use super::page::BidiPage;
use crate::backend::{PdfOptions, Screenshot, ScreenshotArea, ScreenshotFormat};
use crate::error::{Error, Result};
use crate::task::compute;
use std::time::Duration;
use wire::bidi::browsing_context::{
    CaptureScreenshot, Clip, ImageFormat, Margin, PaperSize, Print,
};

/// How often a page is drawn that loads another document at that moment.
const MAX_ATTEMPTS: u32 = 10;
/// What Firefox says of a document that went while it was drawn.
const UNDRAWN: &str = "Unable to capture screenshot";
const RETRY_INTERVAL: Duration = Duration::from_millis(10);
const CENTIMETRES: f64 = 2.54;

impl BidiPage {
    pub(super) async fn capture_screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        let scale = if options.css_scale {
            1.0 / self.device_scale_factor()
        } else {
            1.0
        } * options.shrink;
        let resized = (scale - 1.0).abs() > 1e-6;
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
            // What lies outside of the viewport is drawn from the document's corner.
            ScreenshotArea::Clip {
                x,
                y,
                width,
                height,
            } => {
                let (scroll_x, scroll_y) = self.scroll_position().await?;
                let (x, width) = pixel_span(x + scroll_x, width);
                let (y, height) = pixel_span(y + scroll_y, height);
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
            match self.root.call(&command).await {
                // The document went meanwhile.
                Err(wire::Error::Refused { message, .. })
                    if message.starts_with(UNDRAWN) && tries < MAX_ATTEMPTS =>
                {
                    tries += 1;
                    // Until the next one is drawn.
                    tokio::time::sleep(RETRY_INTERVAL).await;
                }
                drawn => break drawn?,
            }
        };
        if resized {
            let (png, options) = (drawn.data.0, options.clone());
            return compute(move || downscale(&png, scale, &options)).await;
        }
        Ok(drawn.data.0)
    }

    async fn scroll_position(&self) -> Result<(f64, f64)> {
        let main = crate::backend::PageBackend::main_frame(self);
        let at = self
            .in_sandbox(&main, "() => [scrollX, scrollY].join()", vec![])
            .await?;
        let text: String = at.decode().unwrap_or_default();
        let (x, y) = text.split_once(',').unwrap_or_default();
        Ok((x.parse().unwrap_or(0.0), y.parse().unwrap_or(0.0)))
    }

    pub(super) async fn print(&self, options: &PdfOptions) -> Result<Vec<u8>> {
        let printed = self
            .root
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

/// The whole pixels that a stretch touches: where they begin, and how many they are.
fn pixel_span(start: f64, length: f64) -> (f64, f64) {
    /// Layout is in fractions; what is less of a pixel than this is nothing.
    const TOLERANCE: f64 = 1e-3;
    let first = (start + TOLERANCE).floor().max(0.0);
    let end = (start + length - TOLERANCE).ceil();
    (first, (end - first).max(1.0))
}

/// Firefox draws as many pixels as there are, so fewer are made of them here.
fn downscale(png: &[u8], scale: f64, options: &Screenshot) -> Result<Vec<u8>> {
    use image::{DynamicImage, ImageFormat as Format, codecs, imageops::FilterType};
    let failed = |error: image::ImageError| Error::Protocol {
        method: "browsingContext.captureScreenshot".to_owned(),
        message: error.to_string(),
    };
    let full = image::load_from_memory_with_format(png, Format::Png).map_err(failed)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size in pixels"
    )]
    let scaled = |length: u32| (f64::from(length) * scale).round().max(1.0) as u32;
    let (width, height) = (scaled(full.width()), scaled(full.height()));
    let small = full.resize_exact(width, height, FilterType::Triangle);
    let mut bytes = std::io::Cursor::new(Vec::new());
    match options.format {
        ScreenshotFormat::Png => small.write_to(&mut bytes, Format::Png),
        ScreenshotFormat::Webp => {
            DynamicImage::ImageRgba8(small.into_rgba8()).write_to(&mut bytes, Format::WebP)
        }
        ScreenshotFormat::Jpeg => {
            let quality = options.quality.unwrap_or(80);
            let encoder = codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, quality);
            small.into_rgb8().write_with_encoder(encoder)
        }
    }
    .map_err(failed)?;
    Ok(bytes.into_inner())
}
