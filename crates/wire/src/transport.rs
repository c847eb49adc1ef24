//! Transports of frames: one frame is one JSON message, which is not parsed here.

pub(crate) use no_delay::NoDelayStream;
#[cfg(unix)]
pub(crate) use pipe::open;
pub(crate) use pipe::{Reader as PipeReader, Writer as PipeWriter};
pub(crate) use websocket::connect;

pub(crate) mod address;
mod no_delay;
mod pipe;
mod websocket;

/// The receiving half of a transport.
pub(crate) trait Incoming: Send + 'static {
    /// Waits for the next frame; the error is the reason of the end.
    fn next(&mut self) -> impl Future<Output = Result<&[u8], String>> + Send;
}

/// The sending half of a transport.
pub(crate) trait Outgoing: Send + 'static {
    /// Sends all frames in order, with as few writes as possible, and clears `frames`.
    fn send(&mut self, frames: &mut Vec<String>)
    -> impl Future<Output = Result<(), String>> + Send;

    /// Closes the transport, with a closing handshake if it has one.
    fn close(&mut self) -> impl Future<Output = ()> + Send;
}
