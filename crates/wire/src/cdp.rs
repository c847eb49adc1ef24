//! The Chrome DevTools Protocol as types: one module per domain, one struct per command and event.
//!
//! A command's fields are its parameters; `None` omits an optional one. Messages of a browser are parsed leniently: unknown fields are
//! ignored, missing ones get their default, so that other versions of the browser are supported as far as possible. This module has types
//! only.

pub mod browser;
pub mod css;
pub mod debugger;
pub mod dom;
pub mod dom_debugger;
pub mod emulation;
pub mod fetch;
pub mod heap_profiler;
mod id;
pub mod input;
pub mod inspector;
pub mod io;
pub mod log;
pub mod network;
pub mod page;
pub mod profiler;
pub mod runtime;
pub mod security;
pub mod storage;
pub mod target;
pub mod tracing;
pub mod web_mcp;

pub use crate::message::{Binary, Command, Empty, Event};

/// The name of the protocol in traces and metrics.
pub(crate) const PROTOCOL: &str = "cdp";

/// Implements [`Command`](crate::Command) for the parameters of a method.
macro_rules! command {
    ($command:ty, $method:literal, $response:ty) => {
        impl crate::cdp::Command for $command {
            const PROTOCOL: &'static str = crate::cdp::PROTOCOL;
            const METHOD: &'static str = $method;
            type Response = $response;
        }
    };
}
use command;

/// Implements [`Event`](crate::Event) for the parameters of an event.
macro_rules! event {
    ($event:ty, $method:literal) => {
        impl crate::cdp::Event for $event {
            const METHOD: &'static str = $method;
        }
    };
}
use event;
