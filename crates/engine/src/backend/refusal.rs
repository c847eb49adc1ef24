//! What the errors of a connection to a browser are to the engine.

use crate::error::Error;

impl From<wire::Error> for Error {
    fn from(error: wire::Error) -> Self {
        match error {
            wire::Error::Closed { reason } => Self::BrowserClosed { reason },
            wire::Error::SessionClosed { .. } => Self::PageClosed {},
            wire::Error::Protocol {
                method, message, ..
            }
            | wire::Error::Refused {
                method, message, ..
            } => Self::Protocol {
                method: method.to_owned(),
                message,
            },
            other => Self::Protocol {
                method: String::new(),
                message: other.to_string(),
            },
        }
    }
}
