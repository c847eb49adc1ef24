//! The app under test of a session: its servers, the log positions at the start and end of calls, and the session errors.

use crate::answers::evidence::FailedRequest;
use crate::apps::{self, DevServer, Position, Reason, StopOutcome, Use};
use crate::error::{Error, Result};
use crate::timestamp::timestamp;
use engine::{ConsoleMessage, MessageKind, Page, PageId, RequestId, RequestOutcome};
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use supervisor::Logs;
use url::Url;

/// The largest number of stored errors; the oldest are removed first.
const MAX_ERRORS: usize = 500;

/// The largest number of pages whose errors are tracked beside those of the current call: pages of other contexts, and closed ones.
const MAX_OTHER_PAGES: usize = 200;

/// The prefix of Chromium's console message about a failed request, which duplicates the request.
const FAILED_TO_LOAD: &str = "Failed to load resource";

/// The app under test of a session.
pub(crate) struct App {
    /// The requested server, then those that it requires.
    servers: Vec<Arc<DevServer>>,
    uses: Mutex<Vec<Use>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    began: Marks,
    ended: Marks,
    shown: Marks,
    reported: HashMap<PageId, ReportedCounts>,
    errors: VecDeque<SessionError>,
    /// The number of removed errors.
    removed: usize,
    /// The last error of the app that no call reported, until a failed call reports it.
    unattributed: Option<UnattributedError>,
}

/// An error of the app that did not make a tool fail.
#[derive(Debug, Clone)]
pub(crate) struct UnattributedError {
    /// The time of detection, RFC 3339.
    pub(crate) time: String,
    /// The tool of the call during which it was detected.
    pub(crate) tool: &'static str,
    pub(crate) message: String,
    /// The log positions before that call.
    pub(crate) from: Marks,
}

/// The reported errors of a page.
#[derive(Default)]
struct ReportedCounts {
    console: u64,
    requests: HashSet<RequestId>,
}

/// The positions in the logs of each server.
pub(crate) type Marks = Vec<Mark>;

/// The positions in the logs of a server.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mark {
    pub(crate) combined: Position,
    pub(crate) stdout: Position,
    pub(crate) stderr: Position,
}

impl Mark {
    fn of(logs: &Logs) -> Self {
        let end =
            |path: &Option<std::path::PathBuf>| path.as_deref().map(apps::end).unwrap_or_default();
        Self {
            combined: end(&logs.combined),
            stdout: end(&logs.stdout),
            stderr: end(&logs.stderr),
        }
    }
}

/// A session error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionError {
    /// The time of detection, RFC 3339.
    pub(crate) time: String,
    pub(crate) kind: SessionErrorKind,
    /// The tool of the call.
    pub(crate) tool: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screenshot: Option<String>,
    /// Server log during the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log: Option<String>,
}

impl SessionError {
    /// Returns the approximate size, in bytes.
    pub(crate) fn size(&self) -> usize {
        let parts = [&self.page_url, &self.screenshot, &self.log];
        let parts = parts.into_iter().flatten().map(String::len);
        100 + self.message.len() + parts.sum::<usize>()
    }
}

/// The source of the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SessionErrorKind {
    /// A tool failed.
    Tool,
    /// A script of the page threw.
    Page,
    /// The page logged an error.
    Console,
    /// A request failed or got an error response.
    Request,
    /// A server ended.
    Server,
}

/// New errors of pages.
#[derive(Debug, Default)]
pub(crate) struct NewEvents {
    /// Console errors, with the page of each.
    pub(crate) console: Vec<(Page, Arc<ConsoleMessage>)>,
    pub(crate) requests: Vec<FailedRequest>,
}

impl App {
    /// Creates a running app.
    pub(crate) fn new(uses: Vec<Use>) -> Self {
        let app = Self {
            servers: uses.iter().map(|used| used.server.clone()).collect(),
            uses: Mutex::new(uses),
            state: Mutex::default(),
        };
        app.call_began();
        app.call_ended();
        app.logs_shown();
        app
    }

    /// Returns the servers; the requested one is first.
    pub(crate) fn servers(&self) -> &[Arc<DevServer>] {
        &self.servers
    }

    /// Returns the URL of the app.
    pub(crate) fn url(&self) -> Option<String> {
        self.servers.first()?.known()?.url
    }

    /// Waits until the server of a URL is known not to respond, and returns the failure. Waits forever for another URL.
    pub(crate) async fn becomes_unresponsive(&self, url: &str) -> Error {
        let origin = |url: &str| Some(Url::parse(url).ok()?.origin());
        let serves = |server: &&Arc<DevServer>| {
            let its_url = server.known().and_then(|known| known.url);
            its_url.is_some_and(|its_url| origin(&its_url) == origin(url))
        };
        let Some(server) = self.servers.iter().find(serves) else {
            return std::future::pending().await;
        };
        Error::DevServerFailed {
            server: server.name().to_owned(),
            during: "call",
            reason: server.becomes_unresponsive().await,
            report: Box::default(),
        }
    }

    /// Records the log positions at the start of a call that acts.
    pub(crate) fn call_began(&self) {
        let now = self.now();
        self.state().began = now;
    }

