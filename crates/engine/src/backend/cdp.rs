//! Chromium over the Chrome DevTools Protocol.

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

/// Chromium supports all features of the engine.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    browser: "Chromium",
    lacks: &[],
    lacks_elsewhere: &[],
    throttles: true,
};

/// The features of a Chromium that runs on another machine: its requests can be intercepted, but not its connections.
pub(crate) const REMOTE: Capabilities = Capabilities {
    lacks_elsewhere: &[
        (Feature::AddressRules, Alternative::LocalBrowser),
        (Feature::Certificates, Alternative::LocalBrowser),
    ],
    ..CAPABILITIES
};

/// The features of the user's own browser, which gives some of its tabs through an extension. `chrome.debugger` has no `Browser` domain.
pub(crate) const EXTENSION: Capabilities = Capabilities {
    browser: "the user's own Chrome",
    lacks_elsewhere: &[
        (Feature::IsolatedContext, Alternative::LaunchedBrowser),
        (Feature::Proxy, Alternative::LaunchedBrowser),
        (Feature::OriginRules, Alternative::LaunchedBrowser),
        (Feature::AddressRules, Alternative::LaunchedBrowser),
        (Feature::Certificates, Alternative::LaunchedBrowser),
        (Feature::Permission, Alternative::LaunchedBrowser),
        (
            Feature::IgnoreCertificatesInProfile,
            Alternative::LaunchedBrowser,
        ),
    ],
    ..CAPABILITIES
};

/// Returns the hosts that Chromium reaches without a proxy: only those in the list, also for loopback addresses.
pub(crate) fn proxy_bypass_list(proxy: &Proxy) -> String {
    let listed = proxy.bypass.iter().map(String::as_str);
    // The last matching rule takes precedence.
    let all: Vec<_> = std::iter::once("<-loopback>").chain(listed).collect();
    all.join(";")
}
