//! The errors of the engine.

mod net_error;
mod stale_ref;

pub use net_error::{NetError, NetErrorClass};
pub use stale_ref::{ElementState, ElementSummary, StaleElement};

use crate::feature::{Alternative, Feature};
use crate::text::shorten;
use serde::Serialize;

/// The result of functions of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation of the engine failed. [`Error::code`] is its code for programs, `Display` the sentence for users.
#[derive(Debug, Clone, thiserror::Error, Serialize, strum::IntoStaticStr)]
#[serde(untagged, rename_all_fields = "camelCase")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Error {
    /// No element matches the selector.
    #[error("\"{selector}\" does not match any elements.")]
    ElementNotFound {
        /// The selector in the caller's spelling.
        selector: String,
        /// The lines of a snapshot of the page that are nearest to what the selector describes, if they were looked up.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        nearest: Vec<String>,
    },
    /// More than one element matches a selector that must match exactly one.
    #[error("strict mode violation: {selector} resolved to {count} elements:\n{}", list(.candidates, *.count))]
    ElementAmbiguous {
        /// The selector in the caller's spelling.
        selector: String,
        /// The number of elements that match.
        count: usize,
        /// The first elements, each with a preview and a locator that matches only this element.
        candidates: Vec<Candidate>,
    },
    /// The ref was never given, or its element was removed or has another role or name now.
    #[error(
        "Ref {reference} not found in the current page snapshot. Try capturing new snapshot.{facts}"
    )]
    StaleRef {
        /// The ref, including the prefix of its frame.
        reference: String,
        /// What it named, what is there now, and what to use instead.
        #[serde(flatten)]
        facts: Box<StaleElement>,
    },
    /// The selector is not valid.
    #[error("{reason}")]
    InvalidSelector {
        /// The selector as it was given.
        selector: String,
        /// The error in the selector and its position.
        reason: String,
    },
    /// An audit was requested by rules or tags that do not exist, or by both.
    #[error(
        "Unknown rules or tags: {}. Name either rules of axe-core, such as color-contrast, or tags, such as {}.",
        unknown.join(", "), tags.join(", ")
    )]
    UnknownAuditRules {
        /// What does not exist.
        unknown: Vec<String>,
        /// The most common tags.
        tags: Vec<String>,
    },
    /// The element exists but fails an actionability check.
    #[error("{obstacle}")]
    NotActionable {
        /// The selector in the caller's spelling.
        selector: String,
        /// The failed check.
        obstacle: Obstacle,
    },
    /// The element is of the wrong kind for the action.
    #[error("{reason}")]
    ElementMismatch {
        /// The selector in the caller's spelling.
        selector: String,
        /// The kind that the action requires, and that of the element.
        reason: String,
    },
    /// The element accepts no text.
    #[error("{reason}")]
    TakesNoText {
        /// The selector in the caller's spelling.
        selector: String,
        /// The kind of the element.
        reason: String,
    },
    /// The operation timed out. The log lists its attempts.
    #[error("Timeout {timeout_ms}ms exceeded.{}", call_log(.log))]
    Timeout {
        /// The timeout in milliseconds.
        timeout_ms: u64,
        /// The last failed check or error.
        #[serde(skip_serializing_if = "Option::is_none")]
        obstacle: Option<Box<Error>>,
        /// The attempts, oldest first.
        log: Vec<String>,
    },
    /// The caller cancelled the operation.
    #[error("cancelled")]
    Cancelled {},
    /// The browser could not load the document.
    #[error("{reason} at {url}")]
    NavigationFailed {
        /// The URL of the navigation.
        url: String,
        /// The net error, e.g. `net::ERR_NAME_NOT_RESOLVED`.
        reason: NetError,
    },
    /// The scheme of the URL is not allowed.
    #[error("Access to \"{scheme}:\" protocol is blocked. Attempted URL: \"{url}\"")]
    UrlBlocked {
        /// The URL of the navigation.
        url: String,
        /// The scheme of the URL.
        scheme: String,
    },
    /// The rules about origins block the URL, or one that it redirects to.
    #[error("net::ERR_BLOCKED_BY_CLIENT at {url}: {rule}")]
    OriginBlocked {
        /// The URL that was not requested.
        url: String,
        /// The rule, e.g. `evil.org is blocked`.
        rule: String,
    },
    /// The URL is not valid.
    #[error("Invalid URL: {url}")]
    InvalidUrl {
        /// The URL as it was given.
        url: String,
    },
    /// A regular expression needs more steps than the limit of a search.
    #[error(
        "The regular expression {pattern} takes too long on this text: it backtracks too much."
    )]
    PatternTooSlow {
        /// The source of the regular expression.
        pattern: String,
    },
    /// A script of the caller threw an exception.
    #[error("{message}")]
    Script {
        /// The message of the exception and its stack trace.
        message: String,
    },
    /// A dialog is open, which pauses the page.
    #[error("a dialog is open")]
    DialogOpen {},
    /// There is no key with this name.
    #[error("Unknown key: \"{key}\"")]
    UnknownKey {
        /// The name as it was given.
        key: String,
    },
    /// The frame or its document was removed. A retry may find the next document.
    #[error("the document was replaced by a navigation")]
    DocumentGone {},
    /// The page was closed.
    #[error("Target page, context or browser has been closed")]
    PageClosed {},
    /// The renderer process of the page crashed.
    #[error("the page crashed")]
    PageCrashed {},
    /// The page was unresponsive, and its renderer process had to be terminated.
    #[error("the page did not respond and was terminated")]
    PageHung {},
    /// The browser was closed or its connection ended.
    #[error("Target page, context or browser has been closed{}", after(.reason))]
    BrowserClosed {
        /// Why the connection ended.
        reason: String,
    },
    /// No browser was found.
    #[error("{message}")]
    BrowserNotFound {
        /// The browser that was searched.
        message: String,
        /// The folders and paths that were searched.
        tried: Vec<String>,
        /// The command that installs the browser.
        install: String,
    },
    /// The browser did not start, or ended during its start.
    #[error("{reason}{}", browser_log(.log))]
    LaunchFailed {
        /// Why the start failed.
        reason: String,
        /// The output of the browser.
        log: String,
    },
    /// Another browser uses the profile.
    #[error("Browser is already in use for {dir}")]
    ProfileInUse {
        /// The path of the profile.
        dir: String,
    },
    /// Connecting to a running browser failed.
    #[error("{reason}")]
    ConnectFailed {
        /// The endpoint as it was given.
        endpoint: String,
        /// Why connecting failed.
        reason: String,
    },
    /// The browser does not support a feature.
    #[error("{} is not supported by {browser}. {alternative}", .feature.name())]
    UnsupportedByBrowser {
        /// The name of the browser.
        browser: &'static str,
        /// The feature.
        feature: Feature,
        /// The supported alternative.
        alternative: Alternative,
    },
    /// Videos need ffmpeg, which is missing.
    #[error(
        "Video recording requires ffmpeg, but {reason}. Install it with `apt-get install ffmpeg` or `brew install ffmpeg`."
    )]
    FfmpegUnavailable {
        /// Why ffmpeg cannot be used.
        reason: String,
    },
    /// ffmpeg could not encode a video.
    #[error("ffmpeg could not write the video: {reason}")]
    VideoFailed {
        /// The output of ffmpeg.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{reason}")]
    File {
        /// The path of the file.
        path: String,
        /// The error of the operating system.
        reason: String,
    },
    /// The browser rejected an option of the browser context.
    #[error("{message}")]
    InvalidOption {
        /// The field of `ContextOptions`.
        option: &'static str,
        /// The message of the browser.
        message: String,
    },
    /// A measurement that runs already was started, or one that does not run was stopped.
    #[error("{} {}", measurement.name(), if *.is_running { "is recorded already" } else { "is not being recorded" })]
    MeasurementState {
        /// The measurement.
        measurement: Measurement,
        /// Whether it runs.
        is_running: bool,
    },
    /// A profile in a file is not valid.
    #[error("{reason}")]
    InvalidProfile {
        /// What is wrong with the file.
        reason: String,
    },
    /// The browser returned an error for a command, or a result of an unknown form.
    #[error("{message}")]
    Protocol {
        /// The name of the command.
        method: String,
        /// The message of the browser or the parser.
        message: String,
    },
}

