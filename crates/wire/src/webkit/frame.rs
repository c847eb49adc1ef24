//! The messages on the socket: a length, flags, a name, and values in the format of GVariant.

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The flag for numbers in little-endian order.
const LITTLE_ENDIAN: u8 = 1;
/// The connection of the main process of the browser.
pub(super) const CONNECTION: u64 = 1;
/// The largest message in bytes. Bodies of responses can be large.
const MAX_MESSAGE_SIZE: usize = 256 * 1024 * 1024;

/// The size of the length and the flags in bytes.
const HEADER_SIZE: usize = 5;
/// The number of bytes to read at least if the length of the message is not known.
const READ_BUFFER_SIZE: usize = 16 * 1024;
/// A buffer with a larger capacity is freed after its messages.
const MAX_KEPT_CAPACITY: usize = 256 * 1024;

/// A message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) name: String,
    pub(super) body: Vec<u8>,
}

/// Encodes a message.
pub(super) fn encoded(name: &str, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(name.len() + 1 + body.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(6 + name.len() + body.len());
    bytes.extend(length.to_be_bytes());
    bytes.push(LITTLE_ENDIAN);
    bytes.extend(name.as_bytes());
    bytes.push(0);
    bytes.extend(body);
    bytes
}

/// Encodes a body of a connection, a target and an optional text.
pub(super) fn addressed(connection: u64, target: u64, text: Option<&str>) -> Vec<u8> {
    let mut body = Vec::with_capacity(17 + text.map_or(0, str::len));
    body.extend(connection.to_le_bytes());
    body.extend(target.to_le_bytes());
    if let Some(text) = text {
        body.extend(text.as_bytes());
        body.push(0);
    }
    body
}

/// Encodes the identifier of a session and its capabilities, of which there are none, `(sa{sv})`. The offset of the end of the identifier
/// follows.
pub(super) fn session(id: &str) -> Vec<u8> {
    let mut body = [id.as_bytes(), &[0]].concat();
    let end = u8::try_from(body.len()).unwrap_or(u8::MAX);
    body.resize(body.len().next_multiple_of(8), 0);
    body.push(end);
    body
}

/// Decodes the target and the text of a body.
pub(super) fn address(body: &[u8]) -> Option<(u64, &str)> {
    let target = u64::from_le_bytes(body.get(8..16)?.try_into().ok()?);
    let text = std::str::from_utf8(body.get(16..)?).ok()?;
    Some((target, text.trim_end_matches('\0')))
}

/// The messages of a stream.
pub(super) struct Frames<R> {
    from: R,
    buffer: Vec<u8>,
    /// The position of the next message in the buffer.
    start: usize,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(super) fn of(from: R) -> Self {
        Self {
            from,
            buffer: Vec::new(),
            start: 0,
        }
    }

    /// Returns the next message, or the reason why there is none. Cancelling the call loses no data.
    pub(super) async fn next(&mut self) -> Result<Frame, String> {
        loop {
            let read = self.buffer.len() - self.start;
            let missing = match self.length()? {
                Some(length) if length <= read => return Ok(self.take(length)),
                Some(length) => length - read,
                None => 0,
            };
            self.compact();
            self.buffer.reserve(missing.max(READ_BUFFER_SIZE));
            match self.from.read_buf(&mut self.buffer).await {
                Ok(0) => return Err("the connection ended".to_owned()),
                Ok(_) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn compact(&mut self) {
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > MAX_KEPT_CAPACITY {
            self.buffer = Vec::new();
        }
    }

    /// Returns the size of the next message in bytes, or `None` if its header was not received yet.
    fn length(&self) -> Result<Option<usize>, String> {
        let Some((head, _)) = self.buffer[self.start..].split_first_chunk() else {
            return Ok(None);
        };
        match u32::from_be_bytes(*head) as usize {
            length if length > MAX_MESSAGE_SIZE => Err(format!("a message of {length} bytes")),
            length => Ok(Some(HEADER_SIZE + length)),
        }
    }

    fn take(&mut self, length: usize) -> Frame {
        let bytes = &self.buffer[self.start..][HEADER_SIZE..length];
        let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
        let frame = Frame {
            name: String::from_utf8_lossy(&bytes[..end]).into_owned(),
            body: bytes.get(end + 1..).unwrap_or_default().to_vec(),
        };
        self.start += length;
        frame
    }
}

/// The list of targets of a browser.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Targets {
    pub(super) pages: Vec<u64>,
    /// The target of the automation session.
    pub(super) automation: Option<u64>,
}

/// Decodes a list of targets, `(ta(tsssb))`. In GVariant, the offsets of the ends of elements follow the elements, in the smallest integer
/// type that is large enough.
///
/// Returns `None` for the list of another process of the browser. Each process has a list, and only the first one has pages.
pub(super) fn targets(body: &[u8]) -> Option<Targets> {
    let connection = u64::from_le_bytes(body.get(..8)?.try_into().ok()?);
    let list = body.get(8..).filter(|_| connection == CONNECTION)?;
    let mut targets = Targets::default();
    if list.is_empty() {
        return Some(targets);
    }
    let width = width(list.len());
    let first = number(list.get(list.len() - width..)?)?;
    let ends = list.get(first..)?;
    let mut start = 0;
    for end in ends.chunks(width) {
        let end = number(end)?;
        targets.add(list.get(start..end)?)?;
        start = end.next_multiple_of(8);
    }
    Some(targets)
}

impl Targets {
    /// Adds an entry, `(tsssb)`.
    fn add(&mut self, entry: &[u8]) -> Option<()> {
        let target = u64::from_le_bytes(entry.get(..8)?.try_into().ok()?);
        let kind = entry.get(8..)?.split(|byte| *byte == 0).next()?;
        match kind {
            b"WebPage" => self.pages.push(target),
            b"Automation" => self.automation = Some(target),
            _ => {}
        }
        Some(())
    }
}

fn width(length: usize) -> usize {
    match length {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 4,
    }
}

fn number(bytes: &[u8]) -> Option<usize> {
    let mut all = [0; 8];
    all.get_mut(..bytes.len())?.copy_from_slice(bytes);
    usize::try_from(u64::from_le_bytes(all)).ok()
}
