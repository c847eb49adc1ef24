//! WebKit over W3C WebDriver, and over its remote inspector where there is one.
//!
//! The parameter `E` of browsers, contexts and pages is what a browser offers beside WebDriver ([`page::PageExtension`],
//! [`context::ContextExtension`]):
//!
//! - [`InspectorLink`]: WebKitGTK that Playhouse starts. Its inspector reports navigations, requests and the console, intercepts requests,
//!   and runs init scripts.
//! - [`Classic`]: a remote end that offers nothing else, such as a Selenium Grid or Safari. Changes of a page are found by polling, and
//!   what WebDriver has no command for is refused ([`CLASSIC`]).
//!
//! A session of WebDriver has one browser, so each context has a driver and a browser of its own. Commands go to the window and frame
//! that the session is switched to, so both are locked while a command begins. There is no isolated world: the injected code is a property
//! of the page's global object that no enumeration shows, and it relies on what pages may have replaced.
//! <https://www.w3.org/TR/webdriver2/>

mod browser;
mod classic;
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
use browser::WebDriverBrowser;
use classic::Classic;
use context::WebDriverContext;
use inspector::InspectorLink;
use page::WebDriverPage;

pub(crate) use inspector::InspectorChannel;
pub(crate) use starter::{Started, Starter};

/// WebKitGTK.
pub(crate) type WebKitBrowser = WebDriverBrowser<InspectorLink>;
type WebKitContext = WebDriverContext<InspectorLink>;
type WebKitPage = WebDriverPage<InspectorLink>;
/// A browser behind a remote end without an inspector.
pub(crate) type ClassicBrowser = WebDriverBrowser<Classic>;
type ClassicPage = WebDriverPage<Classic>;

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
        (Feature::VideoFrames, Alternative::Ffmpeg),
        (Feature::WorkerEvaluation, Alternative::Chromium),
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

/// What a browser cannot do without an inspector.
pub(crate) const CLASSIC: Capabilities = Capabilities {
    browser: "WebKit",
    lacks: &[
        (Feature::Throttling, Alternative::Chromium),
        (Feature::MediaFeatures, Alternative::ChromiumOrFirefox),
        (Feature::CpuThrottling, Alternative::Chromium),
        (Feature::PerformanceTrace, Alternative::Chromium),
        (Feature::HeapSnapshot, Alternative::Chromium),
        (Feature::Coverage, Alternative::Chromium),
        (Feature::ForcedColors, Alternative::Chromium),
        (Feature::StyleRules, Alternative::Chromium),
        (Feature::VideoFrames, Alternative::Ffmpeg),
        (Feature::WorkerEvaluation, Alternative::Chromium),
        (Feature::MobileViewport, Alternative::Chromium),
        (Feature::TouchScreen, Alternative::Chromium),
        (Feature::ScaledViewport, Alternative::ChromiumOrFirefox),
        (Feature::BypassCsp, Alternative::Chromium),
        (Feature::WithoutScripts, Alternative::ChromiumOrFirefox),
        (Feature::Proxy, Alternative::ChromiumOrFirefox),
        (Feature::OriginRules, Alternative::ChromiumOrFirefox),
        (Feature::AddressRules, Alternative::ChromiumOrFirefox),
        (Feature::Certificates, Alternative::ChromiumOrFirefox),
        (Feature::Locale, Alternative::ChromiumOrFirefox),
        (Feature::TimeZone, Alternative::ChromiumOrFirefox),
        (Feature::LocaleChange, Alternative::ChromiumOrFirefox),
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
        (Feature::WebSocketFrames, Alternative::Chromium),
        (Feature::ServerSentEvents, Alternative::Chromium),
    ],
    lacks_elsewhere: &[],
    throttles: false,
};
