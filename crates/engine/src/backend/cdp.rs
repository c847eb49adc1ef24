//! Chromium, over the Chrome DevTools Protocol.

mod authentication;
mod browser;
mod console;
mod context;
mod databases;
mod emulation;
mod evaluate;
mod events;
mod input;
mod interception;
mod local_storage;
mod network;
mod origins;
mod page;
mod permissions;
mod picture;
mod proxy;
mod routing;
mod scratch;
mod setup;
mod worlds;

pub(crate) use browser::CdpBrowser;
pub(crate) use proxy::proxy_bypass;

use crate::error::Error;

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
            other => Self::Protocol {
                method: String::new(),
                message: other.to_string(),
            },
        }
    }
}
