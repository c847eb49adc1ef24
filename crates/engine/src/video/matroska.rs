//! A Matroska stream of JPEG images: the input of the encoder, because the images of a screencast have no fixed rate.
//! [RFC 9559](https://www.rfc-editor.org/rfc/rfc9559) specifies the elements.

use crate::backend::Size;

/// Returns the beginning of a stream with one video track, whose times are in milliseconds.
pub(super) fn header(size: Size) -> Vec<u8> {
    let head = [
        element(0x4286, &[1]),
        element(0x42F7, &[1]),
        element(0x42F2, &[4]),
        element(0x42F3, &[8]),
        element(0x4282, b"matroska"),
        element(0x4287, &[4]),
        element(0x4285, &[2]),
    ];
    let info = [
        element(0x2A_D7B1, &1_000_000_u32.to_be_bytes()),
        element(0x4D80, b"playhouse"),
        element(0x5741, b"playhouse"),
    ];
    let video = [
        element(0xB0, &size.width.to_be_bytes()),
        element(0xBA, &size.height.to_be_bytes()),
    ];
    let track = [
        element(0xD7, &[1]),
        element(0x73C5, &[1]),
        element(0x83, &[1]),
        element(0x9C, &[0]),
        element(0x86, b"V_MJPEG"),
        element(0xE0, &video.concat()),
    ];
    let mut stream = element(0x1A45_DFA3, &head.concat());
    // A segment of unknown size: its length follows from its content.
    stream.extend([0x18, 0x53, 0x80, 0x67]);
    stream.extend([0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    stream.extend(element(0x1549_A966, &info.concat()));
    stream.extend(element(0x1654_AE6B, &element(0xAE, &track.concat())));
    stream
}

/// Returns a cluster with one image.
pub(super) fn cluster(milliseconds: u64, jpeg: &[u8]) -> Vec<u8> {
    // Track 1, at the time of the cluster, a key frame.
    let block = [&[0x81, 0, 0, 0x80], jpeg].concat();
    let content = [
        element(0xE7, &milliseconds.to_be_bytes()),
        element(0xA3, &block),
    ];
    element(0x1F43_B675, &content.concat())
}

/// Returns an element: its identifier, the length of its content in eight bytes, and the content.
pub(super) fn element(name: u32, content: &[u8]) -> Vec<u8> {
    let length = (1_u64 << 56 | content.len() as u64).to_be_bytes();
    [&id(name), &length[..], content].concat()
}

/// Returns the bytes of an identifier.
pub(super) fn id(name: u32) -> Vec<u8> {
    let bytes = name.to_be_bytes();
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(3);
    bytes[first..].to_vec()
}
