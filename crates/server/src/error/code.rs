//! The codes of errors, and the code of each error.

use super::Error;
use engine::NetErrorClass;

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
    /// The current tab closed after the last answer, so nothing was done; the next call uses the tab that `details.current` names.
    TabGone,
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
    /// The configuration of the server turns the tool off, or the parameter that `details` name.
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
            Self::TabGone { .. } => ErrorCode::TabGone,
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
            Self::ToolDisabled { .. }
            | Self::SwitchedOff { .. }
            | Self::ParameterSwitchedOff { .. } => ErrorCode::ToolDisabled,
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
        O::MissingOptions { .. } | O::OptionNotEnabled => ErrorCode::ElementNotInteractive,
        O::Detached
        | O::NotVisible
        | O::NotEnabled
        | O::NotStable
        | O::OutsideViewport
        | O::Covered(_) => ErrorCode::ElementNotClickable,
    }
}
