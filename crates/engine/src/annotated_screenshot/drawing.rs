//! Drawing boxes and labels.

use crate::snapshot::VisibleRef;
use image::{Rgb, RgbImage};

/// The colors of boxes, on which white text is legible. Neighbours have different ones.
const COLORS: [[u8; 3]; 6] = [
    [200, 0, 40],
    [0, 90, 200],
    [0, 120, 40],
    [140, 0, 160],
    [180, 80, 0],
    [0, 110, 120],
];
const WHITE: Rgb<u8> = Rgb([255, 255, 255]);

/// The letters of refs, in three columns and five rows of bits.
const GLYPHS: [(char, [u8; 5]); 12] = [
    ('0', [0b111, 0b101, 0b101, 0b101, 0b111]),
    ('1', [0b010, 0b110, 0b010, 0b010, 0b111]),
    ('2', [0b111, 0b001, 0b111, 0b100, 0b111]),
    ('3', [0b111, 0b001, 0b111, 0b001, 0b111]),
    ('4', [0b101, 0b101, 0b111, 0b001, 0b001]),
    ('5', [0b111, 0b100, 0b111, 0b001, 0b111]),
    ('6', [0b111, 0b100, 0b111, 0b101, 0b111]),
    ('7', [0b111, 0b001, 0b010, 0b010, 0b010]),
    ('8', [0b111, 0b101, 0b111, 0b101, 0b111]),
    ('9', [0b111, 0b101, 0b111, 0b001, 0b111]),
    ('e', [0b010, 0b101, 0b111, 0b100, 0b011]),
    ('f', [0b011, 0b100, 0b110, 0b100, 0b100]),
];
const COLUMNS: u32 = 3;
const ROWS: u32 = 5;
/// The size of a bit, and the space around letters, in pixels.
const BIT: u32 = 2;
const LETTER_WIDTH: u32 = COLUMNS * BIT + BIT;
const LABEL_HEIGHT: u32 = ROWS * BIT + 2 * BIT;
/// The width of a line of a box.
const LINE: u32 = 2;

/// Draws the boxes of the elements, which are scaled by `scale`, and then their refs.
pub(super) fn draw(image: &mut RgbImage, elements: &[VisibleRef], scale: f64) {
    let boxes: Vec<_> = elements
        .iter()
        .map(|element| element.bounds.map(|length| pixels(length * scale)))
        .zip(COLORS.iter().cycle().map(|color| Rgb(*color)))
        .collect();
    for &([x, y, width, height], color) in &boxes {
        fill(image, [x, y, width, LINE], color);
        fill(
            image,
            [x, (y + height).saturating_sub(LINE), width, LINE],
            color,
        );
        fill(image, [x, y, LINE, height], color);
        fill(
            image,
            [(x + width).saturating_sub(LINE), y, LINE, height],
            color,
        );
    }
    for (element, ([x, y, ..], color)) in elements.iter().zip(boxes) {
        label(image, text(&element.reference), (x, y), color);
    }
}

/// Returns the ref without the name of its context, which is the same for all.
fn text(reference: &str) -> &str {
    reference.rsplit(':').next().unwrap_or(reference)
}

/// Draws a text above a point, or below it at the edge of the image.
fn label(image: &mut RgbImage, text: &str, (x, y): (u32, u32), color: Rgb<u8>) {
    let letters = u32::try_from(text.len()).unwrap_or_default();
    let width = letters * LETTER_WIDTH + BIT;
    let x = x.min(image.width().saturating_sub(width));
    let y = y.checked_sub(LABEL_HEIGHT).unwrap_or(y);
    fill(image, [x, y, width, LABEL_HEIGHT], color);
    for (index, letter) in (0..).zip(text.chars()) {
        let Some((_, rows)) = GLYPHS.iter().find(|(known, _)| *known == letter) else {
            continue;
        };
        let left = x + BIT + index * LETTER_WIDTH;
        for (row, bits) in (0..).zip(rows) {
            for column in (0..COLUMNS).filter(|column| bits >> (COLUMNS - 1 - column) & 1 == 1) {
                let at = [left + column * BIT, y + BIT + row * BIT, BIT, BIT];
                fill(image, at, WHITE);
            }
        }
    }
}

/// Fills a rectangle: x, y, width and height. What is outside of the image is left out.
fn fill(image: &mut RgbImage, [x, y, width, height]: [u32; 4], color: Rgb<u8>) {
    for y in y..(y + height).min(image.height()) {
        for x in x..(x + width).min(image.width()) {
            image.put_pixel(x, y, color);
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a position in an image"
)]
fn pixels(length: f64) -> u32 {
    length.round().max(0.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(reference: &str, bounds: [f64; 4]) -> VisibleRef {
        VisibleRef {
            reference: reference.to_owned(),
            role: "button".to_owned(),
            name: String::new(),
            bounds,
        }
    }

    #[test]
    fn a_box_has_its_ref_above_it() {
        let mut image = RgbImage::new(60, 40);
        let elements = [element("admin:e1", [10.0, 20.0, 40.0, 15.0])];
        draw(&mut image, &elements, 1.0);
        let shown: Vec<String> = (6..22)
            .step_by(2)
            .map(|y| {
                let row = (10..30).step_by(2).map(|x| match image.get_pixel(x, y) {
                    Rgb([255, 255, 255]) => '#',
                    Rgb([0, 0, 0]) => ' ',
                    _ => '.',
                });
                row.collect()
            })
            .collect();
        assert_eq!(
            shown,
            [
                ".........  ",
                "..#...#..  ",
                ".#.#.##..  ",
                ".###..#..  ",
                ".#....#..  ",
                "..##.###.  ",
                ".........  ",
                "..........",
            ]
            .map(|row| row[..10].to_owned())
        );
    }

    #[test]
    fn labels_and_boxes_stay_in_the_image() {
        let mut image = RgbImage::new(20, 20);
        let elements = [element("f12e345", [15.0, 0.0, 40.0, 90.0])];
        draw(&mut image, &elements, 1.0);
        assert_ne!(*image.get_pixel(0, 0), Rgb([0, 0, 0]));
    }
}
