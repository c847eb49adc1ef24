//! The errors of tool calls: a code for programs, a sentence for users, and a suggestion.

mod advice;
mod exit_status;
mod files;
pub(crate) mod nearest;

pub(crate) use advice::instead;
use engine::NetErrorClass;
pub use exit_status::ErrorClass;
pub(crate) use files::FileRule;
use files::allowed;
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;

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
    #[error("Tracing has been already started")]
    TraceAlreadyStarted {},
    /// The browser context is not traced.
    #[error("Tracing is not started")]
    TraceNotStarted {},
    /// There is no request with this number.
    #[error("Request #{index} not found. Use {list} to see available indexes.")]
    RequestNotFound {
        index: usize,
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

/// The stable name of a kind of error, for programs.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::EnumIter,
    strum::EnumMessage,
)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// There is no such session, or it was closed.
    SessionNotFound,
    /// The session was closed because it was not used for too long.
    SessionExpired,
    /// The limit of sessions is reached (`--max-sessions`).
    MaxSessionsReached,
    /// The arguments do not match the schema of the tool, or contradict each other; `details` name each invalid one, and `missing` those that are required.
    InvalidParameters,
    /// The selector or locator expression is not valid.
    InvalidSelector,
    /// The URL is not valid.
    InvalidUrl,
    /// No element matches.
    ElementNotFound,
    /// Several elements match a target that must match one; `details.candidates` lists them.
    ElementAmbiguous,
    /// The ref was never given, or its element was removed or has another role or name now; `details` say which, and name the best match.
    StaleRef,
    /// The element was not clickable in time: hidden, disabled, moving or covered.
    ElementNotClickable,
    /// The element accepts no text, or was not editable in time: hidden, disabled or read-only.
    ElementNotEditable,
    /// The element is of the wrong kind for the action, or was not actionable in time.
    ElementNotInteractive,
    /// The document could not be loaded.
    NavigationFailed,
    /// The settings of the server do not allow the URL.
    UrlBlocked,
    /// The network or the proxy failed, not the site.
    NetworkError,
    /// The timeout expired; `details.log` lists the attempts.
    Timeout,
    /// A dialog or file chooser must be handled first, or none is open to handle.
    DialogOpen,
    /// A user has taken over the browser in the dashboard.
    UserHasControl,
    /// The script of the call threw an exception.
    ScriptFailed,
    /// The assertion failed.
    VerificationFailed,
    /// The tab, context, request, file, history entry, recording or paused code does not exist.
    NotFound,
    /// The secret may be typed into documents of other origins only, which `details.allowedOrigins` lists.
    SecretNotAllowedHere,
    /// The path is outside of the folders that the server may access, is protected, or needs another scope; `details.rule` names the rule.
    FileAccessDenied,
    /// A file could not be read or written.
    FileError,
    /// The page or the whole browser crashed; `details` list what was lost.
    BrowserCrashed,
    /// The browser is missing, did not start, rejected a command, or was closed.
    BrowserError,
    /// The browser does not support the operation.
    UnsupportedByBrowser,
    /// Videos require ffmpeg, which is not installed.
    FfmpegUnavailable,
    /// There is no such server of the app under test.
    DevServerNotConfigured,
    /// The server of the app under test, or its command, failed; `details` contain the exit code and the last output.
    DevServerFailed,
    /// The command of the server did not answer in time and was terminated.
    DevServerTimeout,
    /// The configuration of the server turns the tool off.
    ToolDisabled,
    /// The API key or access token lacks the permission for this tool.
    InsufficientScope,
    /// The operator's policy (`--policy`) does not allow the call; `details` name the rule, and whether the user was asked.
    PolicyDenied,
    /// The call cannot be recorded in the audit log (`--audit-log`); `details.ran` says whether it was executed.
    AuditFailed,
    /// The call exceeds a limit of the server.
    ResourceExhausted,
    /// The client cancelled the call, or another call closed its session.
    Cancelled,
    /// A defect of the server; please report it.
    InternalError,
}

impl ErrorCode {
    /// Returns the code as clients receive it.
    pub fn name(self) -> &'static str {
        self.into()
    }
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
    /// Returns the code of the error.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Engine(error) => engine_code(error),
            Self::UnsupportedByBrowser { .. } | Self::NoBrowserWindow { .. } => {
                ErrorCode::UnsupportedByBrowser
            }
            Self::ProfileInUse { .. } => ErrorCode::BrowserError,
            Self::InvalidArguments { .. }
            | Self::Arguments { .. }
            | Self::TraceAlreadyStarted {}
            | Self::VideoStarted {} => ErrorCode::InvalidParameters,
            Self::ModalState { .. } | Self::NoModalState { .. } | Self::DialogFirst { .. } => {
                ErrorCode::DialogOpen
            }
            Self::UserHasControl { .. } => ErrorCode::UserHasControl,
            Self::SessionNotFound { .. } => ErrorCode::SessionNotFound,
            Self::SessionExpired { .. } => ErrorCode::SessionExpired,
            Self::MaxSessionsReached { .. } => ErrorCode::MaxSessionsReached,
            Self::BrowserCrashed { .. } | Self::PageCrashed { .. } => ErrorCode::BrowserCrashed,
            Self::ContextNotFound { .. }
            | Self::NoHistory { .. }
            | Self::NotInProgress { .. }
            | Self::TabNotFound { .. }
            | Self::NoOpenPage {}
            | Self::RequestNotFound { .. }
            | Self::TraceNotStarted {} => ErrorCode::NotFound,
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
            Self::StepFailed { code, .. } => *code,
            Self::Internal { .. } => ErrorCode::InternalError,
        }
    }

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

fn engine_code(error: &engine::Error) -> ErrorCode {
    use engine::Error as E;
    match error {
        E::ElementNotFound { .. } => ErrorCode::ElementNotFound,
        E::ElementAmbiguous { .. } => ErrorCode::ElementAmbiguous,
        E::StaleRef { .. } => ErrorCode::StaleRef,
        E::UnknownAuditRules { .. } => ErrorCode::InvalidParameters,
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
        E::UnknownKey { .. }
        | E::InvalidOption { .. }
        | E::PatternTooSlow { .. }
        | E::MeasurementState { .. } => ErrorCode::InvalidParameters,
        E::PageCrashed {} | E::PageHung {} => ErrorCode::BrowserCrashed,
        E::File { .. } | E::VideoFailed { .. } | E::InvalidProfile { .. } => ErrorCode::FileError,
        E::FfmpegUnavailable { .. } => ErrorCode::FfmpegUnavailable,
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

fn stopped(step: usize, ran: usize) -> String {
    match (step, ran) {
        (0, _) => "failed".to_owned(),
        (_, 0) => "was refused, and no step was carried out".to_owned(),
        (_, 1) => "failed after 1 step".to_owned(),
        (_, ran) => format!("failed after {ran} steps"),
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
