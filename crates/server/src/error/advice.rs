//! Suggestions of errors: whether to retry, and how to continue.

use super::{Denial, Error, ErrorCode};
use engine::{NetError, NetErrorClass};
use std::borrow::Cow;

impl ErrorCode {
    /// Returns whether a retry of the same call may succeed.
    pub fn retryable(self) -> bool {
        match self {
            Self::NetworkError
            | Self::Timeout
            | Self::VerificationFailed
            | Self::BrowserCrashed
            | Self::TabGone
            | Self::BrowserError
            | Self::DevServerFailed
            | Self::DevServerTimeout
            | Self::ResourceExhausted
            | Self::UserHasControl
            | Self::Cancelled => true,
            Self::SessionNotFound
            | Self::SessionExpired
            | Self::MaxSessionsReached
            | Self::ElementNotFound
            | Self::ElementNotClickable
            | Self::ElementNotEditable
            | Self::ElementNotInteractive
            | Self::NavigationFailed
            | Self::InvalidParameters
            | Self::InvalidSelector
            | Self::InvalidUrl
            | Self::ElementAmbiguous
            | Self::StaleRef
            | Self::UrlBlocked
            | Self::DialogOpen
            | Self::ScriptFailed
            | Self::NotFound
            | Self::SecretNotAllowedHere
            | Self::FileAccessDenied
            | Self::FileError
            | Self::UnsupportedByBrowser
            | Self::FfmpegUnavailable
            | Self::DevServerNotConfigured
            | Self::ToolDisabled
            | Self::InsufficientScope
            | Self::PolicyDenied
            | Self::AuditFailed
            | Self::InternalError => false,
        }
    }

    /// Returns what the client can do about the error.
    pub fn suggestion(self) -> Option<&'static str> {
        Some(match self {
            Self::SessionNotFound => {
                "List the sessions with list_sessions, or create one with create_session."
            }
            Self::SessionExpired => "Create a new session with create_session.",
            Self::MaxSessionsReached => {
                "Close a session with close_session, or start the server with a larger --max-sessions."
            }
            Self::InvalidParameters => "Correct the parameters that `details` names.",
            Self::InvalidSelector => {
                "Use a ref of the snapshot, a CSS selector, or a locator such as getByRole('button', { name: 'Go' })."
            }
            Self::InvalidUrl => "Give an absolute URL, such as https://example.com/.",
            Self::ElementNotFound => "Take a snapshot and use one of its refs.",
            Self::ElementAmbiguous => "Use one of the locators in the list, or a ref.",
            Self::StaleRef => {
                "Take a new snapshot and use its refs, or the best match if the message names one."
            }
            Self::ElementNotClickable => {
                "Take a snapshot to see what is in the way, remove it, and try again."
            }
            Self::ElementNotEditable => {
                "Choose an input, textarea or editable element that is visible and enabled."
            }
            Self::ElementNotInteractive => "Take a snapshot to see the element's state.",
            Self::NavigationFailed => "Check the URL and that its server runs.",
            Self::UrlBlocked => "Use an http or https URL that the server's rules allow.",
            Self::NetworkError => "Turn offline mode off, or check the proxy.",
            Self::Timeout => {
                "Take a snapshot to see the page's state, or wait for it first. A page that does not answer at all can be left with browser_navigate."
            }
            Self::DialogOpen => {
                "Answer an open dialog with browser_handle_dialog, an open file chooser with browser_file_upload."
            }
            Self::UserHasControl => {
                "Repeat the call: it waits until the user hands the browser back."
            }
            Self::VerificationFailed => "Take a snapshot to see what the page really shows.",
            Self::NotFound => "List what there is, then name one of those.",
            Self::SecretNotAllowedHere => {
                "Go to a page of one of its origins. Only the user can allow others, with --secrets."
            }
            Self::FileAccessDenied => {
                "Use a path below the workspace, or start with --allow-unrestricted-file-access."
            }
            Self::FileError => "Check that the path exists and may be accessed.",
            Self::FfmpegUnavailable => {
                "Install ffmpeg (`apt-get install ffmpeg`, `brew install ffmpeg`), or start the server with --ffmpeg PATH."
            }
            Self::TabGone => {
                "Repeat the call to act in the tab that is current now, or choose another one of browser_tabs."
            }
            Self::BrowserCrashed => "Navigate again; a new page is created.",
            Self::BrowserError => {
                "Try again: a browser that has terminated is replaced. `playhouse doctor` shows what is missing."
            }
            Self::DevServerNotConfigured => {
                "Name a server that is configured, or configure one: --server-command, or devServers in the configuration file."
            }
            Self::DevServerFailed => {
                "Read the log, fix the app or its command, and start it again with e2e_start or e2e_restart."
            }
            Self::DevServerTimeout => {
                "Check what the command waits for, or raise its timeout (--server-start-timeout and similar options)."
            }
            Self::ToolDisabled => "Start the server with --tools +NAME.",
            Self::InsufficientScope => {
                "Use another tool, or connect with a key or token that has the scope."
            }
            Self::PolicyDenied => {
                "Use another tool: only the operator of the server can change its policy."
            }
            Self::AuditFailed => {
                "The operator of the server has to free space for the audit log; calls are accepted again then."
            }
            Self::ResourceExhausted => "Request less, or wait until other calls have finished.",
            Self::InternalError => "Report it with the call that led to it.",
            Self::ScriptFailed | Self::UnsupportedByBrowser | Self::Cancelled => return None,
        })
    }
}

