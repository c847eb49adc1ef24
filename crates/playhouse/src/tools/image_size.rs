//! How large pictures are, and how large models want them.

/// The longest side, in pixels, that a model takes without shrinking the picture itself.
const MAX_SIDE: f64 = 1568.0;
/// The most pixels.
const MAX_PIXELS: f64 = 1.15 * 1024.0 * 1024.0;

/// By how much a picture has to be shrunk to be seen as it is; nothing if it fits.
pub(crate) fn scale_to_fit(bytes: &[u8]) -> Option<f64> {
    let (width, height) = size(bytes)?;
    let (width, height) = (f64::from(width), f64::from(height));
    let factor = (MAX_SIDE / width)
        .min(MAX_SIDE / height)
        .min((MAX_PIXELS / (width * height)).sqrt());
    (factor < 1.0).then_some(factor)
}

/// Width and height in pixels, from the head of a PNG, JPEG or WebP.
pub(crate) fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    png(bytes).or_else(|| jpeg(bytes)).or_else(|| webp(bytes))
}

/// <https://www.w3.org/TR/png/#11IHDR>
fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let head = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    Some((number(8)?, number(12)?))
}

/// The frame header of <https://www.w3.org/Graphics/JPEG/itu-t81.pdf>, B.2.2.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let mut at = bytes.starts_with(&[0xff, 0xd8]).then_some(2)?;
    loop {
        let [0xff, marker] = *bytes.get(at..at + 2)? else {
            return None;
        };
        // All start-of-frame markers; the three others of the range are tables.
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return Some((number(at + 7)?.into(), number(at + 5)?.into()));
        }
        at += 2 + usize::from(number(at + 2)?);
    }
}

/// <https://developers.google.com/speed/webp/docs/riff_container>
fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let chunk = bytes
        .strip_prefix(b"RIFF")?
        .get(4..)?
        .strip_prefix(b"WEBP")?;
    let (kind, body) = (chunk.get(..4)?, chunk.get(8..)?);
    let bits = |at: usize, length: usize| {
        let bytes = body.get(at..at + length)?.iter().rev();
        Some(bytes.fold(0, |number, byte| number << 8 | u32::from(*byte)))
    };
    match kind {
        b"VP8 " => Some((bits(6, 2)? & 0x3fff, bits(8, 2)? & 0x3fff)),
        b"VP8L" => {
            let packed = bits(1, 4)?;
            Some(((packed & 0x3fff) + 1, (packed >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((bits(4, 3)? + 1, bits(7, 3)? + 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
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

    #[test]
    fn sizes_are_read_from_each_format() {
        let jpeg = [
            &[0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2][..],
            &[0xff, 0xc0, 0, 17, 8, 0, 9, 1, 0, 3],
        ];
        assert_eq!(size(&jpeg.concat()), Some((256, 9)));
        let webp = [
            &b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0"[..],
            &[0x63, 0, 0, 0x31, 0, 0],
        ];
        assert_eq!(size(&webp.concat()), Some((100, 50)));
        assert_eq!(size(b"GIF89a"), None);
    }
}
