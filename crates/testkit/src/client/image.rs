//! Images in answers: reads the size of PNG and JPEG files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// An image of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The image in base64.
    pub base64: String,
}

impl Image {
    /// Returns the image file. Panics if the base64 is invalid.
    pub fn bytes(&self) -> Vec<u8> {
        STANDARD.decode(&self.base64).expect("an image is base64")
    }

    /// Returns width and height in pixels, of PNG and JPEG.
    pub fn size(&self) -> Option<(u32, u32)> {
        let bytes = self.bytes();
        if bytes.starts_with(b"\x89PNG") {
            let number =
                |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
            return Some((number(16)?, number(20)?));
        }
        jpeg_size(&bytes)
    }
}

/// Reads the segments up to the frame header (SOF0–SOF15 without DHT, JPG and DAC).
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let short = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let mut at = 2;
    loop {
        let (marker, length) = (short(at)?, short(at + 2)?);
        if matches!(marker, 0xffc0..=0xffcf) && !matches!(marker, 0xffc4 | 0xffc8 | 0xffcc) {
            return Some((short(at + 7)?.into(), short(at + 5)?.into()));
        }
        at += 2 + usize::from(length);
    }
}
