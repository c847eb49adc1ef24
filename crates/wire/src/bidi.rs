//! WebDriver BiDi as types: one module per module of the specification, one struct per command and event.
//!
//! A command's fields are its parameters; `None` leaves an optional one out. What a browser sends is read leniently: unknown
//! fields are passed over, absent ones get their default. Nothing here does anything.
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

/// Says which method a struct's fields are the parameters of, and what answers it.
macro_rules! command {
    ($command:ty, $method:literal, $response:ty) => {
        impl crate::message::Command for $command {
            const METHOD: &'static str = $method;
            type Response = $response;
        }
    };
}
use command;

/// Says which event a struct's fields belong to.
macro_rules! event {
    ($event:ty, $method:literal) => {
        impl crate::message::Event for $event {
            const METHOD: &'static str = $method;
        }
    };
}
use event;

/// The names of errors that somebody tells apart. <https://w3c.github.io/webdriver-bidi/#errors>
pub mod error {
    pub const NO_SUCH_FRAME: &str = "no such frame";
    pub const NO_SUCH_NODE: &str = "no such node";
    pub const NO_SUCH_HISTORY_ENTRY: &str = "no such history entry";
    pub const NO_SUCH_ALERT: &str = "no such alert";
    pub const INVALID_ARGUMENT: &str = "invalid argument";
    pub const UNKNOWN_COMMAND: &str = "unknown command";
    pub const UNSUPPORTED_OPERATION: &str = "unsupported operation";
}
