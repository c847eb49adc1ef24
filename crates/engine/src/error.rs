//! Everything that can go wrong while driving a browser, as facts.

mod net_error;

pub use net_error::{NetError, NetErrorClass};

use crate::feature::{Alternative, Feature};
use serde::Serialize;

/// What engine functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure: [`Error::code`] is for programs, `Display` for people, the fields for both.
#[derive(Debug, Clone, thiserror::Error, Serialize, strum::IntoStaticStr)]
#[serde(untagged, rename_all_fields = "camelCase")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Error {
    /// No element matches the selector.
    #[error("\"{selector}\" does not match any elements.")]
    ElementNotFound {
        /// The selector as the caller would write it.
        selector: String,
    },
    /// More than one element matches where one is meant.
    #[error("strict mode violation: {selector} resolved to {count} elements:\n{}", list(.candidates, *.count))]
    ElementAmbiguous {
        /// The selector as the caller would write it.
        selector: String,
        /// How many elements match.
        count: usize,
        /// The first of them: a preview and a locator that names only it.
        candidates: Vec<Candidate>,
    },
    /// The ref is not one of the last snapshot, or its element has gone.
    #[error("Ref {reference} not found in the current page snapshot. Try capturing new snapshot.")]
    StaleRef {
        /// The ref, frame prefix included.
        reference: String,
    },
    /// The selector cannot be read.
    #[error("{reason}")]
    InvalidSelector {
        /// The selector as given.
        selector: String,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// The element is there but not in a state to act on.
    #[error("{obstacle}")]
    NotActionable {
        /// The selector as the caller would write it.
        selector: String,
        /// What stands in the way.
        obstacle: Obstacle,
    },
    /// The element is of the wrong kind for the action.
    #[error("{reason}")]
    ElementMismatch {
        /// The selector as the caller would write it.
        selector: String,
        /// What the action needs and what the element is.
        reason: String,
    },
    /// The element takes no text.
    #[error("{reason}")]
    TakesNoText {
        /// The selector as the caller would write it.
        selector: String,
        /// What the element is.
        reason: String,
    },
    /// The deadline passed; what was tried is in the log.
    #[error("Timeout {timeout_ms}ms exceeded.{}", call_log(.log))]
    Timeout {
        /// The deadline, in milliseconds.
        timeout_ms: u64,
        /// The last thing that stood in the way.
        #[serde(skip_serializing_if = "Option::is_none")]
        obstacle: Option<Box<Error>>,
        /// What was done until then, oldest first.
        log: Vec<String>,
    },
    /// The call was cancelled by its owner.
    #[error("cancelled")]
    Cancelled {},
    /// The browser could not load the document.
    #[error("{reason} at {url}")]
    NavigationFailed {
        /// The URL that was asked for.
        url: String,
        /// The net error, e.g. `net::ERR_NAME_NOT_RESOLVED`.
        reason: NetError,
    },
    /// Our own rules forbid the URL.
    #[error("Access to \"{scheme}:\" protocol is blocked. Attempted URL: \"{url}\"")]
    UrlBlocked {
        /// The URL that was asked for.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// The rules about origins forbid the URL, or one that it redirects to.
    #[error("net::ERR_BLOCKED_BY_CLIENT at {url}: {rule}")]
    OriginBlocked {
        /// The URL that was not requested.
        url: String,
        /// The rule in words, e.g. `evil.org is blocked`.
        rule: String,
    },
    /// The URL cannot be read.
    #[error("Invalid URL: {url}")]
    InvalidUrl {
        /// The URL as given.
        url: String,
    },
    /// A regular expression needs more steps than searches may take.
    #[error(
        "The regular expression {pattern} takes too long on this text: it backtracks too much."
    )]
    PatternTooSlow {
        /// Its source.
        pattern: String,
    },
    /// A script of the caller threw.
    #[error("{message}")]
    Script {
        /// The page's message with its stack.
        message: String,
    },
    /// A dialog is open and the page waits for it.
    #[error("a dialog is open")]
    DialogOpen {},
    /// There is no such key on a keyboard.
    #[error("Unknown key: \"{key}\"")]
    UnknownKey {
        /// The key as given.
        key: String,
    },
    /// The frame or its document is gone; the same question may be asked of the next document.
    #[error("the document was replaced by a navigation")]
    DocumentGone {},
    /// The page is closed.
    #[error("Target page, context or browser has been closed")]
    PageClosed {},
    /// The page's renderer crashed.
    #[error("the page crashed")]
    PageCrashed {},
    /// The page did not answer, and nothing but ending its renderer was left.
    #[error("the page did not respond and was terminated")]
    PageHung {},
    /// The browser is gone.
    #[error("Target page, context or browser has been closed{}", after(.reason))]
    BrowserClosed {
        /// Why the connection to it ended.
        reason: String,
    },
    /// No browser was found.
    #[error("{message}")]
    BrowserNotFound {
        /// What was looked for.
        message: String,
        /// Every place that was tried.
        tried: Vec<String>,
        /// The command that installs one.
        install: String,
    },
    /// The browser would not start, or ended while starting.
    #[error("{reason}{}", browser_log(.log))]
    LaunchFailed {
        /// What went wrong.
        reason: String,
        /// What the browser printed.
        log: String,
    },
    /// Another browser uses the profile.
    #[error("Browser is already in use for {dir}")]
    ProfileInUse {
        /// The profile's directory.
        dir: String,
    },
    /// A browser that runs elsewhere could not be reached.
    #[error("{reason}")]
    ConnectFailed {
        /// The endpoint as given.
        endpoint: String,
        /// What went wrong.
        reason: String,
    },
    /// The browser cannot do this.
    #[error("{} is not supported by {browser}. {alternative}", .feature.name())]
    UnsupportedByBrowser {
        /// The browser's name.
        browser: &'static str,
        /// What was asked of it.
        feature: Feature,
        /// What to do instead.
        alternative: Alternative,
    },
    /// A file could not be read or written.
    #[error("{reason}")]
    File {
        /// The path.
        path: String,
        /// The operating system's reason.
        reason: String,
    },
    /// The browser cannot make a page believe what the options of its context say.
    #[error("{message}")]
    InvalidOption {
        /// The field of `ContextOptions`.
        option: &'static str,
        /// The browser's words.
        message: String,
    },
    /// The browser refused a command, or answered what we do not understand.
    #[error("{message}")]
    Protocol {
        /// The command.
        method: String,
        /// The browser's words.
        message: String,
    },
}