    /// Records the log positions at the end of a call.
    pub(crate) fn call_ended(&self) {
        let now = self.now();
        self.state().ended = now;
    }

    /// Records that an answer shows the ends of the logs.
    pub(crate) fn logs_shown(&self) {
        let now = self.now();
        self.state().shown = now;
    }

    /// Returns the log positions behind the last lines that an answer showed.
    pub(crate) fn marks_of_shown_logs(&self) -> Marks {
        self.state().shown.clone()
    }

    /// Returns the log positions at the start of the last call that acted.
    pub(crate) fn marks_at_last_action(&self) -> Marks {
        self.state().began.clone()
    }

    /// Returns the log positions at the end of the last call.
    pub(crate) fn marks_at_last_call(&self) -> Marks {
        self.state().ended.clone()
    }

    /// Returns the errors of pages that were not returned before.
    pub(crate) fn new_events<'a>(&self, pages: impl Iterator<Item = &'a Page>) -> NewEvents {
        let mut new = NewEvents::default();
        let mut state = self.state();
        let mut reported = HashMap::new();
        for page in pages {
            let mut counts = state.reported.remove(page.id()).unwrap_or_default();
            let mut requests = HashSet::new();
            for request in page.requests() {
                let status = request.response.as_ref().map(|response| response.status);
                let failed = match &request.outcome {
                    Some(RequestOutcome::Failed { cancelled, reason }) => {
                        (!cancelled).then(|| FailedRequest {
                            method: request.method.clone(),
                            url: request.url.clone(),
                            status: None,
                            reason: Some(reason.to_string()),
                        })
                    }
                    _ => status
                        .filter(|status| *status >= 400)
                        .map(|status| FailedRequest {
                            method: request.method.clone(),
                            url: request.url.clone(),
                            status: Some(status),
                            reason: None,
                        }),
                };
                // Browsers request the icon, not the page.
                let failed = failed.filter(|failed| !failed.url.ends_with("/favicon.ico"));
                if let Some(failed) = failed {
                    if !counts.requests.contains(&request.id) {
                        new.requests.push(failed);
                    }
                    requests.insert(request.id);
                }
            }
            for entry in page.console(counts.console) {
                counts.console = entry.number + 1;
                let is_error = matches!(
                    entry.message.kind,
                    MessageKind::Error | MessageKind::PageError | MessageKind::Assert
                );
                let is_duplicate = entry.message.text.starts_with(FAILED_TO_LOAD)
                    && entry.message.location.as_ref().is_some_and(|location| {
                        let is_same = |failed: &FailedRequest| failed.url == location.url;
                        location.url.ends_with("/favicon.ico") || new.requests.iter().any(is_same)
                    });
                if is_error && !is_duplicate {
                    new.console.push((page.clone(), entry.message));
                }
            }
            reported.insert(page.id().clone(), ReportedCounts { requests, ..counts });
        }
        if state.reported.len() > MAX_OTHER_PAGES {
            state.reported.clear();
        }
        state.reported.extend(reported);
        new
    }

    /// Adds a session error.
    pub(crate) fn note(&self, error: SessionError) {
        let mut state = self.state();
        state.errors.push_back(error);
        if state.errors.len() > MAX_ERRORS {
            state.errors.pop_front();
            state.removed += 1;
        }
    }

    /// Adds an error of the app that did not make the tool fail.
    pub(crate) fn record_unattributed(&self, tool: &'static str, message: String) {
        let mut state = self.state();
        state.unattributed = Some(UnattributedError {
            time: timestamp(SystemTime::now()),
            tool,
            message,
            from: state.ended.clone(),
        });
    }

    /// Returns the last error that no call reported, and removes it.
    pub(crate) fn take_unattributed(&self) -> Option<UnattributedError> {
        self.state().unattributed.take()
    }

    /// Returns the errors, and the number of removed older ones.
    pub(crate) fn errors(&self) -> (Vec<SessionError>, usize) {
        let state = self.state();
        (state.errors.iter().cloned().collect(), state.removed)
    }

    /// Releases the servers, once, and returns the result of each.
    pub(crate) async fn release_servers(
        &self,
        reason: Reason,
    ) -> Vec<(Arc<DevServer>, Result<StopOutcome>)> {
        self.begin_release().done(reason).await
    }

    /// Returns the servers, which are to be released after the other parts of the session.
    pub(crate) fn begin_release(&self) -> ServerRelease {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        ServerRelease(std::mem::take(&mut *uses))
    }

    fn now(&self) -> Marks {
        self.servers
            .iter()
            .map(|server| Mark::of(&server.logs()))
            .collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Servers that are released when this is dropped.
pub(crate) struct ServerRelease(Vec<Use>);

impl ServerRelease {
    /// Releases the servers and returns the result of each.
    pub(crate) async fn done(self, reason: Reason) -> Vec<(Arc<DevServer>, Result<StopOutcome>)> {
        let mut left = Vec::new();
        for used in self.0 {
            let server = used.server.clone();
            left.push((server, used.give_back(reason).await));
        }
        left
    }
}
