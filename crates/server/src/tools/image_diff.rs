//! The differences between two images, pixel by pixel, with a tolerance for colours that look alike.

use image::{Rgba, RgbaImage, imageops};
use std::collections::VecDeque;

/// The side of a cell, in pixels. Differences in adjacent cells are one region.
const CELL_SIDE: u32 = 16;
/// The highest number of regions. The smallest ones are left out.
const MAX_REGIONS: usize = 50;
/// The largest value of [`distance`].
const MAX_DISTANCE: f64 = 35_215.0;

/// The differences between two images.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Difference {
    /// The number of pixels that differ. Pixels that only one image has differ.
    pub(crate) pixels: u64,
    /// The share of pixels that differ, in percent.
    pub(crate) percent: f64,
    /// Rectangles around the differences, from top to bottom.
    pub(crate) regions: Vec<Region>,
}

/// A rectangle, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// The number of pixels in the rectangle that differ.
    pub(crate) pixels: u64,
}

/// Compares two images. `threshold`, from 0 to 1, is the largest distance between colours that count as equal. Returns the differences, and
/// a pale copy of the new image with the differences marked.
pub(crate) fn compare(old: &RgbaImage, new: &RgbaImage, threshold: f64) -> (Difference, RgbaImage) {
    let (width, height) = (old.width().max(new.width()), old.height().max(new.height()));
    let max_distance = MAX_DISTANCE * threshold * threshold;
    let mut marked = RgbaImage::new(width, height);
    let columns = width.div_ceil(CELL_SIDE);
    let mut cells = vec![None::<Region>; (columns * height.div_ceil(CELL_SIDE)) as usize];
    let mut pixels = 0;
    for y in 0..height {
        for x in 0..width {
            let (before, after) = (old.get_pixel_checked(x, y), new.get_pixel_checked(x, y));
            let same = match (before, after) {
                (Some(before), Some(after)) => {
                    before == after || distance(*before, *after) <= max_distance
                }
                _ => false,
            };
            let shown = match after.or(before) {
                Some(pixel) if same => pale(*pixel),
                _ => Rgba([255, 0, 64, 255]),
            };
            marked.put_pixel(x, y, shown);
            if !same {
                pixels += 1;
                let cell = &mut cells[(y / CELL_SIDE * columns + x / CELL_SIDE) as usize];
                let pixel = Region {
                    x,
                    y,
                    width: 1,
                    height: 1,
                    pixels: 1,
                };
                *cell = Some(cell.map_or(pixel, |cell| cell.with(pixel)));
            }
        }
    }
    let regions = regions(cells, columns);
    for region in &regions {
        frame(&mut marked, *region);
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "no image has so many pixels that the error matters"
    )]
    let percent = 100.0 * pixels as f64 / (f64::from(width) * f64::from(height)).max(1.0);
    let difference = Difference {
        pixels,
        percent: (percent * 10_000.0).round() / 10_000.0,
        regions,
    };
    (difference, marked)
}

/// Returns the image with its sides multiplied by `factor`, which is less than 1.
pub(crate) fn scaled(image: &RgbaImage, factor: f64) -> RgbaImage {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the factor is less than 1"
    )]
    let side = |side: u32| ((f64::from(side) * factor).floor() as u32).max(1);
    imageops::thumbnail(image, side(image.width()), side(image.height()))
}

impl Region {
    /// Returns the rectangle around both rectangles.
    fn with(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        Self {
            x,
            y,
            width: (self.x + self.width).max(other.x + other.width) - x,
            height: (self.y + self.height).max(other.y + other.height) - y,
            pixels: self.pixels + other.pixels,
        }
    }
}

/// Returns the regions. Cells that touch each other are one region.
fn regions(mut cells: Vec<Option<Region>>, columns: u32) -> Vec<Region> {
    let mut regions = Vec::new();
    let columns = columns as usize;
    for start in 0..cells.len() {
        let Some(mut region) = cells[start].take() else {
            continue;
        };
        let mut next = VecDeque::from([start]);
        while let Some(index) = next.pop_front() {
            let (row, column) = (index / columns, index % columns);
            for row in row.saturating_sub(1)..=row + 1 {
                for column in column.saturating_sub(1)..=(column + 1).min(columns - 1) {
                    let index = row * columns + column;
                    if let Some(cell) = cells.get_mut(index).and_then(Option::take) {
                        region = region.with(cell);
                        next.push_back(index);
                    }
                }
            }
        }
        regions.push(region);
    }
    regions.sort_by_key(|region| std::cmp::Reverse(region.pixels));
    regions.truncate(MAX_REGIONS);
    regions.sort_by_key(|region| (region.y, region.x));
    regions
}

