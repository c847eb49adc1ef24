//! The app under test of a session: references to its servers, the log positions at the start and end of calls, and the errors so far.

use crate::answers::evidence::FailedRequest;
use crate::apps::{self, DevServer, Position, Reason, StopOutcome, Use};
use crate::error::Result;
use engine::{ConsoleMessage, MessageKind, Page, PageId, RequestId, RequestOutcome};
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use supervisor::Logs;
use time::OffsetDateTime;
use time::macros::format_description;

/// The largest number of stored errors; the oldest are removed first.
const MAX_ERRORS: usize = 500;

/// The largest number of pages whose errors are tracked beside those of the current call: pages of other contexts, and closed ones.
const MAX_OTHER_PAGES: usize = 200;

/// The prefix of Chromium's console message about a failed request, which duplicates the request.
const FAILED_TO_LOAD: &str = "Failed to load resource";

/// The app of a session.
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
    told: HashMap<PageId, ReportedCounts>,
    errors: VecDeque<SessionError>,
    /// The number of removed errors.
    forgotten: usize,
    /// The last error of the app that no call reported, until a failure reports it.
    unexplained: Option<UnattributedError>,
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

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionError {
    /// When it was noticed, RFC 3339.
    pub(crate) time: String,
    pub(crate) kind: SessionErrorKind,
    /// The tool whose call it came with.
    pub(crate) tool: &'static str,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screenshot: Option<String>,
    /// What the servers logged meanwhile.
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

/// Where it went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SessionErrorKind {
    /// A tool failed.
    Tool,
    /// A script of the page threw.
    Page,
    /// The page reported an error.
    Console,
    /// A request failed, or was answered with an error.
    Request,
    /// A server ended.
    Server,
}

/// New errors of pages.
#[derive(Debug, Default)]
pub(crate) struct NewEvents {
    pub(crate) console: Vec<Arc<ConsoleMessage>>,
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

    /// Records that a call that acts has its turn.
    pub(crate) fn call_began(&self) {
        let now = self.now();
        self.state().began = now;
    }

    /// Records the end of a call.
    pub(crate) fn call_ended(&self) {
        let now = self.now();
        self.state().ended = now;
    }

    /// Returns the log positions at the start of the last call that acted.
    pub(crate) fn marks_at_last_action(&self) -> Marks {
        self.state().began.clone()
    }

    /// Returns the log positions at the end of the last call.
    pub(crate) fn marks_at_last_call(&self) -> Marks {
        self.state().ended.clone()
    }

    /// Returns the errors of pages since the last query.
    pub(crate) fn new_events<'a>(&self, pages: impl Iterator<Item = &'a Page>) -> NewEvents {
        let mut news = NewEvents::default();
        let mut state = self.state();
        let mut told = HashMap::new();
        for page in pages {
            let mut known = state.told.remove(page.id()).unwrap_or_default();
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
                // Browsers request it without the page.
                let failed = failed.filter(|failed| !failed.url.ends_with("/favicon.ico"));
                if let Some(failed) = failed {
                    if !known.requests.contains(&request.id) {
                        news.requests.push(failed);
                    }
                    requests.insert(request.id);
                }
            }
            for entry in page.console(known.console) {
                known.console = entry.number + 1;
                let is_error = matches!(
                    entry.message.kind,
                    MessageKind::Error | MessageKind::PageError | MessageKind::Assert
                );
                let is_told = entry.message.text.starts_with(FAILED_TO_LOAD)
                    && entry.message.location.as_ref().is_some_and(|place| {
                        let is_it = |failed: &FailedRequest| failed.url == place.url;
                        place.url.ends_with("/favicon.ico") || news.requests.iter().any(is_it)
                    });
                if is_error && !is_told {
                    news.console.push(entry.message);
                }
            }
            told.insert(page.id().clone(), ReportedCounts { requests, ..known });
        }
        if state.told.len() > MAX_OTHER_PAGES {
            state.told.clear();
        }
        state.told.extend(told);
        news
    }

    /// Adds a session error.
    pub(crate) fn note(&self, trouble: SessionError) {
        let mut state = self.state();
        state.errors.push_back(trouble);
        if state.errors.len() > MAX_ERRORS {
            state.errors.pop_front();
            state.forgotten += 1;
        }
    }

    /// Adds an error of the app that did not make the tool fail.
    pub(crate) fn record_unattributed(&self, tool: &'static str, message: String) {
        let mut state = self.state();
        state.unexplained = Some(UnattributedError {
            time: now(),
            tool,
            message,
            from: state.ended.clone(),
        });
    }

    /// Returns the last such error, once.
    pub(crate) fn take_unattributed(&self) -> Option<UnattributedError> {
        self.state().unexplained.take()
    }

    /// Returns the errors, and the number of removed older ones.
    pub(crate) fn errors(&self) -> (Vec<SessionError>, usize) {
        let state = self.state();
        (state.errors.iter().cloned().collect(), state.forgotten)
    }

    /// Releases the servers, once, and returns the result of each.
    pub(crate) async fn release_servers(
        &self,
        reason: Reason,
    ) -> Vec<(Arc<DevServer>, Result<StopOutcome>)> {
        self.begin_release().done(reason).await
    }

    /// Returns the servers, to be released after everything else has ended.
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

/// Returns the current time in the format of errors.
pub(crate) fn now() -> String {
    let format =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    OffsetDateTime::now_utc().format(format).unwrap_or_default()
}
