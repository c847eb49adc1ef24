//! Firefox, over WebDriver BiDi.
//!
//! One connection has one session, and its events come in one queue: one task hands them to contexts and pages. User contexts are our
//! contexts, and what holds for a context is told to its user context, so that a page has it before it shows anything. Each page is a
//! window of its own: a tab behind another one draws nothing and counts seconds as minutes.
//!
//! Our code runs in a sandbox of each document, which the page neither sees nor changes. A frame of another origin is a browsing
//! context like any other. <https://w3c.github.io/webdriver-bidi/>

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

use crate::backend::{Alternative, Capabilities, Feature};

pub(crate) use browser::{BidiBrowser, user_prompt_handler};

/// What WebDriver BiDi, or Firefox's part of it, has no command for.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    browser: "Firefox",
    lacks: &[
        (Feature::MediaFeatures, Alternative::Chromium),
        (Feature::MobileViewport, Alternative::Chromium),
        (Feature::TouchScreen, Alternative::Chromium),
        (Feature::BypassCsp, Alternative::Chromium),
        (Feature::WithoutScripts, Alternative::Chromium),
        (
            Feature::IgnoreCertificatesInProfile,
            Alternative::IsolatedContext,
        ),
        (Feature::RewriteRequest, Alternative::MockedResponse),
        (Feature::HoldResponse, Alternative::MockedResponse),
        (Feature::Permission, Alternative::FirefoxPermissions),
    ],
    lacks_elsewhere: &[],
    throttles: false,
};

/// What a Firefox can do that runs elsewhere.
pub(crate) const REMOTE: Capabilities = Capabilities {
    lacks_elsewhere: &[
        (Feature::Proxy, Alternative::OwnProxy),
        (Feature::OriginRules, Alternative::LocalBrowser),
        (Feature::AddressRules, Alternative::LocalBrowser),
        (Feature::Throttling, Alternative::LocalBrowser),
    ],
    ..CAPABILITIES
};
