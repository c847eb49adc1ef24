//! Processing of screenshots after the browser has taken them.

use super::{Screenshot, ScreenshotFormat};
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageResult};
use std::io::{Cursor, Write as _};

/// Recompresses a PNG with the default level of `zlib`. The encoder of the browser takes as long for a plain page and many
/// times as long for a colourful one, on the rendering thread. Invalid data is returned unchanged.
pub(crate) fn compact(png: Vec<u8>) -> Vec<u8> {
    let smaller = recompress(&png).ok();
    smaller.filter(|new| new.len() < png.len()).unwrap_or(png)
}

/// Processes one row after the other, because a screenshot can have a hundred megapixels.
fn recompress(png: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut rows = png::Decoder::new(Cursor::new(png)).read_info()?;
    let info = rows.info().clone();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::with_info(&mut bytes, info)?;
    encoder.set_compression(png::Compression::Balanced);
    let mut picture = encoder.write_header()?;
    let mut stream = picture.stream_writer()?;
    while let Some(row) = rows.next_row()? {
        stream.write_all(row.data())?;
    }
    stream.finish()?;
    drop(picture);
    Ok(bytes)
}

/// Returns the whole pixels that an interval touches: the first one, not before `least`, and their number.
pub(crate) fn pixel_span(start: f64, length: f64, least: f64) -> (f64, f64) {
    /// The part of a pixel that is ignored, because layout coordinates are fractions.
    const TOLERANCE: f64 = 1e-3;
    let first = (start + TOLERANCE).floor().max(least);
    let end = (start + length - TOLERANCE).ceil();
    (first, (end - first).max(1.0))
}

/// Whether a screenshot at this scale must be resized.
pub(crate) fn is_scaled(scale: f64) -> bool {
    (scale - 1.0).abs() > 1e-6
}

/// Converts a PNG to the requested format and scale. `area` is a part of it: left, top, width and height.
pub(crate) fn convert(
    png: &[u8],
    part: Option<[u32; 4]>,
    scale: f64,
    options: &Screenshot,
) -> ImageResult<Vec<u8>> {
    let mut picture = decode(png)?;
    if let Some([x, y, width, height]) = part {
        picture = picture.crop_imm(x, y, width, height);
    }
    encode(&scaled(picture, scale), options)
}

/// Decodes a PNG.
pub(crate) fn decode(png: &[u8]) -> ImageResult<DynamicImage> {
    image::load_from_memory_with_format(png, ImageFormat::Png)
}

/// Returns the image at this scale.
pub(crate) fn scaled(picture: DynamicImage, scale: f64) -> DynamicImage {
    if !is_scaled(scale) {
        return picture;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size in pixels"
    )]
    let side = |length: u32| (f64::from(length) * scale).round().max(1.0) as u32;
    let (width, height) = (side(picture.width()), side(picture.height()));
    picture.resize_exact(width, height, FilterType::Triangle)
}

/// Encodes an image in the requested format.
pub(crate) fn encode(picture: &DynamicImage, options: &Screenshot) -> ImageResult<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    match options.format {
        ScreenshotFormat::Png => picture.write_to(&mut bytes, ImageFormat::Png),
        ScreenshotFormat::Webp => {
            DynamicImage::ImageRgba8(picture.to_rgba8()).write_to(&mut bytes, ImageFormat::WebP)
        }
        ScreenshotFormat::Jpeg => {
            let quality = options.quality.unwrap_or(80);
            let encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
            picture.to_rgb8().write_with_encoder(encoder)
        }
    }?;
    Ok(bytes.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::RgbImage;

    #[test]
    fn recompression_is_lossless_and_smaller() {
        let picture = RgbImage::from_fn(300, 200, |x, y| {
            let text = (x / 3 * 7 + y / 2 * 13) % 11 == 0;
            image::Rgb([if text { 0 } else { 255 }, (x % 256) as u8, 200])
        });
        let mut quick = Cursor::new(Vec::new());
        picture.write_to(&mut quick, ImageFormat::Png).unwrap();
        let quick = quick.into_inner();
        let small = compact(quick.clone());
        assert!(
            small.len() < quick.len(),
            "{} of {}",
            small.len(),
            quick.len()
        );
        let again = image::load_from_memory_with_format(&small, ImageFormat::Png).unwrap();
        assert_eq!(again.into_rgb8(), picture);
    }

    #[test]
    fn data_that_is_no_image_is_unchanged() {
        assert_eq!(compact(b"nothing".to_vec()), b"nothing");
    }

    #[test]
    fn a_screenshot_contains_every_pixel_of_the_element() {
        let span = |start, length| pixel_span(start, length, f64::NEG_INFINITY);
        assert_eq!(span(10.0, 20.0), (10.0, 20.0));
        assert_eq!(span(10.4, 20.0), (10.0, 21.0));
        assert_eq!(span(9.999_9, 20.000_2), (10.0, 20.0));
    }
}
