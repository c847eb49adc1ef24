//! Implements browser protocols as specified, without policies or retries.
//!
//! A [`Connection`] is a pipe or WebSocket to a browser with flat sessions ([`Session`]): commands are typed, and events arrive in order in
//! an [`EventStream`]. The Chrome DevTools Protocol ([`cdp`]) has many sessions, WebDriver BiDi ([`bidi`]) has one. W3C WebDriver
//! ([`webdriver`]) is HTTP: commands and results, no events; it creates the sessions of grids. [`webkit`] is the protocol of WebKitGTK. The
//! [`extension`] gives tabs of a running browser.

mod error;
mod json;
mod message;
mod rpc;
pub mod span;
mod transport;

pub mod actions;
pub mod bidi;
pub mod cdp;
pub mod extension;
pub mod webdriver;
pub mod webkit;

pub use error::{ConnectFailure, Error, Result};
pub use message::{Binary, Command, Empty, Event};
pub use rpc::{Connection, EventStream, QUEUE_CAPACITY, RawEvent, Reply, Session};
