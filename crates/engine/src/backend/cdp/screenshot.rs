//! Screenshots and prints.

use super::page::CdpPage;
use crate::backend::compact::compact;
use crate::backend::{PdfOptions, Screenshot, ScreenshotArea, ScreenshotFormat};
use crate::error::Result;
use crate::task::compute;
use wire::cdp::page;

impl CdpPage {
    pub(super) async fn capture_screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        let metrics = self.session().call(&page::GetLayoutMetrics {}).await?;
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
            // The protocol counts from the document's corner.
            ScreenshotArea::Clip {
                x,
                y,
                width,
                height,
            } => {
                let (x, width) = pixel_span(x + visual.page_x, width);
                let (y, height) = pixel_span(y + visual.page_y, height);
                (x, y, width, height)
            }
        };
        let factor = self
            .emulation()
            .viewport
            .map_or(1.0, |viewport| viewport.device_scale_factor);
        let scale = if options.css_scale { 1.0 / factor } else { 1.0 };
        // A page that is laid out wider than its screen is shown smaller.
        let scale = scale * visual.scale * options.shrink;
        let drawn = self
            .call_in_front(&page::CaptureScreenshot {
                format: Some(match options.format {
                    ScreenshotFormat::Png => page::ImageFormat::Png,
                    ScreenshotFormat::Jpeg => page::ImageFormat::Jpeg,
                    ScreenshotFormat::Webp => page::ImageFormat::Webp,
                }),
                quality: options.quality.map(i64::from),
                // A larger file much sooner, which we make smaller; other formats would lose quality.
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

    pub(super) async fn print(&self, options: &PdfOptions) -> Result<Vec<u8>> {
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

/// The whole pixels that a stretch touches: where they begin, and how many they are.
fn pixel_span(start: f64, length: f64) -> (f64, f64) {
    /// Layout is in fractions; what is less of a pixel than this is nothing.
    const TOLERANCE: f64 = 1e-3;
    let first = (start + TOLERANCE).floor();
    let end = (start + length - TOLERANCE).ceil();
    (first, (end - first).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::pixel_span;

    #[test]
    fn a_screenshot_contains_every_pixel_of_the_element() {
        assert_eq!(pixel_span(10.0, 20.0), (10.0, 20.0));
        assert_eq!(pixel_span(10.4, 20.0), (10.0, 21.0));
        assert_eq!(pixel_span(9.999_9, 20.000_2), (10.0, 20.0));
    }
}
