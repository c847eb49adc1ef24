//! TCP without delays: data is sent at once, and acknowledged at once.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A connection to a browser or its driver. Those use Nagle's algorithm: a small message is delayed until the previous data was
/// acknowledged, which Linux delays by 40 ms if it has no data to send. <https://man7.org/linux/man-pages/man7/tcp.7.html> (`TCP_QUICKACK`)
#[derive(Debug)]
pub(crate) struct NoDelayStream(TcpStream);

impl NoDelayStream {
    pub(crate) fn new(socket: TcpStream) -> Self {
        // Commands are small, and their results are waited for.
        let _ = socket.set_nodelay(true);
        Self(socket)
    }

    /// Must be repeated after each read, because the kernel resets the option.
    fn acknowledge(&self) {
        #[cfg(target_os = "linux")]
        let _ = rustix::net::sockopt::set_tcp_quickack(&self.0, true);
    }
}

impl AsyncRead for NoDelayStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(Pin::new(&mut self.0).poll_read(context, into));
        self.acknowledge();
        Poll::Ready(read)
    }
}

impl AsyncWrite for NoDelayStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
