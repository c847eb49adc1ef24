//! What goes over the socket: a length, a byte of flags, a name, and values in GVariant's form.

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Our numbers are little-endian.
const LITTLE_ENDIAN: u8 = 1;
/// The browser's own process, among those that it has.
pub(super) const CONNECTION: u64 = 1;
/// The longest message: a body of a response that somebody asked for.
const MAX_MESSAGE_SIZE: usize = 256 * 1024 * 1024;

/// Its length and its flags.
const HEADER_SIZE: usize = 5;
/// How much is read at once, where no more is known to come.
const READ_BUFFER_SIZE: usize = 16 * 1024;
/// More room than this is not kept for the next one.
const LARGE: usize = 256 * 1024;

/// A page of the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedPage {
    /// The browser's number for it.
    pub target: u64,
    /// What it shows, or is about to.
    pub url: String,
}

/// A message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) name: String,
    pub(super) body: Vec<u8>,
}

/// As bytes.
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

/// Two numbers, and a text if there is one.
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

/// The numbers and the text of such a body.
pub(super) fn address(body: &[u8]) -> Option<(u64, &str)> {
    let target = u64::from_le_bytes(body.get(8..16)?.try_into().ok()?);
    let text = std::str::from_utf8(body.get(16..)?).ok()?;
    Some((target, text.trim_end_matches('\0')))
}

/// The messages of a stream, one after the other.
pub(super) struct Frames<R> {
    from: R,
    buffer: Vec<u8>,
    /// Where in it the next one begins.
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

    /// The next message; an error says why there is none. Whoever no longer waits for it loses nothing.
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

    /// Whether nothing of the next message was read.
    pub(super) fn is_between(&self) -> bool {
        self.start == self.buffer.len()
    }

    fn compact(&mut self) {
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > LARGE {
            self.buffer = Vec::new();
        }
    }

    /// How many bytes the next message is, as far as that was read.
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

/// What a browser tells of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Targets {
    pub(super) pages: Vec<InspectedPage>,
    /// What its driver speaks to.
    pub(super) automation: Option<u64>,
}

/// A list of targets: `(ta(tsssb))`, which has the ends of its parts at its own end, in numbers as short as can be.
///
/// `None` for the list of another of the browser's processes: each has its own, and only the first one has pages.
pub(super) fn targets(body: &[u8]) -> Option<Targets> {
    let of = u64::from_le_bytes(body.get(..8)?.try_into().ok()?);
    let list = body.get(8..).filter(|_| of == CONNECTION)?;
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
    /// `(tsssb)`
    fn add(&mut self, entry: &[u8]) -> Option<()> {
        let target = u64::from_le_bytes(entry.get(..8)?.try_into().ok()?);
        let mut texts = entry.get(8..)?.split(|byte| *byte == 0);
        let mut text = || Some(String::from_utf8_lossy(texts.next()?).into_owned());
        let kind = text()?;
        let _title = text()?;
        let url = text()?;
        match &*kind {
            "WebPage" => self.pages.push(InspectedPage { target, url }),
            "Automation" => self.automation = Some(target),
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