/// One of several elements that match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The element in short, e.g. `<button id="go">Go</button>`.
    pub preview: String,
    /// A locator that names only this element, e.g. `getByRole('button', { name: 'Go' })`.
    pub locator: String,
}

/// Why an element cannot be acted on right now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
pub enum Obstacle {
    /// It left the document.
    #[error("element was detached from the DOM, retrying")]
    Detached,
    /// It has no box, or is hidden by style.
    #[error("element is not visible")]
    NotVisible,
    /// It is disabled.
    #[error("element is not enabled")]
    NotEnabled,
    /// It is read-only or no field.
    #[error("element is not editable")]
    NotEditable,
    /// It moves.
    #[error("element is not stable")]
    NotStable,
    /// It cannot be brought into the viewport.
    #[error("element is outside of the viewport")]
    OutsideViewport,
    /// Another element lies over it.
    #[error("{0} intercepts pointer events")]
    Covered(
        /// The cover in short.
        String,
    ),
    /// A select lacks the options asked for.
    #[error("did not find some options")]
    MissingOptions,
    /// The option asked for is disabled.
    #[error("option being selected is not enabled")]
    OptionNotEnabled,
}

/// The most of a page's message that is kept, in bytes.
const MAX_MESSAGE_LENGTH: usize = 64 * 1024;

impl Error {
    /// A command that the browser refused, or an answer of it that we do not understand.
    pub(crate) fn protocol(method: &str, message: impl ToString) -> Self {
        Self::Protocol {
            method: method.to_owned(),
            message: message.to_string(),
        }
    }

    /// The same, with as much of a page's own words as anybody reads.
    pub(crate) fn bounded(mut self) -> Self {
        if let Self::Script { message } = &mut self {
            message.truncate(message.floor_char_boundary(MAX_MESSAGE_LENGTH));
            message.shrink_to_fit();
        }
        self
    }

    /// The stable name a client may branch on: the variant's name in upper snake case.
    pub fn code(&self) -> &'static str {
        self.into()
    }

    /// Whether our own waiting loop should try again within the deadline.
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
