//! Speaks browser protocols as their specifications say; no policy, no retries.
//!
//! A [`Connection`] is one pipe or WebSocket to a browser. Over it run flat sessions
//! ([`Session`]): typed commands go out, and events come back in order through an [`EventStream`].
//! The Chrome DevTools Protocol ([`cdp`]) has many sessions, WebDriver BiDi ([`bidi`]) has one.
//! W3C WebDriver ([`webdriver`]) is HTTP: commands and answers, no events;
//! what WebKit tells besides comes from its [`inspector`].

mod error;
mod json;
mod message;
mod rpc;
mod transport;

pub mod actions;
pub mod bidi;
pub mod cdp;
pub mod inspector;
pub mod webdriver;

pub use error::{ConnectFailure, Error, Result};
pub use message::{Binary, Command, Empty, Event};
pub use rpc::{Connection, EventStream, QUEUE_CAPACITY, RawEvent, Reply, Session};
