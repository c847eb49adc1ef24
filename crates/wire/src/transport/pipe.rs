//! Frames that end with a NUL byte, as Chromium's `--remote-debugging-pipe` has them.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Incoming, Outgoing};

const READ: usize = 64 * 1024;
/// A buffer that a huge frame has blown up is given back once it is empty.
const KEEP: usize = 1024 * 1024;

/// Takes over both ends of an operating-system pipe.
#[cfg(unix)]
pub(crate) fn open(
    reader: std::os::fd::OwnedFd,
    writer: std::os::fd::OwnedFd,
) -> std::io::Result<(
    Reader<tokio::net::unix::pipe::Receiver>,
    Writer<tokio::net::unix::pipe::Sender>,
)> {
    use tokio::net::unix::pipe::{Receiver, Sender};
    Ok((
        Reader::new(Receiver::from_owned_fd(reader)?),
        Writer::new(Sender::from_owned_fd(writer)?),
    ))
}

/// Cuts a byte stream into frames.
pub(crate) struct Reader<R> {
    source: R,
    buffer: Vec<u8>,
    /// Where the next frame begins in `buffer`.
    start: usize,
    /// Up to where `buffer` holds no NUL after `start`: no byte is looked at twice.
    scanned: usize,
}

impl<R> Reader<R> {
    pub(crate) fn new(source: R) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
        }
    }

    /// The next whole frame in the buffer, as a range.
    fn cut(&mut self) -> Option<std::ops::Range<usize>> {
        let Some(length) = memchr::memchr(0, &self.buffer[self.scanned..]) else {
            self.scanned = self.buffer.len();
            return None;
        };
        let frame = self.start..self.scanned + length;
        self.start = frame.end + 1;
        self.scanned = self.start;
        Some(frame)
    }

    /// Forgets the frames that were handed out, and makes room to read.
    fn compact(&mut self) {
        self.buffer.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > KEEP {
            self.buffer = Vec::new();
        }
        self.buffer.reserve(READ);
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Incoming for Reader<R> {
    async fn next(&mut self) -> Result<&[u8], String> {
        loop {
            if let Some(frame) = self.cut() {
                return Ok(&self.buffer[frame]);
            }
            self.compact();
            match self.source.read_buf(&mut self.buffer).await {
                Ok(0) => return Err("the browser closed the pipe".into()),
                Ok(_) => {}
                Err(error) => return Err(format!("reading from the browser failed: {error}")),
            }
        }
    }
}

/// Joins frames to a byte stream.
pub(crate) struct Writer<W> {
    sink: W,
    buffer: Vec<u8>,
}

impl<W> Writer<W> {
    pub(crate) fn new(sink: W) -> Self {
        Self {
            sink,
            buffer: Vec::new(),
        }
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Outgoing for Writer<W> {
    async fn send(&mut self, frames: &mut Vec<String>) -> Result<(), String> {
        self.buffer.clear();
        self.buffer.shrink_to(KEEP);
        for frame in frames.drain(..) {
            self.buffer.extend_from_slice(frame.as_bytes());
            self.buffer.push(0);
        }
        let written = async {
            self.sink.write_all(&self.buffer).await?;
            self.sink.flush().await
        };
        written.await.map_err(|error| match error.kind() {
            std::io::ErrorKind::BrokenPipe => "the browser closed the pipe".into(),
            _ => format!("writing to the browser failed: {error}"),
        })
    }

    async fn close(&mut self) {
        // The end of the pipe is the word; a failure means that the browser said it first.
        let _ = self.sink.shutdown().await;
    }
}
