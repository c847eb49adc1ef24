//! The elements of a Matroska file with one video track, and a stream of JPEG images: the input of the encoder, because the images of a
//! screencast have no fixed rate.
//! [RFC 9559](https://www.rfc-editor.org/rfc/rfc9559) specifies the elements.

use crate::backend::Size;

pub(super) const SEGMENT: u32 = 0x1853_8067;
pub(super) const INFO: u32 = 0x1549_A966;
const TRACKS: u32 = 0x1654_AE6B;
const CLUSTER: u32 = 0x1F43_B675;

/// Returns the beginning of a stream with one video track of JPEG images, whose times are in milliseconds.
pub(super) fn header(size: Size) -> Vec<u8> {
    [
        head(b"matroska"),
        element(INFO, &info()),
        tracks(b"V_MJPEG", size),
    ]
    .concat()
}

/// Returns the head of a file, and the beginning of a segment of unknown size: its length follows from its content.
pub(super) fn head(document_type: &[u8]) -> Vec<u8> {
    let head = [
        element(0x4286, &[1]),
        element(0x42F7, &[1]),
        element(0x42F2, &[4]),
        element(0x42F3, &[8]),
        element(0x4282, document_type),
        element(0x4287, &[4]),
        element(0x4285, &[2]),
    ];
    let unknown = [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
    [
        element(0x1A45_DFA3, &head.concat()),
        id(SEGMENT),
        unknown.to_vec(),
    ]
    .concat()
}

/// Returns the content of the information on a segment whose times are in milliseconds.
pub(super) fn info() -> Vec<u8> {
    [
        element(0x2A_D7B1, &1_000_000_u32.to_be_bytes()),
        element(0x4D80, b"playhouse"),
        element(0x5741, b"playhouse"),
    ]
    .concat()
}

/// Returns the list of tracks, which has one track with this codec.
pub(super) fn tracks(codec: &[u8], size: Size) -> Vec<u8> {
    let video = [
        element(0xB0, &size.width.to_be_bytes()),
        element(0xBA, &size.height.to_be_bytes()),
    ];
    let track = [
        element(0xD7, &[1]),
        element(0x73C5, &[1]),
        element(0x83, &[1]),
        element(0x9C, &[0]),
        element(0x86, codec),
        element(0xE0, &video.concat()),
    ];
    element(TRACKS, &element(0xAE, &track.concat()))
}

/// Returns a cluster with one frame.
pub(super) fn cluster(milliseconds: u64, frame: &[u8]) -> Vec<u8> {
    // Track 1, at the time of the cluster, a key frame.
    let block = [&[0x81, 0, 0, 0x80], frame].concat();
    let content = [
        element(0xE7, &milliseconds.to_be_bytes()),
        element(0xA3, &block),
    ];
    element(CLUSTER, &content.concat())
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
