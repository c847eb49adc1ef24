//! WebKitGTK over its remote inspector server: the `Automation` domain for windows, input, dialogs and cookies, and the inspector of each
//! page for everything else.
//!
//! A browser has one automation session, whose pages share one profile, so each context has a browser of its own. There is no isolated world:
//! the injected code is a property of the page's global object that no enumeration shows, and it calls the built-ins that a script has
//! recorded before those of the page.

mod browser;
mod console;
mod context;
mod download_watcher;
mod downloads;
mod input_sources;
mod network;
mod page;
mod parts;
mod runtime;
mod starter;
mod targets;

use crate::backend::{Alternative, Capabilities, Feature};

pub(crate) use browser::WebKitBrowser;
pub(crate) use starter::{Started, Starter};

/// What WebKitGTK cannot do.
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
        (Feature::FolderUpload, Alternative::Chromium),
        (Feature::HoldResponse, Alternative::MockedResponse),
        (Feature::Permission, Alternative::ChromiumOrFirefox),
        (Feature::Geolocation, Alternative::ChromiumOrFirefox),
        (Feature::Pdf, Alternative::ChromiumOrFirefox),
        (Feature::ServerSentEvents, Alternative::Chromium),
    ],
    lacks_elsewhere: &[],
    throttles: false,
};
