//! WebDriver BiDi as types: one module per module of the specification, one struct per command and event.
//!
//! A command's fields are its parameters; `None` omits an optional one. Messages of a browser are parsed leniently: unknown fields are
//! ignored, missing ones get their default. This module has types only.
//!
//! <https://w3c.github.io/webdriver-bidi/>

pub mod browser;
pub mod browsing_context;
pub mod emulation;
pub mod input;
pub mod log;
pub mod network;
pub mod permissions;
pub mod script;
pub mod session;
pub mod storage;
#[cfg(test)]
mod tests;

pub use crate::message::{Binary, Command, Empty, Event};

/// Implements [`Command`](crate::Command) for the parameters of a method.
macro_rules! command {
    ($command:ty, $method:literal, $response:ty) => {
        impl crate::message::Command for $command {
            const PROTOCOL: &'static str = "bidi";
            const METHOD: &'static str = $method;
            type Response = $response;
        }
    };
}
use command;

/// Implements [`Event`](crate::Event) for the parameters of an event.
macro_rules! event {
    ($event:ty, $method:literal) => {
        impl crate::message::Event for $event {
            const METHOD: &'static str = $method;
        }
    };
}
use event;

/// The error codes that the code distinguishes. <https://w3c.github.io/webdriver-bidi/#errors>
pub mod error {
    pub const NO_SUCH_FRAME: &str = "no such frame";
    pub const NO_SUCH_NODE: &str = "no such node";
    pub const NO_SUCH_HISTORY_ENTRY: &str = "no such history entry";
    pub const NO_SUCH_ALERT: &str = "no such alert";
    pub const INVALID_ARGUMENT: &str = "invalid argument";
    pub const UNKNOWN_COMMAND: &str = "unknown command";
    pub const UNSUPPORTED_OPERATION: &str = "unsupported operation";
}
