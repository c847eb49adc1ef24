//! Everything a tool call can fail with, as facts: a code for programs, a sentence for people, and the way out.

mod advice;
mod files;
pub(crate) mod nearest;

pub(crate) use advice::instead;
use engine::NetErrorClass;
pub(crate) use files::FileRule;
use files::allowed;
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;

/// What tools return.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed.
#[derive(Debug, Clone, thiserror::Error, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(crate) enum Error {
    /// The browser, or the way to it.
    #[error(transparent)]
    Engine(engine::Error),
    /// The browser cannot do this.
    #[error("{} is not supported by {browser}. {hint}", .feature.name())]
    UnsupportedByBrowser {
        browser: &'static str,
        feature: engine::Feature,
        /// What to do instead.
        hint: &'static str,
    },
    /// Another browser uses the profile.
    #[error(
        "Browser is already in use for {dir}, use --isolated to run multiple instances of the same browser"
    )]
    ProfileInUse { dir: String },
    /// The arguments do not fit the tool's schema.
    #[error("Invalid arguments for tool \"{tool}\":{}", listed(.problems))]
    InvalidArguments {
        tool: &'static str,
        problems: Vec<Problem>,
    },
    /// Each argument is right by itself, together they are not.
    #[error("{reason}")]
    Arguments {
        reason: Cow<'static, str>,
        /// Which they are.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        parameters: &'static [&'static str],
        /// Those of which one has to be there, and none is.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        missing: &'static [&'static str],
        /// Told without the word `Error`.
        #[serde(skip)]
        bare: bool,
    },
    /// A dialog or file chooser is open, and this tool is not the one that answers it.
    #[error("Tool \"{tool}\" does not handle the modal state.")]
    ModalState { tool: &'static str },
    /// Nothing is open that this tool could answer.
    #[error("The tool \"{tool}\" can only be used when there is related modal state present.")]
    NoModalState { tool: &'static str },
    /// The page stands still because of a dialog that the call did not expect.
    #[error("A dialog opened before \"{tool}\" was done")]
    DialogFirst { tool: &'static str },
    /// There is no such session, or not any more.
    #[error("Session \"{session_id}\" not found")]
    SessionNotFound { session_id: String },
    /// The session is over because nobody used it for too long.
    #[error("Session \"{session_id}\" has expired")]
    SessionExpired { session_id: String },
    /// Another call closed the session.
    #[error("The session was closed while \"{tool}\" was running or queued")]
    SessionClosed { tool: &'static str },
    /// The call names no session, and there are several that it may be for.
    #[error("The call names no session, and there are several: {}", .sessions.join(", "))]
    SessionUnclear {
        /// Their names, or their ids.
        sessions: Vec<String>,
    },
    /// There are as many sessions as there may be.
    #[error("Session limit reached ({max_sessions}, --max-sessions)")]
    MaxSessionsReached { max_sessions: usize },
    /// The session's browser ended by itself, and with it what the session had there.
    #[error("The browser of the session ended: {reason}")]
    BrowserCrashed {
        reason: String,
        /// The addresses of the pages that are gone.
        lost_pages: Vec<String>,
        /// What else is gone.
        lost: Vec<&'static str>,
    },
    /// The page ended by itself, and with it what only it had.
    #[error("The page crashed: {}", .lost_pages.join(", "))]
    PageCrashed {
        /// Its address, and those of others that went with it.
        lost_pages: Vec<String>,
        /// What else is gone.
        lost: Vec<&'static str>,
    },
    /// There is no context of that name in the session.
    #[error("Context \"{name}\" not found. There are: {}", .contexts.join(", "))]
    ContextNotFound { name: String, contexts: Vec<String> },
    /// The history ends there.
    #[error("The history has no such entry")]
    NoHistory { delta: i32 },
    /// There is no tab of that number.
    #[error("Tab {index} not found")]
    TabNotFound { index: i64 },
    /// There is no request of that number.
    #[error("Request #{index} not found. Use {list} to see available indexes.")]
    RequestNotFound {
        index: usize,
        /// The tool that lists them.
        #[serde(skip)]
        list: &'static str,
    },
    /// The page is not as the caller believes it to be.
    #[error("{reason}")]
    VerificationFailed { reason: String },
    /// The path lies outside of what the server may touch.
    #[error(
        "File access denied: {path} is outside allowed roots. Allowed roots: {}",
        .roots.join(", ")
    )]
    FileAccessDenied { path: String, roots: Vec<String> },
    /// The path may not be used that way, or not by this caller.
    #[error("File access denied: {path} {rule}{}", allowed(.roots))]
    FileRefused {
        path: String,
        rule: FileRule,
        /// Where it would be allowed.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        roots: Vec<String>,
    },
    /// A file could not be read or written.
    #[error("{reason}")]
    File { path: String, reason: String },
    /// A module of `--init-page` did not get through.
    #[error("Failed to load init page \"{path}\": {reason}")]
    InitPage { path: String, reason: String },
    /// The tool is switched off.
    #[error("Tool \"{tool}\" not found")]
    ToolDisabled {
        tool: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        capability: Option<&'static str>,
        /// The family that it belongs to, where that is off.
        #[serde(skip_serializing_if = "Option::is_none")]
        toolset: Option<&'static str>,
        /// A tool that is on and does the same or nearly so.
        #[serde(skip_serializing_if = "Option::is_none")]
        instead: Option<&'static str>,
    },
    /// The caller's key or token is not good for that.
    #[error("\"{tool}\" needs the scope {needed}")]
    NotPermitted {
        tool: &'static str,
        needed: &'static str,
    },
    /// The policy of the operator does not let it be done.
    #[error("\"{tool}\"{} {}{}", on(.origin.as_deref()), denied(*.denial, .rule), colon(.reason.as_deref().unwrap_or_default()))]
    PolicyDenied {
        tool: &'static str,
        /// Where it would have been done.
        #[serde(skip_serializing_if = "Option::is_none")]
        origin: Option<String>,
        /// The rule.
        rule: String,
        denial: Denial,
        /// What the rule says of itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A secret is not for the document that it was to be typed into.
    #[error(
        "The secret {name} may not be typed into a document of {origin}: it is for {} only",
        .allowed_origins.join(", ")
    )]
    SecretNotAllowedHere {
        name: String,
        /// Of the document that holds the field.
        origin: String,
        allowed_origins: Vec<String>,
    },
    /// The server's settings forbid what the tool does.
    #[error("\"{tool}\" is switched off: the server was started with --no-{setting}")]
    SwitchedOff {
        tool: &'static str,
        setting: &'static str,
    },
    /// The audit log cannot be written.
    #[error(
        "The call cannot be recorded in the audit log ({reason}). {}",
        match .ran {
            true => "It was carried out, and its answer is withheld",
            false => "It was not carried out",
        }
    )]
    NotRecorded {
        reason: String,
        /// Whether the call was carried out.
        ran: bool,
    },
    /// A screenshot is larger than screenshots may be.
    #[error("The screenshot is {size} bytes; the limit is {limit} (--max-screenshot-size)")]
    ScreenshotTooLarge { size: usize, limit: u64 },
    /// Pictures that are too large to be compared.
    #[error("Image size {width}x{height} exceeds the limit of {limit} pixels")]
    PictureTooLarge { width: u32, height: u32, limit: u64 },
    /// There is no such server of the app under test, or none at all.
    #[error("{}", unconfigured(.server.as_deref(), .servers))]
    DevServerNotConfigured {
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// Those that there are.
        servers: Vec<String>,
    },
    /// The command of a server, or the server itself, failed.
    #[error("The server \"{server}\" failed ({during}): {reason}")]
    DevServerFailed {
        server: String,
        /// `start`, `restart`, `status`, `shutdown`, or `call`: during a call of a tool.
        during: &'static str,
        reason: String,
        #[serde(flatten)]
        report: Box<ServerReport>,
    },
    /// The command of a server did not answer in time.
    #[error(
        "The command of the server \"{server}\" did not answer --{during} within {limit_ms} ms, and was killed"
    )]
    DevServerTimeout {
        server: String,
        during: &'static str,
        limit_ms: u64,
        #[serde(flatten)]
        report: Box<ServerReport>,
    },
    /// The server did not log what was waited for.
    #[error("Timeout {timeout_ms}ms exceeded: the server \"{server}\" did not log {pattern}")]
    NotLogged {
        server: String,
        pattern: String,
        timeout_ms: u64,
        /// The end of what it did log.
        #[serde(skip_serializing_if = "String::is_empty")]
        logged: String,
    },
    /// The call is for a session with a server of the app, and the one that it is for has none.
    #[error("{}", no_e2e_session(.sessions))]
    NoE2eSession {
        /// Those that have one.
        sessions: Vec<String>,
    },
    /// The caller withdrew the call, or left.
    #[error("The call was cancelled")]
    Cancelled {},
    /// The whole call took longer than any call may.
    #[error("Tool \"{tool}\" was stopped after {limit_ms} ms")]
    TookTooLong { tool: &'static str, limit_ms: u64 },
    /// A bug of ours.
    #[error("Internal error in tool \"{tool}\"{}", colon(.reason))]
    Internal { tool: &'static str, reason: String },
}

/// Who did not let a call be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Denial {
    /// The rule itself.
    Denied,
    /// The user, who was asked.
    Declined,
    /// The user was asked, and did not answer in time.
    Unanswered,
    /// The user cannot be asked.
    CannotAsk,
}

