//! Conversion of errors of a connection to errors of the engine.

use crate::error::Error;

// The only mention of `wire` in the public API; not for users of the library.
#[doc(hidden)]
impl From<wire::Error> for Error {
    fn from(error: wire::Error) -> Self {
        match error {
            wire::Error::Closed { reason } => Self::BrowserClosed { reason },
            wire::Error::SessionClosed { .. } => Self::PageClosed {},
            wire::Error::Protocol {
                method, message, ..
            } => Self::Protocol {
                method: method.to_owned(),
                message,
            },
            wire::Error::Refused {
                method,
                error,
                message,
                ..
            } => Self::Protocol {
                method: method.to_owned(),
                // Some remote ends send only the error code.
                message: if message.is_empty() { error } else { message },
            },
            other => Self::Protocol {
                method: String::new(),
                message: other.to_string(),
            },
        }
    }
}
