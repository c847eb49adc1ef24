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

use crate::backend::{Capabilities, Feature};

pub(crate) use browser::WebDriverBrowser;
pub(crate) use starter::{InspectorChannel, Started, Starter};

const OTHERS: &str = "Use --browser=chromium or firefox for it.";

/// What WebKitGTK cannot do by its driver and its inspector.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    browser: "WebKit",
    lacks: &[
        (Feature::MobileViewport, "Use --browser=chromium for it."),
        (Feature::TouchScreen, "Use --browser=chromium for it."),
        (Feature::ScaledViewport, OTHERS),
        (Feature::BypassCsp, "Use --browser=chromium for it."),
        (
            Feature::HoldResponse,
            "Answer the request yourself, or use --browser=chromium.",
        ),
        (Feature::Permission, OTHERS),
        (Feature::Geolocation, OTHERS),
        (Feature::HttpCredentials, OTHERS),
        (Feature::Pdf, OTHERS),
    ],
    lacks_elsewhere: &[],
    throttles: false,
};

/// What a driver can do that has no inspector.
pub(crate) const CLASSIC: Capabilities = Capabilities {
    browser: "WebKit",
    lacks: &[
        (Feature::Throttling, "Use --browser=chromium for it."),
        (Feature::MediaFeatures, OTHERS),
        (Feature::MobileViewport, "Use --browser=chromium for it."),
        (Feature::TouchScreen, "Use --browser=chromium for it."),
        (Feature::ScaledViewport, OTHERS),
        (Feature::BypassCsp, "Use --browser=chromium for it."),
        (Feature::WithoutScripts, OTHERS),
        (Feature::Proxy, OTHERS),
        (Feature::OriginRules, OTHERS),
        (Feature::AddressRules, OTHERS),
        (Feature::Locale, OTHERS),
        (Feature::TimeZone, OTHERS),
        (Feature::HoldResponse, OTHERS),
        (Feature::RewriteRequest, OTHERS),
        (Feature::Interception, OTHERS),
        (Feature::InitScripts, OTHERS),
        (Feature::ExtraHeaders, OTHERS),
        (Feature::UserAgent, OTHERS),
        (Feature::Offline, OTHERS),
        (Feature::Bodies, OTHERS),
        (Feature::Permission, OTHERS),
        (Feature::Geolocation, OTHERS),
        (Feature::HttpCredentials, OTHERS),
        (Feature::Pdf, OTHERS),
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