/// What is known of a server that makes trouble.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerReport {
    /// Of the command, or of the server where the command tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    /// The end of what the command printed, where that was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stdout: Option<String>,
    /// The end of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<String>,
    /// The end of the server's log of errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log: Option<String>,
    /// The paths of its logs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) logs: Vec<String>,
    /// The error that came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) consequence: Option<Box<Value>>,
}

/// One thing that is wrong with the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Problem {
    /// Where, e.g. `fields[0].type`; empty for the arguments as a whole.
    pub(crate) parameter: String,
    /// What was expected.
    pub(crate) message: String,
    /// It has to be there, and is not.
    #[serde(skip)]
    pub(crate) missing: bool,
}

/// The name of a kind of failure, for programs to branch on. Stable.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::EnumIter, strum::EnumMessage,
)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// There is no such session, or it was closed.
    SessionNotFound,
    /// The session ended because nobody used it for too long.
    SessionExpired,
    /// There may be no more sessions at once (`--max-sessions`).
    MaxSessionsReached,
    /// The arguments do not fit the tool, or not each other; `details` name each that is wrong, and in `missing` those that have to be there.
    InvalidParameters,
    /// The selector or locator expression cannot be read.
    InvalidSelector,
    /// The URL cannot be read.
    InvalidUrl,
    /// No element matches.
    ElementNotFound,
    /// Several elements match where one is meant; `details.candidates` lists them.
    ElementAmbiguous,
    /// The ref is not of the last snapshot, or its element has gone.
    StaleRef,
    /// The element could not be clicked in time: hidden, disabled, moving or covered.
    ElementNotClickable,
    /// The element takes no text, or did not get ready for it in time: hidden, disabled or read-only.
    ElementNotEditable,
    /// The element is of the wrong kind for the action, or did not get ready for it in time.
    ElementNotInteractive,
    /// The document could not be loaded.
    NavigationFailed,
    /// Our rules forbid the URL.
    UrlBlocked,
    /// The network is cut, or the proxy does not let the request through: the site is not to blame.
    NetworkError,
    /// The time limit passed; `details.log` tells what was tried.
    Timeout,
    /// A dialog or file chooser is open and has to be answered first, or none is open to answer.
    DialogOpen,
    /// The script of the call threw.
    ScriptFailed,
    /// The page is not as expected.
    VerificationFailed,
    /// A tab, context, request, file or page of the history that was named does not exist.
    NotFound,
    /// The secret may be typed into documents of other origins only, which `details.allowedOrigins` lists.
    SecretNotAllowedHere,
    /// The path lies outside of the folders the server may touch, is protected, or needs another scope; `details.rule` says which.
    FileAccessDenied,
    /// A file could not be read or written.
    FileError,
    /// The page's process crashed, or the whole browser; `details` tell what was lost.
    BrowserCrashed,
    /// The browser is missing, would not start, refused a command, or went away.
    BrowserError,
    /// This browser cannot do it.
    UnsupportedByBrowser,
    /// There is no such server of the app under test.
    DevServerNotConfigured,
    /// The server of the app under test, or its command, failed; `details` have its exit code and its last words.
    DevServerFailed,
    /// The command of the server did not answer in time, and was killed.
    DevServerTimeout,
    /// The tool is switched off by the server's configuration.
    ToolDisabled,
    /// The API key or access token is not good for this tool.
    InsufficientScope,
    /// The operator's policy (`--policy`) does not allow the call; `details` name the rule, and say whether the user was asked.
    PolicyDenied,
    /// The call cannot be recorded in the audit log (`--audit-log`); `details.ran` says whether it was carried out.
    AuditFailed,
    /// More was asked for than the server may use.
    ResourceExhausted,
    /// The client withdrew the call, or another call closed its session.
    Cancelled,
    /// A bug of the server; please report it.
    InternalError,
}

