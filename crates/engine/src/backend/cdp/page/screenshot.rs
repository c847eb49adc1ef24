//! Screenshots and PDFs.

use super::CdpPage;
use crate::backend::image::{compact, pixel_span};
use crate::backend::{Capture, PdfOptions, Screenshot, ScreenshotArea, ScreenshotFormat};
use crate::error::Result;
use async_trait::async_trait;
use task::compute;
use wire::cdp::page;

#[async_trait]
impl Capture for CdpPage {
    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        let metrics = self.session.call(&page::GetLayoutMetrics {}).await?;
        let visual = &metrics.css_visual_viewport;
        let (x, y, width, height) = match options.area {
            ScreenshotArea::Viewport => (
                visual.page_x,
                visual.page_y,
                visual.client_width,
                visual.client_height,
            ),
            ScreenshotArea::FullPage => {
                let content = &metrics.css_content_size;
                (0.0, 0.0, content.width, content.height)
            }
            // The coordinates of the protocol are relative to the origin of the document.
            ScreenshotArea::Clip {
                x,
                y,
                width,
                height,
            } => {
                let (x, width) = pixel_span(x + visual.page_x, width, f64::NEG_INFINITY);
                let (y, height) = pixel_span(y + visual.page_y, height, f64::NEG_INFINITY);
                (x, y, width, height)
            }
        };
        let factor = self
            .emulation()
            .viewport
            .map_or(1.0, |viewport| viewport.device_scale_factor);
        let scale = if options.css_scale { 1.0 / factor } else { 1.0 };
        // A page whose layout is wider than its screen is scaled down.
        let scale = scale * visual.scale * options.shrink;
        let drawn = self
            .call_in_front(&page::CaptureScreenshot {
                format: Some(match options.format {
                    ScreenshotFormat::Png => page::ImageFormat::Png,
                    ScreenshotFormat::Jpeg => page::ImageFormat::Jpeg,
                    ScreenshotFormat::Webp => page::ImageFormat::Webp,
                }),
                quality: options.quality.map(i64::from),
                // A larger PNG takes much less time and is recompressed later. Other formats would lose quality.
                optimize_for_speed: Some(options.format == ScreenshotFormat::Png),
                clip: Some(page::Viewport {
                    x,
                    y,
                    width,
                    height,
                    scale,
                }),
                capture_beyond_viewport: Some(options.area != ScreenshotArea::Viewport),
                ..Default::default()
            })
            .await?;
        let picture = drawn.data.0;
        Ok(match options.format {
            ScreenshotFormat::Png => compute(move || compact(picture)).await,
            ScreenshotFormat::Jpeg | ScreenshotFormat::Webp => picture,
        })
    }

    async fn pdf(&self, options: &PdfOptions) -> Result<Vec<u8>> {
        let printed = self
            .call_in_front(&page::PrintToPDF {
                landscape: Some(options.landscape),
                print_background: Some(options.background),
                paper_width: Some(options.width),
                paper_height: Some(options.height),
                margin_top: Some(0.0),
                margin_bottom: Some(0.0),
                margin_left: Some(0.0),
                margin_right: Some(0.0),
                ..Default::default()
            })
            .await?;
        Ok(printed.data.0)
    }
}
