//! W3C WebDriver: the commands over HTTP with which grids give browsers, one struct per command.
//!
//! A [`RemoteEnd`] is a driver or a grid; a [`WebDriverSession`] is a browser that it controls. The fields of a command are its
//! parameters. Results are parsed leniently: unknown fields are ignored, missing ones have their default. This module does not retry
//! commands and does not wait for pages.
//!
//! <https://www.w3.org/TR/webdriver2/>

pub mod file;
mod remote;
pub mod session;

#[cfg(test)]
mod tests;

pub use remote::{RemoteEnd, WebDriverSession};

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
}
use command;

/// The error of a remote end without a command. <https://www.w3.org/TR/webdriver2/#errors>
pub const UNKNOWN_COMMAND: &str = "unknown command";