impl ErrorCode {
    /// The code as it is sent.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl From<engine::Error> for Error {
    /// Adds what to do instead, in the options of this program.
    fn from(error: engine::Error) -> Self {
        match error {
            engine::Error::UnsupportedByBrowser {
                browser,
                feature,
                alternative,
            } => Self::UnsupportedByBrowser {
                browser,
                feature,
                hint: instead(alternative),
            },
            engine::Error::ProfileInUse { dir } => Self::ProfileInUse { dir },
            error => Self::Engine(error),
        }
    }
}

impl Error {
    /// The kind of failure.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Engine(error) => engine_code(error),
            Self::UnsupportedByBrowser { .. } => ErrorCode::UnsupportedByBrowser,
            Self::ProfileInUse { .. } => ErrorCode::BrowserError,
            Self::InvalidArguments { .. } | Self::Arguments { .. } => ErrorCode::InvalidParameters,
            Self::ModalState { .. } | Self::NoModalState { .. } | Self::DialogFirst { .. } => {
                ErrorCode::DialogOpen
            }
            Self::SessionNotFound { .. } => ErrorCode::SessionNotFound,
            Self::SessionExpired { .. } => ErrorCode::SessionExpired,
            Self::MaxSessionsReached { .. } => ErrorCode::MaxSessionsReached,
            Self::BrowserCrashed { .. } | Self::PageCrashed { .. } => ErrorCode::BrowserCrashed,
            Self::ContextNotFound { .. }
            | Self::NoHistory { .. }
            | Self::TabNotFound { .. }
            | Self::RequestNotFound { .. } => ErrorCode::NotFound,
            Self::VerificationFailed { .. } => ErrorCode::VerificationFailed,
            Self::SecretNotAllowedHere { .. } => ErrorCode::SecretNotAllowedHere,
            Self::FileAccessDenied { .. } | Self::FileRefused { .. } => ErrorCode::FileAccessDenied,
            Self::File { .. } => ErrorCode::FileError,
            Self::InitPage { .. } => ErrorCode::ScriptFailed,
            Self::ToolDisabled { .. } | Self::SwitchedOff { .. } => ErrorCode::ToolDisabled,
            Self::NotPermitted { .. } => ErrorCode::InsufficientScope,
            Self::PolicyDenied { .. } => ErrorCode::PolicyDenied,
            Self::NotRecorded { .. } => ErrorCode::AuditFailed,
            Self::ScreenshotTooLarge { .. } | Self::PictureTooLarge { .. } => {
                ErrorCode::ResourceExhausted
            }
            Self::DevServerNotConfigured { .. } => ErrorCode::DevServerNotConfigured,
            Self::DevServerFailed { .. } => ErrorCode::DevServerFailed,
            Self::DevServerTimeout { .. } => ErrorCode::DevServerTimeout,
            Self::NotLogged { .. } => ErrorCode::Timeout,
            Self::NoE2eSession { .. } => ErrorCode::SessionNotFound,
            Self::Cancelled {} | Self::SessionClosed { .. } => ErrorCode::Cancelled,
            Self::SessionUnclear { .. } => ErrorCode::SessionNotFound,
            Self::TookTooLong { .. } => ErrorCode::Timeout,
            Self::Internal { .. } => ErrorCode::InternalError,
        }
    }

    /// The session that is not there.
    pub(crate) fn session_id(&self) -> Option<&str> {
        match self {
            Self::SessionNotFound { session_id } | Self::SessionExpired { session_id } => {
                Some(session_id)
            }
            _ => None,
        }
    }

    /// Whether it may come of a page or a browser that is gone.
    pub(crate) fn is_end(&self) -> bool {
        use engine::Error as E;
        matches!(
            self,
            Self::Engine(
                E::BrowserClosed { .. } | E::PageClosed {} | E::PageCrashed {} | E::PageHung {}
            )
        )
    }

    /// Whether a dialog kept the engine from doing it.
    pub(crate) fn is_dialog(&self) -> bool {
        matches!(self, Self::Engine(engine::Error::DialogOpen {}))
    }

    /// One JSON object: `errorCode`, `message`, `details`, `retryable`, `suggestion`.
    pub(crate) fn to_json(&self, code: ErrorCode) -> Value {
        let mut details = serde_json::to_value(self).unwrap_or_default();
        if let Self::InvalidArguments { problems, .. } = self {
            let missing = problems.iter().filter(|problem| problem.missing);
            let missing: Vec<_> = missing.map(|problem| problem.parameter.as_str()).collect();
            if !missing.is_empty() {
                details["missing"] = missing.into();
            }
        }
        let mut object = json!({ "errorCode": code.name(), "message": self.brief() });
        if details
            .as_object()
            .is_some_and(|details| !details.is_empty())
        {
            object["details"] = details;
        }
        object["retryable"] = code.retryable().into();
        if let Some(suggestion) = self.suggestion(code) {
            object["suggestion"] = suggestion.into();
        }
        object
    }

    /// What is wrong, without what was tried: that is among the details.
    fn brief(&self) -> String {
        match self {
            Self::Engine(engine::Error::Timeout {
                timeout_ms,
                obstacle,
                ..
            }) => match obstacle {
                Some(obstacle) => format!("Timeout {timeout_ms}ms exceeded: {obstacle}"),
                None => format!("Timeout {timeout_ms}ms exceeded"),
            },
            error => error.to_string(),
        }
    }

    /// A file operation that failed, in the words that Node's users know.
    pub(crate) fn file(path: &std::path::Path, verb: &str, error: &std::io::Error) -> Self {
        let path = path.display().to_string();
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => "ENOENT: no such file or directory".to_owned(),
            std::io::ErrorKind::PermissionDenied => "EACCES: permission denied".to_owned(),
            std::io::ErrorKind::IsADirectory => {
                "EISDIR: illegal operation on a directory".to_owned()
            }
            _ => error.to_string(),
        };
        Self::File {
            reason: format!("{reason}, {verb} '{path}'"),
            path,
        }
    }
}

