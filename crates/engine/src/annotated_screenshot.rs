//! Screenshots on which the elements that a person can act on have boxes with their refs. They are drawn on the image, so that pages cannot see
//! them.

mod drawing;

use crate::backend::image::{decode, encode, scaled};
use crate::backend::{Point, Screenshot, ScreenshotArea, ScreenshotFormat};
use crate::error::{Error, Result};
use crate::frame::FrameFacts;
use crate::injected::VISIBLE;
use crate::page::Page;
use crate::progress::Progress;
use crate::snapshot::VisibleRef;
use drawing::draw;
use image::DynamicImage;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use task::compute;

/// The position of a screenshot in its page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// The top left corner, in CSS pixels of the main frame's viewport.
    pub origin: Point,
    /// Pixels of the image per CSS pixel.
    pub scale: f64,
}

/// A screenshot with the elements that it shows.
#[derive(Debug, Clone)]
pub struct AnnotatedScreenshot {
    picture: Arc<DynamicImage>,
    /// The elements with their boxes in pixels of the picture.
    elements: Arc<Vec<VisibleRef>>,
}

impl Page {
    /// Returns the position of a screenshot with these options.
    pub async fn placement(&self, progress: &Progress, options: &Screenshot) -> Result<Placement> {
        #[derive(Deserialize)]
        struct View {
            scroll: Point,
            scale: f64,
            ratio: f64,
        }
        let main = self.main_frame();
        let view = async {
            self.inject_devtools(&main).await?;
            self.call(&main, "view", &Value::Null).await
        };
        let view: View = progress.run(view).await?;
        let origin = match options.area {
            ScreenshotArea::Viewport => Point { x: 0.0, y: 0.0 },
            ScreenshotArea::FullPage => Point {
                x: -view.scroll.x,
                y: -view.scroll.y,
            },
            // The image begins with a whole pixel of the document.
            ScreenshotArea::Clip { x, y, .. } => Point {
                x: (x + view.scroll.x).floor() - view.scroll.x,
                y: (y + view.scroll.y).floor() - view.scroll.y,
            },
        };
        let ratio = if options.css_scale { 1.0 } else { view.ratio };
        Ok(Placement {
            origin,
            scale: ratio * view.scale * options.shrink,
        })
    }

    /// Takes a screenshot whose images have the refs of a compact snapshot. The format, the quality and the size are those of each image.
    pub async fn annotated_screenshot(
        &self,
        progress: &Progress,
        options: &Screenshot,
    ) -> Result<AnnotatedScreenshot> {
        let options = Screenshot {
            format: ScreenshotFormat::Png,
            shrink: 1.0,
            ..options.clone()
        };
        let Placement { origin, scale } = self.placement(progress, &options).await?;
        let mut elements = progress.run(self.visible_refs()).await?;
        let png = self.screenshot(progress, &options).await?;
        let picture = compute(move || decode(&png)).await.map_err(failed)?;
        let size = (f64::from(picture.width()), f64::from(picture.height()));
        elements.retain_mut(|element| {
            let [x, y, width, height] = element.bounds;
            let (left, top) = ((x - origin.x) * scale, (y - origin.y) * scale);
            let (right, bottom) = (left + width * scale, top + height * scale);
            let (left, top) = (left.max(0.0), top.max(0.0));
            let (width, height) = (right.min(size.0) - left, bottom.min(size.1) - top);
            element.bounds = [left, top, width, height];
            width >= 1.0 && height >= 1.0
        });
        Ok(AnnotatedScreenshot {
            picture: Arc::new(picture),
            elements: Arc::new(elements),
        })
    }
}

