//! W3C WebDriver: commands over HTTP, one struct per command, one module per chapter of the specification.
//!
//! A [`RemoteEnd`] is a driver or a grid; a [`WebDriverSession`] is a browser that it controls. The fields of a command are its
//! parameters. Results are parsed leniently: unknown fields are ignored, missing ones have their default. This module does not retry
//! commands and does not wait for pages.
//!
//! <https://www.w3.org/TR/webdriver2/>

pub mod action;
pub mod cookie;
pub mod element;
pub mod file;
pub mod navigation;
pub mod prompt;
mod remote;
pub mod screenshot;
pub mod script;
pub mod session;
pub mod window;

#[cfg(test)]
mod tests;

pub use remote::{Prepared, RawResponse, RemoteEnd, WebDriverSession};

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::borrow::Cow;

/// The result of commands that return `null`.
pub type Done = IgnoredAny;

/// A command of a session. Its fields are the parameters, except for those in the path.
pub trait WebDriverCommand: Serialize + Send + Sync + 'static {
    /// The name in the specification, such as `Navigate To`.
    const NAME: &'static str;
    /// The HTTP method of the command.
    const VERB: Verb;
    /// The result of the command; [`Done`] if it is `null`.
    type Response: DeserializeOwned + Send + 'static;

    /// Returns the path below that of the session: `url`, `element/ID/click`; empty for the session itself.
    fn path(&self) -> Cow<'static, str>;
}

/// The HTTP methods of WebDriver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Changes nothing.
    Get,
    /// Has parameters.
    Post,
    /// Removes something.
    Delete,
}

/// Implements [`WebDriverCommand`] with a name, a method, a path and the type of the result.
macro_rules! command {
    ($command:ty, $name:literal, $verb:ident $path:literal, $response:ty) => {
        impl crate::webdriver::WebDriverCommand for $command {
            const NAME: &'static str = $name;
            const VERB: crate::webdriver::Verb = crate::webdriver::Verb::$verb;
            type Response = $response;

            fn path(&self) -> std::borrow::Cow<'static, str> {
                $path.into()
            }
        }
    };
    ($command:ty, $name:literal, $verb:ident $path:literal / $field:ident / $rest:literal, $response:ty) => {
        impl crate::webdriver::WebDriverCommand for $command {
            const NAME: &'static str = $name;
            const VERB: crate::webdriver::Verb = crate::webdriver::Verb::$verb;
            type Response = $response;

            fn path(&self) -> std::borrow::Cow<'static, str> {
                format!(concat!($path, "/{}", $rest), self.$field).into()
            }
        }
    };
}
use command;

/// The error codes that the engine distinguishes. <https://www.w3.org/TR/webdriver2/#errors>
pub mod error {
    pub const INVALID_SESSION_ID: &str = "invalid session id";
    pub const JAVASCRIPT_ERROR: &str = "javascript error";
    pub const NO_SUCH_ALERT: &str = "no such alert";
    pub const NO_SUCH_ELEMENT: &str = "no such element";
    pub const NO_SUCH_FRAME: &str = "no such frame";
    pub const NO_SUCH_WINDOW: &str = "no such window";
    pub const SCRIPT_TIMEOUT: &str = "script timeout";
    pub const SESSION_NOT_CREATED: &str = "session not created";
    pub const STALE_ELEMENT_REFERENCE: &str = "stale element reference";
    pub const TIMEOUT: &str = "timeout";
    pub const UNEXPECTED_ALERT_OPEN: &str = "unexpected alert open";
    pub const UNKNOWN_COMMAND: &str = "unknown command";
    pub const UNKNOWN_ERROR: &str = "unknown error";
    pub const UNSUPPORTED_OPERATION: &str = "unsupported operation";
}
