//! Frames in, frames out: one frame is one JSON message. What a frame says is not known here.

pub(crate) use no_delay::NoDelayStream;
#[cfg(unix)]
pub(crate) use pipe::open;
pub(crate) use pipe::{Reader as PipeReader, Writer as PipeWriter};
pub(crate) use websocket::connect;

pub(crate) mod address;
mod no_delay;
mod pipe;
mod websocket;

/// The receiving half.
pub(crate) trait Incoming: Send + 'static {
    /// Waits for the next frame; the error says why there will be none.
    fn next(&mut self) -> impl Future<Output = Result<&[u8], String>> + Send;
}

/// The sending half.
pub(crate) trait Outgoing: Send + 'static {
    /// Sends all frames, in order, with as few writes as it can, and leaves `frames` empty.
    fn send(&mut self, frames: &mut Vec<String>)
    -> impl Future<Output = Result<(), String>> + Send;

    /// Says good-bye, where the transport has a word for that.
    fn close(&mut self) -> impl Future<Output = ()> + Send;
}
