//! The transport of Chromium's `--remote-debugging-pipe`: frames end with a NUL byte.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Incoming, Outgoing};

const READ_BUFFER_SIZE: usize = 64 * 1024;
/// The capacity above which an empty buffer is shrunk, in bytes.
const MAX_KEPT_BUFFER: usize = 1024 * 1024;

/// Takes ownership of both ends of an operating-system pipe.
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

/// Splits a byte stream into frames.
pub(crate) struct Reader<R> {
    source: R,
    buffer: Vec<u8>,
    /// The start of the next frame in `buffer`.
    start: usize,
    /// The position up to which `buffer` has no NUL after `start`, so that no byte is scanned twice.
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

    /// Returns the range of the next complete frame in the buffer.
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

    /// Removes the returned frames, and makes room to read.
    fn compact(&mut self) {
        self.buffer.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > MAX_KEPT_BUFFER {
            self.buffer = Vec::new();
        }
        self.buffer.reserve(READ_BUFFER_SIZE);
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
        self.buffer.shrink_to(MAX_KEPT_BUFFER);
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
        // Closing the pipe is the closing handshake; an error means that the browser has closed it first.
        let _ = self.sink.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use futures_util::FutureExt;
    use proptest::prelude::*;
    use tokio::io::ReadBuf;

    use super::*;

    /// A source that returns its bytes in given pieces.
    struct Pieces {
        bytes: Vec<u8>,
        sizes: std::iter::Cycle<std::vec::IntoIter<usize>>,
    }

    impl AsyncRead for Pieces {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            let size = self.sizes.next().unwrap_or(1);
            let size = size.min(self.bytes.len()).min(buffer.remaining());
            buffer.put_slice(&self.bytes[..size]);
            self.bytes.drain(..size);
            Poll::Ready(Ok(()))
        }
    }

    proptest! {
        #[test]
        fn frames_are_read_from_any_chunks(
            frames in prop::collection::vec("[^\\x00]{0,300}", 0..20),
            sizes in prop::collection::vec(1usize..700, 1..20),
            rest in "[^\\x00]{0,20}",
        ) {
            let mut writer = Writer::new(Vec::new());
            writer
                .send(&mut frames.clone())
                .now_or_never()
                .expect("a vector is always ready")
                .unwrap();
            let mut bytes = writer.sink;
            bytes.extend_from_slice(rest.as_bytes());
            let mut reader = Reader::new(Pieces { bytes, sizes: sizes.into_iter().cycle() });
            let mut read = Vec::new();
            let end = loop {
                match reader.next().now_or_never().expect("the source is always ready") {
                    Ok(frame) => read.push(String::from_utf8(frame.to_vec()).unwrap()),
                    Err(end) => break end,
                }
            };
            prop_assert_eq!(read, frames);
            prop_assert_eq!(end, "the browser closed the pipe");
        }
    }

    #[test]
    fn a_batch_is_one_write() {
        struct Writes(Vec<Vec<u8>>);

        impl AsyncWrite for Writes {
            fn poll_write(
                mut self: Pin<&mut Self>,
                _: &mut Context<'_>,
                bytes: &[u8],
            ) -> Poll<std::io::Result<usize>> {
                self.0.push(bytes.to_vec());
                Poll::Ready(Ok(bytes.len()))
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(
                self: Pin<&mut Self>,
                _: &mut Context<'_>,
            ) -> Poll<std::io::Result<()>> {
                Poll::Ready(Ok(()))
            }
        }

        let mut writer = Writer::new(Writes(Vec::new()));
        let mut frames = vec!["a".to_owned(), String::new(), "bc".to_owned()];
        writer.send(&mut frames).now_or_never().unwrap().unwrap();
        assert!(frames.is_empty());
        assert_eq!(writer.sink.0, [b"a\0\0bc\0"]);
    }

    #[test]
    fn the_buffer_of_a_huge_frame_is_released() {
        let mut bytes = vec![b'x'; 4 * MAX_KEPT_BUFFER];
        bytes.extend_from_slice(b"\0small\0");
        let mut reader = Reader::new(&*Box::leak(bytes.into_boxed_slice()));
        let mut lengths = Vec::new();
        while let Ok(frame) = reader.next().now_or_never().unwrap() {
            lengths.push(frame.len());
        }
        assert_eq!(lengths, [4 * MAX_KEPT_BUFFER, 5]);
        assert!(reader.buffer.capacity() <= MAX_KEPT_BUFFER);
    }
}
