//! A WebM file of VP8 key frames, which the browser itself encodes: the frame of a lossy WebP image is a key frame of VP8.
//! [RFC 9559](https://www.rfc-editor.org/rfc/rfc9559) specifies the elements, [RFC 9649](https://www.rfc-editor.org/rfc/rfc9649) the images.

use super::matroska::{element, id};
use crate::backend::Size;
use crate::error::{Error, Result};
use crate::launch::profile::TemporaryFile;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::time::Duration;

/// The time between the frames to which a player can seek.
const CUE_INTERVAL: Duration = Duration::from_secs(1);
/// The number of bytes of a position or a length that is written when the file is complete.
const LATER: usize = 8;
/// How far the identifier of a part precedes its position.
const SEEK_ID: u64 = 14;
const SEGMENT: u32 = 0x1853_8067;
const SEEK_HEAD: u32 = 0x114D_9B74;
const INFO: u32 = 0x1549_A966;
const TRACKS: u32 = 0x1654_AE6B;
const CLUSTER: u32 = 0x1F43_B675;
const CUES: u32 = 0x1C53_BB6B;
const CHAPTERS: u32 = 0x1043_A770;

/// A file that is being written. Until it is complete, it can be played, but a player does not know its length.
pub(super) struct WebmFile {
    file: std::fs::File,
    path: TemporaryFile,
    /// The offset of the content of the segment, to which positions are relative.
    segment: u64,
    /// The offsets of what is written when the file is complete.
    cues_at: u64,
    chapters_at: u64,
    duration_at: u64,
    end: u64,
    /// The times of frames and the positions of their clusters.
    cues: Vec<(Duration, u64)>,
}

/// A part of the video with a title.
pub(super) struct TitledPart {
    pub(super) start: Duration,
    pub(super) end: Duration,
    pub(super) title: String,
}

/// Returns the key frame of a lossy WebP image without transparency, and its size.
pub(super) fn key_frame(webp: &[u8]) -> Option<(&[u8], Size)> {
    let mut rest = webp
        .strip_prefix(b"RIFF")?
        .get(4..)?
        .strip_prefix(b"WEBP")?;
    loop {
        let (name, after) = rest.split_at_checked(4)?;
        let (length, content) = after.split_at_checked(4)?;
        let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
        let chunk = content.get(..length)?;
        if name == b"VP8 " {
            // <https://www.rfc-editor.org/rfc/rfc6386#section-9.1>
            let [_, _, _, 0x9d, 0x01, 0x2a, w0, w1, h0, h1, ..] = *chunk else {
                return None;
            };
            let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
            let (width, height) = (side(w0, w1), side(h0, h1));
            return Some((chunk, Size { width, height }));
        }
        // Chunks have an even length.
        rest = content.get(length + length % 2..)?;
    }
}

