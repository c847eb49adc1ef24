//! The errors of tool calls: a code for programs, a sentence for users, and a suggestion.

mod advice;
mod code;
mod exit_status;
mod files;
mod message;
pub(crate) mod nearest;

pub(crate) use advice::instead;
pub use code::ErrorCode;
pub use exit_status::ErrorClass;
pub(crate) use files::FileRule;
use files::allowed;
use message::{colon, current_tab, denied, listed, no_e2e_session, on, stopped, unconfigured};
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// The result of tools.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a tool call failed.
#[derive(Debug, Clone, thiserror::Error, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(crate) enum Error {
    /// An error of the engine.
    #[error(transparent)]
    Engine(engine::Error),
    /// The browser does not support a feature.
    #[error("{} is not supported by {browser}. {hint}", .feature.name())]
    UnsupportedByBrowser {
        browser: &'static str,
        feature: engine::Feature,
        /// The supported alternative.
        hint: &'static str,
    },
    /// Another browser uses the profile.
    #[error(
        "Browser is already in use for {dir}, use --isolated to run multiple instances of the same browser"
    )]
    ProfileInUse { dir: String },
    /// The arguments do not match the schema of the tool.
    #[error("Invalid arguments for tool \"{tool}\":{}", listed(.problems))]
    InvalidArguments {
        tool: &'static str,
        problems: Vec<Problem>,
    },
    /// Each argument is valid, but their combination is not.
    #[error("{reason}")]
    Arguments {
        reason: Cow<'static, str>,
        /// The names of the arguments.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        parameters: &'static [&'static str],
        /// The names of arguments of which one is required and none is given.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        missing: &'static [&'static str],
        /// Whether the message is sent without the prefix `Error:`.
        #[serde(skip)]
        bare: bool,
    },
    /// A dialog or file chooser is open, and the tool does not handle it.
    #[error("Tool \"{tool}\" does not handle the modal state.")]
    ModalState { tool: &'static str },
    /// No dialog or file chooser is open that the tool can handle.
    #[error("The tool \"{tool}\" can only be used when there is related modal state present.")]
    NoModalState { tool: &'static str },
    /// A dialog that the call did not expect pauses the page.
    #[error("A dialog opened before \"{tool}\" was done")]
    DialogFirst { tool: &'static str },
    /// There is no such session.
    #[error("Session \"{session_id}\" not found")]
    SessionNotFound { session_id: String },
    /// The session has expired.
    #[error("Session \"{session_id}\" has expired")]
    SessionExpired { session_id: String },
    /// Another call closed the session.
    #[error("The session was closed while \"{tool}\" was running or queued")]
    SessionClosed { tool: &'static str },
    /// The call has no `sessionId`, and several sessions are possible.
    #[error("The call names no session, and there are several: {}", .sessions.join(", "))]
    SessionUnclear {
        /// The names or identifiers of the sessions.
        sessions: Vec<String>,
    },
    /// The number of sessions has reached the limit.
    #[error("Session limit reached ({max_sessions}, --max-sessions)")]
    MaxSessionsReached { max_sessions: usize },
    /// The browser of the session crashed, and the state of the session in it is lost.
    #[error("The browser of the session ended: {reason}")]
    BrowserCrashed {
        reason: String,
        /// The URLs of the pages that were lost.
        lost_pages: Vec<String>,
        /// Other state that was lost.
        lost: Vec<&'static str>,
    },
    /// The page crashed, and its state is lost.
    #[error("The page crashed: {}", .lost_pages.join(", "))]
    PageCrashed {
        /// The URLs of the page and of other pages of the same process.
        lost_pages: Vec<String>,
        /// Other state that was lost.
        lost: Vec<&'static str>,
    },
    /// The current tab closed after the last answer.
    #[error("The tab with {url} has closed; nothing was done. {}", current_tab(.current.as_deref()))]
    TabGone {
        url: String,
        /// The index and the URL of the tab that is current now.
        current: Option<String>,
    },
    /// The session has no context of this name.
    #[error("Context \"{name}\" not found. There are: {}", .contexts.join(", "))]
    ContextNotFound { name: String, contexts: Vec<String> },
    /// The history has no entry in this direction.
    #[error("The history has no such entry")]
    NoHistory { delta: i32 },
    /// Nothing is paused or recorded, or something is already.
    #[error("{reason}")]
    NotInProgress { reason: &'static str },
    /// The browser has no window in which the user can act.
    #[error(
        "\"{tool}\" needs a browser window or an open dashboard in which the user acts: start the server without --headless or open its dashboard, or ask the user in words"
    )]
    NoBrowserWindow { tool: &'static str },
    /// A user has taken over the browser of the session, and did not hand it back in time.
    #[error(
        "A user has taken over the browser, so \"{tool}\" waited {waited_ms} ms and did nothing"
    )]
    UserHasControl { tool: &'static str, waited_ms: u64 },
    /// There is no tab with this index.
    #[error("Tab {index} not found")]
    TabNotFound { index: i64 },
    /// The browser context is traced already.
    #[error("Tracing has already been started.")]
    TraceAlreadyStarted {},
    /// The browser context is not traced.
    #[error("Tracing is not started")]
    TraceNotStarted {},
    /// There is no request with this number.
    #[error("Request #{index} not found. Use {list} to see available indexes.")]
    RequestNotFound {
        index: u64,
        /// The tool that lists the requests.
        #[serde(skip)]
        list: &'static str,
    },
    /// The assertion failed.
    #[error("{reason}")]
    VerificationFailed { reason: String },
    /// The path is outside of the folders that the server may access.
    #[error(
        "File access denied: {path} is outside allowed roots. Allowed roots: {}",
        .roots.join(", ")
    )]
    FileAccessDenied { path: String, roots: Vec<String> },
    /// The path may not be used in this way, or not by this caller.
    #[error("File access denied: {path} {rule}{}", allowed(.roots))]
    FileRefused {
        path: String,
        rule: FileRule,
        /// The folders where the operation is allowed.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        roots: Vec<String>,
    },
    /// A file could not be read or written.
    #[error("{reason}")]
    File { path: String, reason: String },
    /// A video is being recorded already.
    #[error("Video recording has already been started.")]
    VideoStarted {},
    /// The context has no open page.
    #[error("No open pages available.")]
    NoOpenPage {},
    /// A module of `--init-page` failed.
    #[error("Failed to load init page \"{path}\": {reason}")]
    InitPage { path: String, reason: String },
    /// The tool is not enabled.
    #[error("Tool \"{tool}\" not found")]
    ToolDisabled {
        tool: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        capability: Option<&'static str>,
        /// The toolset of the tool, if it is off.
        #[serde(skip_serializing_if = "Option::is_none")]
        toolset: Option<&'static str>,
        /// An enabled tool with a similar function.
        #[serde(skip_serializing_if = "Option::is_none")]
        instead: Option<&'static str>,
    },
    /// The API key or access token lacks the permission.
    #[error("\"{tool}\" needs the scope {needed}")]
    NotPermitted {
        tool: &'static str,
        needed: &'static str,
    },
    /// The policy of the operator does not allow the call.
    #[error("\"{tool}\"{} {}{}", on(.origin.as_deref()), denied(*.denial, .rule), colon(.reason.as_deref().unwrap_or_default()))]
    PolicyDenied {
        tool: &'static str,
        /// The origin of the document.
        #[serde(skip_serializing_if = "Option::is_none")]
        origin: Option<String>,
        /// The name of the rule.
        rule: String,
        denial: Denial,
        /// The reason that the rule gives.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The secret may not be typed into the document.
    #[error(
        "The secret {name} may not be typed into a document of {origin}: it is for {} only",
        .allowed_origins.join(", ")
    )]
    SecretNotAllowedHere {
        name: String,
        /// The origin of the document that contains the field.
        origin: String,
        allowed_origins: Vec<String>,
    },
    /// The settings of the server forbid the operation.
    #[error("\"{tool}\" is switched off: the server was started with --no-{setting}")]
    SwitchedOff {
        tool: &'static str,
        setting: &'static str,
    },
    /// The parameter would allow what the settings of the server forbid.
    #[error("The parameter \"{parameter}\" is switched off: {reason}")]
    ParameterSwitchedOff {
        parameter: &'static str,
        /// What it would allow, and the option that forbids it.
        #[serde(skip)]
        reason: &'static str,
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
        /// Whether the call was executed.
        ran: bool,
    },
    /// The screenshot is larger than the limit.
    #[error("The screenshot is {size} bytes; the limit is {limit} (--max-screenshot-size)")]
    ScreenshotTooLarge { size: usize, limit: u64 },
    /// The images are too large for a comparison.
    #[error("Image size {width}x{height} exceeds the limit of {limit} pixels")]
    PictureTooLarge { width: u32, height: u32, limit: u64 },
    /// There is no such server of the app under test, or no server at all.
    #[error("{}", unconfigured(.server.as_deref(), .servers))]
    DevServerNotConfigured {
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// The names of the servers.
        servers: Vec<String>,
    },
    /// The server command or the server failed.
    #[error("The server \"{server}\" failed ({during}): {reason}")]
    DevServerFailed {
        server: String,
        /// `start`, `restart`, `status`, `shutdown`, or `call` for the call of a tool.
        during: &'static str,
        reason: String,
        #[serde(flatten)]
        report: Box<ServerReport>,
    },
    /// The server command did not answer within its timeout.
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
    /// The server did not log the text within the timeout.
    #[error("Timeout {timeout_ms}ms exceeded: the server \"{server}\" did not log {pattern}")]
    NotLogged {
        server: String,
        pattern: String,
        timeout_ms: u64,
        /// The last lines of the log.
        #[serde(skip_serializing_if = "String::is_empty")]
        logged: String,
    },
    /// The call requires a session with a server of the app, and its session has none.
    #[error("{}", no_e2e_session(.sessions))]
    NoE2eSession {
        /// The sessions that have a server.
        sessions: Vec<String>,
    },
    /// The client cancelled the call or disconnected.
    #[error("The call was cancelled")]
    Cancelled {},
    /// The call took longer than the limit of all calls.
    #[error("Tool \"{tool}\" was stopped after {limit_ms} ms")]
    TookTooLong { tool: &'static str, limit_ms: u64 },
    /// A step of a batch failed, or was refused before the first step.
    #[error("Step {step} ({tool}) {}: {message}", stopped(*.step, *.ran))]
    StepFailed {
        /// The number of the step, from 0.
        step: usize,
        tool: &'static str,
        /// The number of steps that were carried out before.
        ran: usize,
        /// The details of the error of the step.
        #[serde(skip_serializing_if = "Value::is_null")]
        error: Box<Value>,
        #[serde(skip)]
        message: String,
        #[serde(skip)]
        code: ErrorCode,
    },
    /// A defect of the server.
    #[error("Internal error in tool \"{tool}\"{}", colon(.reason))]
    Internal { tool: &'static str, reason: String },
}

/// Why a call that the policy restricts was not executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Denial {
    /// The rule denies the call.
    Denied,
    /// The user declined the call.
    Declined,
    /// The user did not answer the elicitation in time.
    Unanswered,
    /// The client does not support elicitation.
    CannotAsk,
}

