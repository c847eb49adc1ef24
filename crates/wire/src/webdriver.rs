//! W3C WebDriver: commands over HTTP, one struct per command, one module per chapter of the specification.
//!
//! A [`RemoteEnd`] is a driver or a grid that listens somewhere; a [`WebDriverSession`] is one browser behind it. A command's fields are
//! its parameters. What a driver answers is read leniently: unknown fields are passed over, absent ones get their default. Nothing here
//! retries, and nothing waits for a page.
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

pub use remote::{RemoteEnd, WebDriverSession};

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::borrow::Cow;

/// What a driver answers when it has nothing to say but that it is done.
pub type Done = IgnoredAny;

/// What can be asked of a session: the struct is the parameters, as far as they are not in the path.
pub trait WebDriverCommand: Serialize + Send + Sync {
    /// The specification's name for it, such as `Navigate To`.
    const NAME: &'static str;
    /// How it is asked.
    const VERB: Verb;
    /// What the driver answers; [`Done`] where it only says that it is done.
    type Response: DeserializeOwned + Send + 'static;

    /// Where, below the session: `url`, `element/ID/click`; empty for the session itself.
    fn path(&self) -> Cow<'static, str>;
}

/// The methods of HTTP that WebDriver knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Nothing is changed.
    Get,
    /// With parameters.
    Post,
    /// Something goes.
    Delete,
}

/// Says by which name, method and path a command goes, and what answers it.
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

/// The names of errors that somebody tells apart. <https://www.w3.org/TR/webdriver2/#errors>
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
