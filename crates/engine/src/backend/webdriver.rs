//! WebKit, over W3C WebDriver, and over its remote inspector where there is one.
//!
//! WebDriver has one browser per session, and tells nothing unasked. So each context is a driver and a browser of its own, and what
//! happens in a page is heard from the inspector: navigations, requests, the console. Where there is none, we look: each look at a page
//! tells what has changed since the last one.
//!
//! There is no world apart from the page's: our code is one property of the page's global object that no listing shows, and relies on
//! what pages may have replaced. Commands go to the window and frame that the session is switched to, so that is held while one begins.
//! <https://www.w3.org/TR/webdriver2/>

mod browser;
mod console;
mod context;
mod download_watcher;
mod downloads;
mod driver;
mod inspector;
mod network;
mod page;
mod parts;
mod starter;

use crate::backend::{Alternative, Capabilities, Feature};

pub(crate) use browser::WebDriverBrowser;
pub(crate) use starter::{InspectorChannel, Started, Starter};

/// What WebKitGTK cannot do by its driver and its inspector.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    browser: "WebKit",
    lacks: &[
        (Feature::MobileViewport, Alternative::Chromium),
        (Feature::TouchScreen, Alternative::Chromium),
        (Feature::ScaledViewport, Alternative::ChromiumOrFirefox),
        (Feature::BypassCsp, Alternative::Chromium),
        (Feature::HoldResponse, Alternative::MockedResponse),
        (Feature::Permission, Alternative::ChromiumOrFirefox),
        (Feature::Geolocation, Alternative::ChromiumOrFirefox),
        (Feature::HttpCredentials, Alternative::ChromiumOrFirefox),
        (Feature::Pdf, Alternative::ChromiumOrFirefox),
    ],
    lacks_elsewhere: &[],
    throttles: false,
};

/// What a driver can do that has no inspector.
pub(crate) const CLASSIC: Capabilities = Capabilities {
    browser: "WebKit",
    lacks: &[
        (Feature::Throttling, Alternative::Chromium),
        (Feature::MediaFeatures, Alternative::ChromiumOrFirefox),
        (Feature::MobileViewport, Alternative::Chromium),
        (Feature::TouchScreen, Alternative::Chromium),
        (Feature::ScaledViewport, Alternative::ChromiumOrFirefox),
        (Feature::BypassCsp, Alternative::Chromium),
        (Feature::WithoutScripts, Alternative::ChromiumOrFirefox),
        (Feature::Proxy, Alternative::ChromiumOrFirefox),
        (Feature::OriginRules, Alternative::ChromiumOrFirefox),
        (Feature::AddressRules, Alternative::ChromiumOrFirefox),
        (Feature::Locale, Alternative::ChromiumOrFirefox),
        (Feature::TimeZone, Alternative::ChromiumOrFirefox),
        (Feature::HoldResponse, Alternative::ChromiumOrFirefox),
        (Feature::RewriteRequest, Alternative::ChromiumOrFirefox),
        (Feature::Interception, Alternative::ChromiumOrFirefox),
        (Feature::InitScripts, Alternative::ChromiumOrFirefox),
        (Feature::ExtraHeaders, Alternative::ChromiumOrFirefox),
        (Feature::UserAgent, Alternative::ChromiumOrFirefox),
        (Feature::Offline, Alternative::ChromiumOrFirefox),
        (Feature::Bodies, Alternative::ChromiumOrFirefox),
        (Feature::Permission, Alternative::ChromiumOrFirefox),
        (Feature::Geolocation, Alternative::ChromiumOrFirefox),
        (Feature::HttpCredentials, Alternative::ChromiumOrFirefox),
        (Feature::Pdf, Alternative::ChromiumOrFirefox),
    ],
    lacks_elsewhere: &[],
    throttles: false,
};

/// What a browser can do, with or without its inspector.
fn capabilities(has_inspector: bool) -> &'static Capabilities {
    if has_inspector {
        &CAPABILITIES
    } else {
        &CLASSIC
    }
}
