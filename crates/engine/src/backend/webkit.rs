//! WebKit over W3C WebDriver and its remote inspector, which reports navigations, requests and the console, intercepts requests, and runs
//! init scripts.
//!
//! A session of WebDriver has one browser, so each context has a driver and a browser of its own. Commands go to the window and frame
//! that the session is switched to, so both are locked while a command begins. There is no isolated world: the injected code is a property
//! of the page's global object that no enumeration shows, and it relies on what pages may have replaced.
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
use context::WebKitContext;
use page::WebKitPage;

pub(crate) use browser::WebKitBrowser;
pub(crate) use inspector::InspectorChannel;
pub(crate) use starter::{Started, Starter};

/// What WebKitGTK cannot do with its driver and its inspector.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    browser: "WebKit",
    lacks: &[
        (Feature::CpuThrottling, Alternative::Chromium),
        (Feature::PerformanceTrace, Alternative::Chromium),
        (Feature::HeapSnapshot, Alternative::Chromium),
        (Feature::Coverage, Alternative::Chromium),
        (Feature::ForcedColors, Alternative::Chromium),
        (Feature::StyleRules, Alternative::Chromium),
        (Feature::MobileViewport, Alternative::Chromium),
        (Feature::TouchScreen, Alternative::Chromium),
        (Feature::ScaledViewport, Alternative::ChromiumOrFirefox),
        (Feature::BypassCsp, Alternative::Chromium),
        (Feature::LocaleChange, Alternative::NewContext),
        (Feature::HoldResponse, Alternative::MockedResponse),
        (Feature::Permission, Alternative::ChromiumOrFirefox),
        (Feature::Geolocation, Alternative::ChromiumOrFirefox),
        (Feature::HttpCredentials, Alternative::ChromiumOrFirefox),
        (Feature::Pdf, Alternative::ChromiumOrFirefox),
        (Feature::ServerSentEvents, Alternative::Chromium),
    ],
    lacks_elsewhere: &[],
    throttles: false,
};