impl Error {
    /// Returns what the client can do about the error; more specific than the suggestion of the code if the facts allow it.
    pub(super) fn suggestion(&self, code: ErrorCode) -> Option<Cow<'static, str>> {
        match self {
            Self::NotInProgress { .. } => None,
            _ => self
                .advice()
                .or_else(|| code.suggestion().map(Cow::Borrowed)),
        }
    }

    /// Returns what the client can do about this error, if that is more specific than the suggestion of its code.
    pub(crate) fn advice(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Engine(engine::Error::BrowserNotFound { install, .. }) if !install.is_empty() => {
                Some(format!("Run: {install}").into())
            }
            Self::ProfileInUse { .. } => {
                Some("Start the server with --isolated, or close the other browser.".into())
            }
            Self::Engine(engine::Error::UnknownKey { key }) => {
                let similar = engine::similar_key(key)?;
                Some(format!("The key is called {similar}.").into())
            }
            Self::Engine(engine::Error::PatternTooSlow { .. }) => {
                Some("Use plain text, or do not nest repetitions: a+$ instead of (a+)+$.".into())
            }
            Self::Engine(engine::Error::NavigationFailed { reason, .. }) => {
                Some(after_net_error(reason).into())
            }
            Self::ToolDisabled {
                capability: Some(capability),
                ..
            } => Some(format!("Start the server with --caps {capability}.").into()),
            Self::ToolDisabled {
                tool,
                toolset: Some(_),
                instead,
                ..
            } => {
                let instead = instead.map(|tool| format!("Use {tool}, or start"));
                let start = instead.as_deref().unwrap_or("Start");
                let how = format!("{start} the server with --toolsets all, or --tools +{tool}.");
                Some(how.into())
            }
            Self::BrowserCrashed { .. } => {
                Some("Navigate again: the session continues in a new browser.".into())
            }
            Self::PageCrashed { .. } => {
                Some("Navigate again: the session continues with a new page.".into())
            }
            Self::PolicyDenied {
                denial: Denial::Declined | Denial::Unanswered,
                ..
            } => Some("Ask the user before you try again.".into()),
            Self::FileRefused { rule, .. } => Some(rule.suggestion().into()),
            Self::SwitchedOff { .. } => {
                Some("This tool is disabled by the operator; use another one.".into())
            }
            Self::ParameterSwitchedOff { .. } => Some(
                "Leave it out: only the operator of the server can change its restrictions.".into(),
            ),
            Self::NotLogged { .. } => Some("Read the whole log with e2e_logs.".into()),
            Self::NoE2eSession { .. } => Some("Begin one with e2e_start, or name it.".into()),
            Self::SessionUnclear { .. } => Some("Give the sessionId of one of them.".into()),
            Self::SessionClosed { .. } => Some("Create a new session with create_session.".into()),
            Self::VideoStarted {} => Some("Stop it with browser_stop_video first.".into()),
            Self::NoOpenPage {} => Some("Open one with browser_navigate.".into()),
            Self::NoHistory { .. } => Some("Navigate to the page by its URL.".into()),
            Self::NoBrowserWindow { .. } => {
                Some("Ask the user in words, or have the server started without --headless.".into())
            }
            Self::PictureTooLarge { .. } => {
                Some("Compare the viewport, or with another baseline.".into())
            }
            Self::ScreenshotTooLarge { .. } => {
                Some("Take a screenshot of the viewport or of one element, or use jpeg.".into())
            }
            _ => None,
        }
    }
}

/// The suggestion for a navigation that failed with a net error.
fn after_net_error(error: &NetError) -> &'static str {
    match (error, error.class()) {
        (NetError::TooManyRedirects, _) => {
            "The site has a redirect loop: try another URL, or delete its cookies."
        }
        (NetError::NameNotResolved, _) => "Check the host's name.",
        (_, NetErrorClass::Certificate) => {
            "Start the server with --ignore-https-errors if the site is to be trusted all the same."
        }
        (_, NetErrorClass::Tls) => {
            "The server does not speak TLS there: try http, or another port."
        }
        (_, NetErrorClass::Offline) => {
            "Turn offline mode off (set_offline, browser_network_state_set)."
        }
        (_, NetErrorClass::Network) => "Check the proxy, and the network of this machine.",
        (_, NetErrorClass::Other) => "Check the URL and that its server runs.",
    }
}

/// Returns the alternative to an unsupported feature.
pub(crate) fn instead(alternative: engine::Alternative) -> &'static str {
    use engine::Alternative as A;
    match alternative {
        A::Chromium => "Use --browser=chromium for it.",
        A::ChromiumOrFirefox => "Use --browser=chromium or firefox for it.",
        A::IsolatedContext => "Use --isolated, or --browser=chromium.",
        A::NewContext => {
            "Set it when the session or the context is created, or use --browser=chromium or firefox."
        }
        A::MockedResponse => "Answer the request yourself, or use --browser=chromium.",
        A::FirefoxPermissions => {
            "Firefox grants geolocation, notifications, persistent-storage and storage-access; use --browser=chromium for others."
        }
        A::OwnProxy => "Name it where the browser runs, or in --webdriver-capabilities (`proxy`).",
        A::LocalBrowser => {
            "A proxy on this machine does it, to which a browser that runs elsewhere cannot connect: let the browser be started here, or restrict its network where it runs."
        }
        A::Ffmpeg => "Install ffmpeg, or use --browser=chromium.",
        A::LaunchedBrowser => "Use a browser that Playhouse starts, without --extension.",
    }
}