/// The state of a failed server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerReport {
    /// The exit code of the command, or that of the server if the command reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    /// The end of the output of the command, if it is not a valid answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stdout: Option<String>,
    /// The end of the standard error of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<String>,
    /// The end of the error log of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log: Option<String>,
    /// The paths of the logs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) logs: Vec<String>,
    /// The error that the failure caused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) consequence: Option<Box<Value>>,
}

/// An invalid argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Problem {
    /// The path of the argument, e.g. `fields[0].type`; empty for the arguments as a whole.
    pub(crate) parameter: String,
    /// What is expected.
    pub(crate) message: String,
    /// Whether the argument is required and missing.
    #[serde(skip)]
    pub(crate) missing: bool,
}

impl From<engine::Error> for Error {
    /// Converts the alternative of an error to the options of this program.
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
    /// Returns the identifier of the session that does not exist.
    pub(crate) fn session_id(&self) -> Option<&str> {
        match self {
            Self::SessionNotFound { session_id } | Self::SessionExpired { session_id } => {
                Some(session_id)
            }
            _ => None,
        }
    }

    /// Whether the error can be the consequence of a closed or crashed page or browser.
    pub(crate) fn is_end(&self) -> bool {
        use engine::Error as E;
        matches!(
            self,
            Self::Engine(
                E::BrowserClosed { .. } | E::PageClosed {} | E::PageCrashed {} | E::PageHung {}
            )
        )
    }

    /// Whether an open dialog prevented the operation.
    pub(crate) fn is_dialog(&self) -> bool {
        matches!(self, Self::Engine(engine::Error::DialogOpen {}))
    }

    /// Returns a JSON object with `errorCode`, `message`, `details`, `retryable` and `suggestion`.
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
        // A repeated batch would repeat its steps.
        let has_effects = matches!(self, Self::StepFailed { ran: 1.., .. });
        object["retryable"] = (code.retryable() && !has_effects).into();
        if let Some(suggestion) = self.suggestion(code) {
            object["suggestion"] = suggestion.into();
        }
        object
    }

    /// Returns the message without the log of attempts, which is in the details.
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

    /// Creates the error of a file operation, with the message that Node.js has for it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_same_facts_as_text_and_json() {
        let error = Error::from(engine::Error::StaleRef {
            reference: "e3".into(),
            facts: Box::default(),
        });
        assert_eq!(
            error.to_json(error.code()),
            json!({
                "errorCode": "STALE_REF",
                "message": "Ref e3 not found in the current page snapshot. Try capturing new snapshot.",
                "details": { "reference": "e3" },
                "retryable": false,
                "suggestion": "Take a new snapshot and use its refs, or the best match if the message names one.",
            })
        );
    }
}
