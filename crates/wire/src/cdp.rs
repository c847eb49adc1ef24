//! The Chrome DevTools Protocol as types: one module per domain, one struct per command and event.
//!
//! A command's fields are its parameters; `None` leaves an optional one out. What a browser sends
//! is read leniently: unknown fields are passed over, absent ones get their default, so that
//! other versions of the browser are understood as far as they can be. Nothing here does anything.

pub mod browser;
pub mod dom;
pub mod emulation;
pub mod fetch;
mod id;
pub mod input;
pub mod inspector;
pub mod io;
pub mod log;
pub mod network;
pub mod page;
pub mod runtime;
pub mod security;
pub mod storage;
pub mod target;

pub use crate::message::{Binary, Command, Empty, Event};

/// Says which method a struct's fields are the parameters of, and what answers it.
macro_rules! command {
    ($command:ty, $method:literal, $response:ty) => {
        impl crate::cdp::Command for $command {
            const METHOD: &'static str = $method;
            type Response = $response;
        }
    };
}
use command;

/// Says which event a struct's fields belong to.
macro_rules! event {
    ($event:ty, $method:literal) => {
        impl crate::cdp::Event for $event {
            const METHOD: &'static str = $method;
        }
    };
}
use event;