/// What is measured between two calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Measurement {
    /// A performance trace, of which a browser records one at a time.
    PerformanceTrace,
    /// Code coverage.
    Coverage,
}

impl Measurement {
    /// Returns the name, with which a sentence can begin.
    pub fn name(self) -> &'static str {
        match self {
            Self::PerformanceTrace => "A performance trace of this browser",
            Self::Coverage => "Code coverage of this page",
        }
    }

    pub(crate) fn running_error(self) -> Error {
        Error::MeasurementState {
            measurement: self,
            is_running: true,
        }
    }

    pub(crate) fn missing_error(self) -> Error {
        Error::MeasurementState {
            measurement: self,
            is_running: false,
        }
    }
}

/// One of several elements that match a selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// A preview of the element, e.g. `<button id="go">Go</button>`.
    pub preview: String,
    /// A locator that matches only this element, e.g. `getByRole('button', { name: 'Go' })`.
    pub locator: String,
}

/// The actionability check that an element fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
pub enum Obstacle {
    /// The element is not attached to the document.
    #[error("element was detached from the DOM, retrying")]
    Detached,
    /// The element has no bounding box, or is hidden by CSS.
    #[error("element is not visible")]
    NotVisible,
    /// The element is disabled.
    #[error("element is not enabled")]
    NotEnabled,
    /// The element is read-only or not a field.
    #[error("element is not editable")]
    NotEditable,
    /// The bounding box of the element changes.
    #[error("element is not stable")]
    NotStable,
    /// The element cannot be scrolled into the viewport.
    #[error("element is outside of the viewport")]
    OutsideViewport,
    /// Another element is the hit target.
    #[error("{0} intercepts pointer events")]
    Covered(
        /// A preview of the hit target.
        String,
    ),
    /// The select element does not have the options.
    #[error("did not find some options")]
    MissingOptions {
        /// The labels of the first 20 that it has, and an ellipsis if it has more.
        options: Vec<String>,
    },
    /// The option is disabled.
    #[error("option being selected is not enabled")]
    OptionNotEnabled,
}

