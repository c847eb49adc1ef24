//! The sizes of images, and the sizes that models accept.

use std::io::Cursor;

use image::ImageReader;

/// The longest side of an image, in pixels, that models do not scale down.
const MAX_SIDE: f64 = 1568.0;
/// The highest number of pixels of an image that models do not scale down.
const MAX_PIXELS: f64 = 1.15 * 1024.0 * 1024.0;

/// Returns the factor by which an image has to be scaled so that models do not scale it down. Returns `None` if it is small enough.
pub(crate) fn scale_to_fit(bytes: &[u8]) -> Option<f64> {
    let (width, height) = size(bytes)?;
    let (width, height) = (f64::from(width), f64::from(height));
    let factor = (MAX_SIDE / width)
        .min(MAX_SIDE / height)
        .min((MAX_PIXELS / (width * height)).sqrt());
    (factor < 1.0).then_some(factor)
}

/// Returns width and height in pixels, read from the header of a PNG, JPEG or WebP file.
pub(crate) fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    reader.ok()?.into_dimensions().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{GrayImage, ImageFormat};

    fn a_png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        GrayImage::new(width, height)
            .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
            .expect("an image");
        bytes
    }

    #[test]
    fn large_images_are_scaled_to_fit() {
        let shrunk = |width: u32, height: u32| {
            let factor = scale_to_fit(&a_png(width, height))?;
            let whole = |side: u32| (f64::from(side) * factor).floor();
            Some((whole(width), whole(height)))
        };
        assert_eq!(shrunk(1280, 720), None);
        assert_eq!(shrunk(2000, 720), Some((1568.0, 564.0)));
        assert_eq!(shrunk(2000, 2000), Some((1098.0, 1098.0)));
    }
}
