//! Chromium, over the Chrome DevTools Protocol.

mod authentication;
mod browser;
mod console;
mod context;
mod emulation;
mod evaluate;
mod events;
mod input;
mod interception;
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

use crate::backend::Capabilities;

pub(crate) use browser::CdpBrowser;
pub(crate) use proxy::proxy_bypass;

/// Chromium can do all that the engine knows of.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    browser: "Chromium",
    lacks: &[],
};