fn engine_code(error: &engine::Error) -> ErrorCode {
    use engine::Error as E;
    match error {
        E::ElementNotFound { .. } => ErrorCode::ElementNotFound,
        E::ElementAmbiguous { .. } => ErrorCode::ElementAmbiguous,
        E::StaleRef { .. } => ErrorCode::StaleRef,
        E::InvalidSelector { .. } => ErrorCode::InvalidSelector,
        E::NotActionable { obstacle, .. } => obstacle_code(obstacle),
        E::TakesNoText { .. } => ErrorCode::ElementNotEditable,
        E::ElementMismatch { .. } => ErrorCode::ElementNotInteractive,
        E::Timeout { obstacle, .. } => match obstacle.as_deref() {
            Some(E::NotActionable { obstacle, .. }) => obstacle_code(obstacle),
            Some(E::ElementNotFound { .. }) => ErrorCode::ElementNotFound,
            _ => ErrorCode::Timeout,
        },
        E::Cancelled {} => ErrorCode::Cancelled,
        E::NavigationFailed { reason, .. } => match reason.class() {
            NetErrorClass::Offline | NetErrorClass::Network => ErrorCode::NetworkError,
            NetErrorClass::Certificate | NetErrorClass::Tls | NetErrorClass::Other => {
                ErrorCode::NavigationFailed
            }
        },
        E::UrlBlocked { .. } | E::OriginBlocked { .. } => ErrorCode::UrlBlocked,
        E::InvalidUrl { .. } => ErrorCode::InvalidUrl,
        E::Script { .. } => ErrorCode::ScriptFailed,
        E::DialogOpen {} => ErrorCode::DialogOpen,
        E::UnknownKey { .. } | E::InvalidOption { .. } | E::PatternTooSlow { .. } => {
            ErrorCode::InvalidParameters
        }
        E::PageCrashed {} | E::PageHung {} => ErrorCode::BrowserCrashed,
        E::File { .. } => ErrorCode::FileError,
        E::UnsupportedByBrowser { .. } => ErrorCode::UnsupportedByBrowser,
        E::DocumentGone {}
        | E::PageClosed {}
        | E::BrowserClosed { .. }
        | E::BrowserNotFound { .. }
        | E::LaunchFailed { .. }
        | E::ProfileInUse { .. }
        | E::ConnectFailed { .. }
        | E::Protocol { .. } => ErrorCode::BrowserError,
    }
}

