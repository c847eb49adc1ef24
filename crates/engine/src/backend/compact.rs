//! Small files from the browser's quick encoder.

use std::io::{Cursor, Write as _};

/// The same picture in a PNG as small as `zlib` makes it by default. The browser's own encoder takes as long for a plain
/// page and many times as long for a colourful one, on the thread that draws. What cannot be read stays as it is.
pub(crate) fn compact(png: Vec<u8>) -> Vec<u8> {
    let smaller = recompress(&png).ok();
    smaller.filter(|new| new.len() < png.len()).unwrap_or(png)
}

/// Goes row by row: a page can be a hundred megapixels.
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

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageFormat, RgbImage};

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
}
