//! What goes over the socket: a length, a byte of flags, a name, and values in GVariant's form.

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::relay::InspectedPage;

/// Our numbers are little-endian.
const LITTLE_ENDIAN: u8 = 1;
/// The browser's own process, among those that it has.
pub(super) const CONNECTION: u64 = 1;
/// The longest message: a body of a response that somebody asked for.
const LONGEST: usize = 256 * 1024 * 1024;

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

/// The next message; an error says why there is none.
pub(super) async fn next(stream: &mut (impl AsyncRead + Unpin)) -> Result<Frame, String> {
    let mut head = [0; 5];
    let broken = |error: std::io::Error| error.to_string();
    stream.read_exact(&mut head).await.map_err(broken)?;
    let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    if length > LONGEST {
        return Err(format!("a message of {length} bytes"));
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await.map_err(broken)?;
    let end = memchr::memchr(0, &bytes).unwrap_or(bytes.len());
    let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
    bytes.drain(..(end + 1).min(length));
    Ok(Frame { name, body: bytes })
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
