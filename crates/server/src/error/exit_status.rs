//! Exit statuses of commands that call tools: one for each class of errors.

use super::ErrorCode;
#[cfg(unix)]
use strum::IntoEnumIterator as _;

/// A class of errors, from which the exit status of a command follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// The page, an element, a session or a file is not as the call requires.
    State,
    /// The call is wrong.
    Usage,
    /// A time limit passed.
    Timeout,
    /// A rule of the operator does not allow the call.
    Denied,
    /// The browser, the server, or the app under test failed.
    Failure,
}

impl ErrorClass {
    /// Returns the exit status of a command that ends with an error of this class.
    pub fn exit_status(self) -> u8 {
        match self {
            Self::State => 1,
            Self::Usage => 2,
            Self::Timeout => 3,
            Self::Denied => 4,
            Self::Failure => 5,
        }
    }
}

impl ErrorCode {
    /// Returns the code with this name.
    #[cfg(unix)]
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::iter().find(|code| code.name() == name)
    }

    /// Returns the class of the error.
    pub fn class(self) -> ErrorClass {
        match self {
            Self::SessionNotFound
            | Self::SessionExpired
            | Self::ElementNotFound
            | Self::ElementAmbiguous
            | Self::StaleRef
            | Self::ElementNotClickable
            | Self::ElementNotEditable
            | Self::ElementNotInteractive
            | Self::NavigationFailed
            | Self::NetworkError
            | Self::DialogOpen
            | Self::UserHasControl
            | Self::ScriptFailed
            | Self::VerificationFailed
            | Self::NotFound
            | Self::TabGone
            | Self::FileError => ErrorClass::State,
            Self::InvalidParameters | Self::InvalidSelector | Self::InvalidUrl => ErrorClass::Usage,
            Self::Timeout | Self::DevServerTimeout => ErrorClass::Timeout,
            Self::UrlBlocked
            | Self::SecretNotAllowedHere
            | Self::FileAccessDenied
            | Self::ToolDisabled
            | Self::InsufficientScope
            | Self::PolicyDenied => ErrorClass::Denied,
            Self::MaxSessionsReached
            | Self::BrowserCrashed
            | Self::BrowserError
            | Self::UnsupportedByBrowser
            | Self::FfmpegUnavailable
            | Self::DevServerNotConfigured
            | Self::DevServerFailed
            | Self::AuditFailed
            | Self::ResourceExhausted
            | Self::Cancelled
            | Self::InternalError => ErrorClass::Failure,
        }
    }
}
