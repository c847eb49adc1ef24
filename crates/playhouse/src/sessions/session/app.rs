//! What a session has beside its pages when it tests an app: the right to the app's servers, how far their logs were when calls came and
//! went, and what went wrong so far.

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

/// Troubles that are kept; the oldest go first.
const MAX_ERRORS: usize = 500;

/// Pages whose errors are remembered beside those that a call is for: those of other contexts, and some that are closed.
const MAX_OTHER_PAGES: usize = 200;

/// Begins what Chromium logs for each request that fails, beside the request itself.
const FAILED_TO_LOAD: &str = "Failed to load resource";

/// The app of a session.
pub(crate) struct App {
    /// The one that was asked for first, then those that it requires.
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
    /// How many were forgotten.
    forgotten: usize,
    /// What went wrong last in the app while its tools did well, until somebody is told more of it.
    unexplained: Option<UnattributedError>,
}

/// An error of the app that no tool failed of.
#[derive(Debug, Clone)]
pub(crate) struct UnattributedError {
    /// When it was noticed, RFC 3339.
    pub(crate) time: String,
    /// The tool whose call it came with.
    pub(crate) tool: &'static str,
    pub(crate) message: String,
    /// How far logs were before that call.
    pub(crate) from: Marks,
}

/// What is known already of a page's errors.
#[derive(Default)]
struct ReportedCounts {
    console: u64,
    requests: HashSet<RequestId>,
}

/// How far the logs of each server were.
pub(crate) type Marks = Vec<Mark>;

/// How far the logs of a server were.
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
    /// About how long it is, in bytes.
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

/// What pages had trouble with since they were last asked.
#[derive(Debug, Default)]
pub(crate) struct NewEvents {
    pub(crate) console: Vec<Arc<ConsoleMessage>>,
    pub(crate) requests: Vec<FailedRequest>,
}

impl App {
    /// An app that runs.
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

    /// Its servers, the one that was asked for first.
    pub(crate) fn servers(&self) -> &[Arc<DevServer>] {
        &self.servers
    }

    /// Where it is.
    pub(crate) fn url(&self) -> Option<String> {
        self.servers.first()?.known()?.url
    }

    /// A call that does something has its turn.
    pub(crate) fn call_began(&self) {
        let now = self.now();
        self.state().began = now;
    }

    /// A call is over.
    pub(crate) fn call_ended(&self) {
        let now = self.now();
        self.state().ended = now;
    }

    /// How far logs were when the last call began that did something.
    pub(crate) fn marks_at_last_action(&self) -> Marks {
        self.state().began.clone()
    }

    /// How far they were when the last one ended.
    pub(crate) fn marks_at_last_call(&self) -> Marks {
        self.state().ended.clone()
    }

    /// What pages had trouble with since this was last asked.
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
                            reason: Some(reason.clone()),
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
                // Browsers ask for it by themselves.
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

    /// Notes that something went wrong.
    pub(crate) fn note(&self, trouble: SessionError) {
        let mut state = self.state();
        state.errors.push_back(trouble);
        if state.errors.len() > MAX_ERRORS {
            state.errors.pop_front();
            state.forgotten += 1;
        }
    }

    /// Notes an error of the app that a tool met without failing.
    pub(crate) fn record_unattributed(&self, tool: &'static str, message: String) {
        let mut state = self.state();
        state.unexplained = Some(UnattributedError {
            time: now(),
            tool,
            message,
            from: state.ended.clone(),
        });
    }

    /// The last such error; it is told once.
    pub(crate) fn take_unattributed(&self) -> Option<UnattributedError> {
        self.state().unexplained.take()
    }

    /// All that went wrong, and how much more was forgotten before it.
    pub(crate) fn errors(&self) -> (Vec<SessionError>, usize) {
        let state = self.state();
        (state.errors.iter().cloned().collect(), state.forgotten)
    }

    /// Gives the servers back, once: what became of each.
    pub(crate) async fn release_servers(
        &self,
        reason: Reason,
    ) -> Vec<(Arc<DevServer>, Result<StopOutcome>)> {
        self.begin_release().done(reason).await
    }

    /// The servers, to be given back when all else is done.
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

/// Servers that are about to be given back; dropped, they are.
pub(crate) struct ServerRelease(Vec<Use>);

impl ServerRelease {
    /// Gives them back: what became of each.
    pub(crate) async fn done(self, reason: Reason) -> Vec<(Arc<DevServer>, Result<StopOutcome>)> {
        let mut left = Vec::new();
        for used in self.0 {
            let server = used.server.clone();
            left.push((server, used.give_back(reason).await));
        }
        left
    }
}

/// The time as errors have it.
pub(crate) fn now() -> String {
    let format =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    OffsetDateTime::now_utc().format(format).unwrap_or_default()
}