fn obstacle_code(obstacle: &engine::Obstacle) -> ErrorCode {
    use engine::Obstacle as O;
    match obstacle {
        O::NotEditable => ErrorCode::ElementNotEditable,
        O::MissingOptions | O::OptionNotEnabled => ErrorCode::ElementNotInteractive,
        O::Detached
        | O::NotVisible
        | O::NotEnabled
        | O::NotStable
        | O::OutsideViewport
        | O::Covered(_) => ErrorCode::ElementNotClickable,
    }
}

fn listed(problems: &[Problem]) -> String {
    let mut text = String::new();
    for Problem {
        parameter, message, ..
    } in problems
    {
        let _ = write!(text, "\n✖ {message}");
        if !parameter.is_empty() {
            let _ = write!(text, "\n  → at {parameter}");
        }
    }
    text
}

fn unconfigured(server: Option<&str>, servers: &[String]) -> String {
    match (server, servers) {
        (_, []) => "No server of the app under test is configured".to_owned(),
        (Some(server), _) => format!(
            "Unknown server \"{server}\". Known servers: {}",
            servers.join(", ")
        ),
        (None, _) => format!("Name the server. There are: {}", servers.join(", ")),
    }
}

fn no_e2e_session(sessions: &[String]) -> String {
    match sessions {
        [] => "No session has a server of the app".to_owned(),
        _ => format!(
            "Name a session with a server of the app. There are: {}",
            sessions.join(", ")
        ),
    }
}

fn on(origin: Option<&str>) -> String {
    origin.map_or_else(String::new, |origin| format!(" on {origin}"))
}

fn denied(denial: Denial, rule: &str) -> String {
    match denial {
        Denial::Denied => format!("is denied by {rule} of the server's policy"),
        Denial::Declined => {
            format!("has to be allowed by the user ({rule} of the server's policy), who declined")
        }
        Denial::Unanswered => format!(
            "has to be allowed by the user ({rule} of the server's policy), who did not answer in time"
        ),
        Denial::CannotAsk => format!(
            "has to be allowed by the user ({rule} of the server's policy), and this client cannot ask: it has no elicitation"
        ),
    }
}

fn colon(reason: &str) -> String {
    if reason.is_empty() {
        String::new()
    } else {
        format!(": {reason}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_same_facts_as_text_and_json() {
        let error = Error::from(engine::Error::StaleRef {
            reference: "e3".into(),
        });
        assert_eq!(
            error.to_json(error.code()),
            json!({
                "errorCode": "STALE_REF",
                "message": "Ref e3 not found in the current page snapshot. Try capturing new snapshot.",
                "details": { "reference": "e3" },
                "retryable": false,
                "suggestion": "Take a new snapshot and use its refs.",
            })
        );
    }
}
