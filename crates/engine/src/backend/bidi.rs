//! Firefox over WebDriver BiDi.
//!
//! A connection has one session, whose events arrive in one queue: one task passes them to contexts and pages. A browser context is a user
//! context. Settings of a context are applied to the user context, so that they are in effect before a page loads. Each page is the
//! selected tab of a window of its own, because a background tab is not rendered and its timers are throttled.
//!
//! Injected scripts run in a sandbox of each document, which the page cannot access. A frame of another origin is a browsing context like
//! any other. <https://w3c.github.io/webdriver-bidi/>

mod browser;
mod console;
mod context;
mod downloads;
mod interception;
mod network;
mod page;
mod page_index;
mod parts;
mod permissions;
mod utility_page;
mod windows;

use crate::backend::{Alternative, Capabilities, Feature};

pub(crate) use browser::{BidiBrowser, user_prompt_handler};

/// The features for which WebDriver BiDi or its implementation in Firefox has no command.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    browser: "Firefox",
    lacks: &[
        (Feature::CpuThrottling, Alternative::Chromium),
        (Feature::PerformanceTrace, Alternative::Chromium),
        (Feature::HeapSnapshot, Alternative::Chromium),
        (Feature::Coverage, Alternative::Chromium),
        (Feature::StyleRules, Alternative::Chromium),
        (Feature::VideoFrames, Alternative::Ffmpeg),
        (Feature::WorkerEvaluation, Alternative::Chromium),
        (Feature::MediaFeatures, Alternative::Chromium),
        (Feature::ForcedColors, Alternative::Chromium),
        (Feature::MobileViewport, Alternative::Chromium),
        (Feature::TouchScreen, Alternative::Chromium),
        (Feature::BypassCsp, Alternative::Chromium),
        (Feature::WithoutScripts, Alternative::Chromium),
        (
            Feature::IgnoreCertificatesInProfile,
            Alternative::IsolatedContext,
        ),
        (Feature::RewriteRequest, Alternative::MockedResponse),
        (Feature::FolderUpload, Alternative::Chromium),
        (Feature::HoldResponse, Alternative::MockedResponse),
        (Feature::Permission, Alternative::FirefoxPermissions),
        (Feature::WebSocketFrames, Alternative::Chromium),
        (Feature::ServerSentEvents, Alternative::Chromium),
    ],
    lacks_elsewhere: &[],
    throttles: false,
};

/// The features of a Firefox that runs on another machine.
pub(crate) const REMOTE: Capabilities = Capabilities {
    lacks_elsewhere: &[
        (Feature::Proxy, Alternative::OwnProxy),
        (Feature::OriginRules, Alternative::LocalBrowser),
        (Feature::AddressRules, Alternative::LocalBrowser),
        (Feature::Certificates, Alternative::LocalBrowser),
        (Feature::Throttling, Alternative::LocalBrowser),
    ],
    ..CAPABILITIES
};