impl WebmFile {
    /// Creates a file for frames of this size.
    pub(super) fn create(path: TemporaryFile, size: Size) -> Result<Self> {
        let head = [
            element(0x4286, &[1]),
            element(0x42F7, &[1]),
            element(0x42F2, &[4]),
            element(0x42F3, &[8]),
            element(0x4282, b"webm"),
            element(0x4287, &[4]),
            element(0x4285, &[2]),
        ];
        let mut bytes = element(0x1A45_DFA3, &head.concat());
        bytes.extend(id(SEGMENT));
        // Its size is unknown until the file is complete.
        bytes.extend([0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
        let segment = bytes.len();
        let seek = [element(0x53AB, &id(CUES)), element(0x53AC, &[0; LATER])];
        let seek = element(0x4DBB, &seek.concat());
        // The second one is that of chapters, if there are any.
        bytes.extend(element(SEEK_HEAD, &[&*seek, &seek].concat()));
        let chapters_at = bytes.len() - LATER;
        let cues_at = chapters_at - seek.len();
        let info = [
            element(0x2A_D7B1, &1_000_000_u32.to_be_bytes()),
            element(0x4D80, b"playhouse"),
            element(0x5741, b"playhouse"),
            element(0x4489, &0.0_f64.to_be_bytes()),
        ];
        bytes.extend(element(INFO, &info.concat()));
        let duration_at = bytes.len() - LATER;
        let video = [
            element(0xB0, &size.width.to_be_bytes()),
            element(0xBA, &size.height.to_be_bytes()),
        ];
        let track = [
            element(0xD7, &[1]),
            element(0x73C5, &[1]),
            element(0x83, &[1]),
            element(0x9C, &[0]),
            element(0x86, b"V_VP8"),
            element(0xE0, &video.concat()),
        ];
        bytes.extend(element(TRACKS, &element(0xAE, &track.concat())));
        let mut created = Self {
            file: std::fs::OpenOptions::new()
                .write(true)
                .open(&path)
                .map_err(|error| failed(&error))?,
            path,
            segment: segment as u64,
            cues_at: cues_at as u64,
            chapters_at: chapters_at as u64,
            duration_at: duration_at as u64,
            end: 0,
            cues: Vec::new(),
        };
        created.append(&bytes)?;
        Ok(created)
    }

    /// Appends a frame that is shown from this time on.
    pub(super) fn add(&mut self, time: Duration, frame: &[u8]) -> Result<()> {
        let last = self.cues.last();
        if last.is_none_or(|(last, _)| time >= *last + CUE_INTERVAL) {
            self.cues.push((time, self.end - self.segment));
        }
        // Track 1, at the time of the cluster, a key frame.
        let block = [&[0x81, 0, 0, 0x80], frame].concat();
        let content = [
            element(0xE7, &milliseconds(time).to_be_bytes()),
            element(0xA3, &block),
        ];
        self.append(&element(CLUSTER, &content.concat()))
    }

    /// Completes the file, so that players know its length and its parts.
    pub(super) fn finish(mut self, end: Duration, parts: &[TitledPart]) -> Result<TemporaryFile> {
        let cues = self.cues.iter().map(|(time, position)| {
            let place = [element(0xF7, &[1]), element(0xF1, &position.to_be_bytes())];
            let cue = [
                element(0xB3, &milliseconds(*time).to_be_bytes()),
                element(0xB7, &place.concat()),
            ];
            element(0xBB, &cue.concat())
        });
        let cues = element(CUES, &cues.collect::<Vec<_>>().concat());
        let cues_position = self.end - self.segment;
        self.append(&cues)?;
        let mut later = vec![
            (self.cues_at, cues_position.to_be_bytes().to_vec()),
            (self.chapters_at, cues_position.to_be_bytes().to_vec()),
        ];
        if !parts.is_empty() {
            let position = self.end - self.segment;
            later.push((self.chapters_at, position.to_be_bytes().to_vec()));
            later.push((self.chapters_at - SEEK_ID, id(CHAPTERS)));
            let atoms = parts.iter().zip(1_u64..).map(|(part, number)| {
                let title = [
                    element(0x85, part.title.as_bytes()),
                    element(0x437C, b"und"),
                ];
                let atom = [
                    element(0x73C4, &number.to_be_bytes()),
                    element(0x91, &nanoseconds(part.start).to_be_bytes()),
                    element(0x92, &nanoseconds(part.end).to_be_bytes()),
                    element(0x80, &title.concat()),
                ];
                element(0xB6, &atom.concat())
            });
            let edition = element(0x45B9, &atoms.collect::<Vec<_>>().concat());
            self.append(&element(CHAPTERS, &edition))?;
        }
        #[expect(clippy::cast_precision_loss, reason = "shorter than 285,000 years")]
        let duration = milliseconds(end) as f64;
        let size = (1_u64 << 56) | (self.end - self.segment);
        later.push((self.duration_at, duration.to_be_bytes().to_vec()));
        later.push((self.segment - LATER as u64, size.to_be_bytes().to_vec()));
        for (offset, bytes) in later {
            let moved = self.file.seek(SeekFrom::Start(offset));
            let written = moved.and_then(|_| self.file.write_all(&bytes));
            written.map_err(|error| failed(&error))?;
        }
        Ok(self.path)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| failed(&error))?;
        self.end += bytes.len() as u64;
        Ok(())
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn failed(error: &std::io::Error) -> Error {
    Error::VideoFailed {
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_frame_of_an_image_has_its_size() {
        let frame = [0x10, 2, 0, 0x9d, 0x01, 0x2a, 0x20, 0x03, 0xc2, 0x41, 7];
        let chunk = |name: &[u8], content: &[u8]| {
            let length = u32::try_from(content.len()).unwrap().to_le_bytes();
            let padding = vec![0; content.len() % 2];
            [name, &length, content, &padding].concat()
        };
        let body = [
            b"WEBP".to_vec(),
            chunk(b"ICCP", &[1, 2, 3]),
            chunk(b"VP8 ", &frame),
        ];
        let image = chunk(b"RIFF", &body.concat());
        let size = Size {
            width: 800,
            height: 450,
        };
        assert_eq!(key_frame(&image), Some((&frame[..], size)));
        assert_eq!(key_frame(&image[..40]), None);
        assert_eq!(key_frame(b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0"), None);
    }
}