impl Page {
    /// Returns the elements that a person sees and can act on, with their boxes in CSS pixels of the main frame's viewport.
    async fn visible_refs(&self) -> Result<Vec<VisibleRef>> {
        let candidates = self.candidates().await?;
        let mut boxes = vec![None; candidates.len()];
        for frame in self.frames() {
            let prefix = self.prefix_of(&frame.id);
            let inside = candidates.iter().enumerate();
            let inside = inside.filter(|(_, candidate)| candidate.prefix == prefix);
            let (indexes, refs): (Vec<_>, Vec<_>) = inside
                .map(|(index, candidate)| (index, candidate.number))
                .unzip();
            if refs.is_empty() {
                continue;
            }
            match self.visible_boxes(&frame, &refs).await {
                Ok(found) => {
                    for (index, area) in indexes.into_iter().zip(found) {
                        boxes[index] = area;
                    }
                }
                Err(error) if frame.parent.is_none() => return Err(error),
                // A frame that was removed shows nothing.
                Err(error) => tracing::debug!(%error, "no boxes in a frame"),
            }
        }
        let mut visible = Vec::new();
        for (index, candidate) in candidates.into_iter().enumerate() {
            if let Some(owner) = candidate.owner {
                boxes[index] = common(boxes[index], boxes[owner]);
            }
            if let (Some(bounds), Some(shown)) = (boxes[index], candidate.shown) {
                visible.push(VisibleRef { bounds, ..shown });
            }
        }
        Ok(visible)
    }

    /// Returns the visible box of each ref of a frame, in the main frame's viewport.
    async fn visible_boxes(
        &self,
        frame: &FrameFacts,
        refs: &[u32],
    ) -> Result<Vec<Option<[f64; 4]>>> {
        // The script extends the core, which a new document may not have yet.
        let _: Value = self.call(&frame.id, "origin", &Value::Null).await?;
        self.unless_interrupted(self.backend.inject_script(&frame.id, VISIBLE))
            .await?;
        let argument = json!({ "refs": refs, "testId": self.state().test_id.as_ref() });
        let boxes: Vec<Option<[f64; 4]>> = self.call(&frame.id, "visibleBoxes", &argument).await?;
        if frame.parent.is_none() {
            return Ok(boxes);
        }
        let start = self.to_main(&frame.id, Point { x: 0.0, y: 0.0 }).await?;
        let end = self.to_main(&frame.id, Point { x: 1.0, y: 1.0 }).await?;
        let (scale_x, scale_y) = (end.x - start.x, end.y - start.y);
        let outside = |[x, y, width, height]: [f64; 4]| {
            [
                start.x + x * scale_x,
                start.y + y * scale_y,
                width * scale_x,
                height * scale_y,
            ]
        };
        Ok(boxes.into_iter().map(|area| area.map(outside)).collect())
    }
}

/// Returns what two boxes have in common.
fn common(one: Option<[f64; 4]>, other: Option<[f64; 4]>) -> Option<[f64; 4]> {
    let ([x, y, width, height], [left, top, most_width, most_height]) = (one?, other?);
    let right = (x + width).min(left + most_width);
    let bottom = (y + height).min(top + most_height);
    let (x, y) = (x.max(left), y.max(top));
    let is_seen = right > x && bottom > y;
    is_seen.then_some([x, y, right - x, bottom - y])
}

impl AnnotatedScreenshot {
    /// Returns the elements that the image shows, in the order of the document.
    pub fn elements(&self) -> &[VisibleRef] {
        &self.elements
    }

    /// Returns the image in the format, the quality and the size of the options.
    pub async fn image(&self, options: &Screenshot) -> Result<Vec<u8>> {
        let (screenshot, options) = (self.clone(), options.clone());
        compute(move || {
            let shrink = options.shrink;
            let mut image = scaled((*screenshot.picture).clone(), shrink).into_rgb8();
            draw(&mut image, &screenshot.elements, shrink);
            encode(&DynamicImage::ImageRgb8(image), &options)
        })
        .await
        .map_err(failed)
    }
}

fn failed(error: image::ImageError) -> Error {
    Error::protocol("screenshot", error)
}