/// Returns the perceived distance between two colours: the squared difference in the YIQ colour space, weighted.
fn distance(a: Rgba<u8>, b: Rgba<u8>) -> f64 {
    let [r, g, b] = {
        let (a, b) = (blend_with_white(a), blend_with_white(b));
        [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
    };
    let brightness = 0.298_895_31 * r + 0.586_622_47 * g + 0.114_482_23 * b;
    let tint = 0.595_977_99 * r - 0.274_176_10 * g - 0.321_801_89 * b;
    let hue = 0.211_470_17 * r - 0.522_617_11 * g + 0.311_146_94 * b;
    0.5053 * brightness * brightness + 0.299 * tint * tint + 0.1957 * hue * hue
}

fn blend_with_white(Rgba([r, g, b, a]): Rgba<u8>) -> [f64; 3] {
    let opacity = f64::from(a) / 255.0;
    [r, g, b].map(|channel| 255.0 + (f64::from(channel) - 255.0) * opacity)
}

fn pale(pixel: Rgba<u8>) -> Rgba<u8> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 255"
    )]
    let [r, g, b] = blend_with_white(pixel).map(|channel| (255.0 - (255.0 - channel) * 0.35) as u8);
    Rgba([r, g, b, 255])
}

/// Draws a frame around a region, with a gap between them.
fn frame(image: &mut RgbaImage, region: Region) {
    const GAP: u32 = 3;
    const LINE: u32 = 2;
    let (left, top) = (
        region.x.saturating_sub(GAP + LINE),
        region.y.saturating_sub(GAP + LINE),
    );
    let right = (region.x + region.width + GAP + LINE).min(image.width());
    let bottom = (region.y + region.height + GAP + LINE).min(image.height());
    for y in top..bottom {
        let edge = y < top + LINE || y + LINE >= bottom;
        for x in left..right {
            if edge || x < left + LINE || x + LINE >= right {
                image.put_pixel(x, y, Rgba([230, 0, 0, 255]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn white(width: u32, height: u32) -> RgbaImage {
        RgbaImage::from_pixel(width, height, Rgba([255; 4]))
    }

    #[test]
    fn equal_images_have_no_difference() {
        let (difference, marked) = compare(&white(20, 10), &white(20, 10), 0.1);
        assert_eq!((difference.pixels, difference.regions.len()), (0, 0));
        assert_eq!(marked, white(20, 10));
    }

    #[test]
    fn adjacent_differences_are_one_region() {
        let mut new = white(200, 100);
        for (x, y) in [(0, 0), (1, 0), (15, 17), (150, 90)] {
            new.put_pixel(x, y, Rgba([0, 0, 0, 255]));
        }
        let (difference, marked) = compare(&white(200, 100), &new, 0.1);
        let region = |x, y, width, height, pixels| Region {
            x,
            y,
            width,
            height,
            pixels,
        };
        assert_eq!(
            difference.regions,
            [region(0, 0, 16, 18, 3), region(150, 90, 1, 1, 1)]
        );
        assert_eq!((difference.pixels, difference.percent), (4, 0.02));
        assert_eq!(*marked.get_pixel(150, 90), Rgba([255, 0, 64, 255]));
    }

    #[test]
    fn a_shade_is_the_same_up_to_the_threshold() {
        let mut new = white(10, 10);
        new.put_pixel(5, 5, Rgba([250, 250, 250, 255]));
        assert_eq!(compare(&white(10, 10), &new, 0.1).0.pixels, 0);
        assert_eq!(compare(&white(10, 10), &new, 0.0).0.pixels, 1);
    }

    #[test]
    fn areas_of_only_one_image_differ() {
        let (difference, marked) = compare(&white(10, 10), &white(10, 12), 0.1);
        assert_eq!(difference.pixels, 20);
        assert_eq!((marked.width(), marked.height()), (10, 12));
    }
}