/// The longest part of a message of a page that is kept, in bytes.
const MAX_MESSAGE_LENGTH: usize = 64 * 1024;

impl Error {
    /// Creates the error for a command that the browser rejected, or for a result of an unknown form.
    pub(crate) fn protocol(method: &str, message: impl ToString) -> Self {
        Self::Protocol {
            method: method.to_owned(),
            message: message.to_string(),
        }
    }

    /// Shortens the message of a page to the limit.
    pub(crate) fn bounded(mut self) -> Self {
        if let Self::Script { message } = &mut self {
            shorten(message, MAX_MESSAGE_LENGTH);
        }
        self
    }

    /// Returns the stable code for clients: the name of the variant in upper snake case.
    pub fn code(&self) -> &'static str {
        self.into()
    }

    /// Whether the operation is to be retried until its deadline.
    pub(crate) fn transient(&self) -> bool {
        matches!(
            self,
            Self::ElementNotFound { .. } | Self::NotActionable { .. } | Self::DocumentGone {}
        )
    }
}

fn list(candidates: &[Candidate], count: usize) -> String {
    let mut text = String::new();
    for (index, candidate) in candidates.iter().enumerate() {
        text += &format!(
            "    {}) {} aka {}\n",
            index + 1,
            candidate.preview,
            candidate.locator
        );
    }
    if count > candidates.len() {
        text += "    ...\n";
    }
    text
}

fn call_log(log: &[String]) -> String {
    if log.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nCall log:");
    for line in log {
        let step = line.trim_start();
        let indent = &line[..line.len() - step.len()];
        let repeated = step
            .split_once(" × ")
            .is_some_and(|(times, _)| times.bytes().all(|byte| byte.is_ascii_digit()));
        let bullet = if repeated { "" } else { "- " };
        text += &format!("\n  {indent}{bullet}{step}");
    }
    text
}

fn after(reason: &str) -> String {
    if reason.is_empty() {
        String::new()
    } else {
        format!(" ({reason})")
    }
}

fn browser_log(log: &str) -> String {
    if log.is_empty() {
        String::new()
    } else {
        format!("\nBrowser logs:\n{log}")
    }
}
