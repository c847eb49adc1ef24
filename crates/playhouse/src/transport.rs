//! How bytes get to clients and back. Knows nothing of what they say.

pub(crate) mod handover;
pub(crate) mod http;
pub(crate) mod listener;
mod request_policy;
mod sse;
pub(crate) mod stdio;
pub(crate) mod tls;
mod websocket;
