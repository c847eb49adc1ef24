//! How bytes get to clients and back. Knows nothing of what they say.

mod door;
pub(crate) mod handover;
pub(crate) mod http;
pub(crate) mod listener;
mod sse;
pub(crate) mod stdio;
pub(crate) mod tls;
mod websocket;
