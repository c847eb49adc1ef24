//! Chromium, over the Chrome DevTools Protocol.

mod browser;
mod console;
mod context;
mod network;
mod origins;
mod page;
mod targets;
mod utility_page;

use crate::backend::{Alternative, Capabilities, Feature, Proxy};

pub(crate) use browser::CdpBrowser;

/// Chromium can do all that the engine knows of.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    browser: "Chromium",
    lacks: &[],
    lacks_elsewhere: &[],
    throttles: true,
};

/// What a Chromium can do that runs elsewhere: each of its requests stops by us, but not its connections.
pub(crate) const REMOTE: Capabilities = Capabilities {
    lacks_elsewhere: &[(Feature::AddressRules, Alternative::LocalBrowser)],
    ..CAPABILITIES
};

/// The hosts that Chromium reaches without a proxy: only those that are listed, of loopback addresses too.
pub(crate) fn proxy_bypass_list(proxy: &Proxy) -> String {
    let listed = proxy.bypass.iter().map(String::as_str);
    // The last rule that fits decides.
    let all: Vec<_> = std::iter::once("<-loopback>").chain(listed).collect();
    all.join(";")
}
