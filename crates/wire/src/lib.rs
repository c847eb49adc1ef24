//! Speaks browser protocols as their specifications say; no policy, no retries.
//!
//! A [`Connection`] is one pipe or WebSocket to a browser. Over it run flat sessions
//! ([`Session`]): typed commands go out, and events come back in order through an [`EventStream`].

mod error;
mod json;
mod rpc;
mod transport;

pub mod cdp;

pub use cdp::{Command, Event};
pub use error::{ConnectFailure, Error, Result};
pub use rpc::{Connection, EventStream, QUEUE_CAPACITY, RawEvent, Reply, Session};
