//! The host task: executes requests of client code, sends it events, and collects its output for the answer.

mod capture;
mod context;
mod element;
mod facts;
mod page;
mod route;

pub use route::ScriptRegistry;

use super::failure::Failure;
use super::request::{ContextOp, ElementOp, Listen, On, PageOp, Question};
use super::runtime::{self, Ended, Message, Program, Report, Start};
use super::{End, Outcome, Pause, Resume, ScriptContext, Stops};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::{DialogHandlerGuard, Events, HeldInput, Page, PageEvent, PageId, Progress};
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, FuturesUnordered, SelectAll};
use futures_util::{FutureExt as _, StreamExt as _};
use route::PausedRequests;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use task::Task;
use tokio::sync::{mpsc, oneshot, watch};

/// The capacity for messages of the JavaScript thread.
const MAX_REPORTS: usize = 256;
/// The largest number of events that client code has not processed.
const MAX_PENDING_EVENTS: usize = 10_000;
/// How long listeners wait for the first document of a new page.
const OPENED_PAGE_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest number of printed lines and of unhandled errors in an answer.
const MAX_LINES: usize = 200;
/// The largest size of those, in bytes.
const MAX_PRINTED_BYTES: usize = 1024 * 1024;

/// The state that requests of client code need.
pub(super) struct Host {
    pub(super) setting: ScriptContext,
    pub(super) inbox: std::sync::mpsc::Sender<Message>,
    /// A weak reference to itself, for tasks that must not keep it alive.
    pub(super) weak: Weak<Host>,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// The pages that client code has received, including closed ones.
    met: HashMap<PageId, Page>,
    /// The events of pages that have listeners.
    heard: HashSet<(PageId, String)>,
    /// Pages whose dialogs client code handles.
    attended: HashMap<PageId, DialogHandlerGuard>,
    /// Pages whose requests client code intercepts.
    pub(super) routed: HashMap<PageId, Task>,
    pauses: PausedRequests,
}

impl Host {
    /// Returns a page by its id.
    pub(super) fn page(&self, id: &str) -> Result<Page, Failure> {
        let id = PageId::from(id);
        if let Some(page) = self.state().met.get(&id) {
            return Ok(page.clone());
        }
        self.discover_pages();
        let met = self.state().met.get(&id).cloned();
        met.ok_or_else(|| engine::Error::PageClosed {}.into())
    }

    /// Records the open pages.
    fn discover_pages(&self) {
        let pages = self.setting.context.pages();
        let mut state = self.state();
        for page in pages {
            state.met.entry(page.id().clone()).or_insert(page);
        }
    }

    /// Returns whether an event of a page has a listener.
    pub(super) fn has_listener(&self, page: &PageId, event: &str) -> bool {
        let state = self.state();
        state.heard.contains(&(page.clone(), event.to_owned()))
    }

    /// Starts the timeout that the code set, or the default one.
    pub(super) fn within(&self, timeout: Option<f64>, usual: Duration) -> Progress {
        let limit = match timeout {
            None => usual,
            Some(ms) if ms > 0.0 => duration(ms).min(self.setting.longest),
            Some(_) => self.setting.longest,
        };
        Progress::new(limit)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes a synchronous request.
    fn answer(&self, question: &str) -> Result<Value, Failure> {
        Ok(match read(question)? {
            Question::Pages => {
                self.discover_pages();
                let pages = self.setting.context.pages().into_iter();
                pages.map(|page| page.id().as_str().to_owned()).collect()
            }
            Question::Url { page } => self.page(&page)?.url().into(),
            Question::IsClosed { page } => match self.page(&page) {
                Ok(page) => page.is_closed().into(),
                Err(_) => true.into(),
            },
            Question::Opener { page } => {
                let opener = self.page(&page)?.opener();
                opener.map_or(Value::Null, |opener| opener.as_str().into())
            }
            Question::Frames { page } => facts::frames(&self.page(&page)?.frames()),
            Question::Viewport { page } => match self.page(&page)?.viewport() {
                Some(viewport) => json!(viewport.size),
                None => Value::Null,
            },
        })
    }

    /// Executes an asynchronous request. `None`: a dialog without a handler blocks the page.
    async fn act(&self, request: &str) -> Option<Result<Value, Failure>> {
        let done = self.execute(request).await;
        match done {
            Err(failure) if failure.dialog => None,
            done => Some(done),
        }
    }

    async fn execute(&self, request: &str) -> Result<Value, Failure> {
        let request: Value = read(request)?;
        let on: On = from(&request)?;
        let Some(id) = &on.page else {
            return context::run(self, from::<ContextOp>(&request)?).await;
        };
        let page = self.page(id)?;
        let done = if on.locator.is_some() {
            element::run(self, &page, &on, from::<ElementOp>(&request)?).await
        } else {
            page::run(self, &page, &on, from::<PageOp>(&request)?).await
        };
        if !self.state().heard.is_empty() {
            // Events that it caused precede its result.
            page.flush().await;
        }
        done
    }
}

/// Runs code to its end, and then while it has listeners.
pub(super) async fn serve(
    program: Program,
    setting: ScriptContext,
    stop: Arc<AtomicBool>,
    tell: oneshot::Sender<Outcome>,
    pauses: Pauses,
) {
    let start = Start {
        program,
        page: setting.page.id().as_str().to_owned(),
        action: setting.action,
        navigation: setting.navigation,
        burst: setting.action,
    };
    let (reports, heard) = mpsc::channel(MAX_REPORTS);
    let (inbox, messages) = std::sync::mpsc::channel();
    let host = Arc::new_cyclic(|weak| Host {
        setting,
        inbox,
        weak: weak.clone(),
        state: Mutex::default(),
    });
    host.setting.registry.join(&host);
    let behind = Arc::<AtomicUsize>::default();
    // The thread must not keep the host alive.
    let asked = host.weak.clone();
    let query: runtime::SyncQuery = Arc::new(move |question: &str| {
        let answer = asked.upgrade().map(|host| host.answer(question));
        to_json(answer.unwrap_or_else(|| Err(engine::Error::PageClosed {}.into())))
    });
    let pages = host.setting.context.pages().into_iter();
    let held = pages.map(|page| (page.id().clone(), page.held_input()));
    let held = Some(held.collect());
    let mut answer = Answer::new(tell);
    if let Err(error) = runtime::start(start, query, reports, messages, behind.clone(), stop) {
        answer.finish(End::Failed(format!("Error: {error}")));
        return;
    }
    let mut script_loop = ScriptLoop {
        host,
        events: SelectAll::new(),
        followed: HashSet::new(),
        running: FuturesUnordered::new(),
        answer,
        behind,
        downloads: 0,
        pages: HashSet::new(),
        opening: FuturesUnordered::new(),
        pauses,
        held,
    };
    script_loop.run(heard).await;
}

/// The result of a call, with its number.
type Done = (u32, Option<Result<Value, Failure>>);

/// Everything that is in progress.
struct ScriptLoop {
    host: Arc<Host>,
    events: SelectAll<BoxStream<'static, (Page, PageEvent)>>,
    followed: HashSet<PageId>,
    running: FuturesUnordered<BoxFuture<'static, Done>>,
    answer: Answer,
    /// The number of events that the code has not processed.
    behind: Arc<AtomicUsize>,
    /// The number of the first unreported download.
    downloads: u64,
    /// The reported pages, and those that existed before.
    pages: HashSet<PageId>,
    /// Pages whose first document is loading.
    opening: FuturesUnordered<BoxFuture<'static, Page>>,
    pauses: Pauses,
    /// What was pressed when the code began; `None` after its end.
    held: Option<HashMap<PageId, HeldInput>>,
}

impl Drop for ScriptLoop {
    /// Code that is interrupted releases what it has pressed, because it cannot do that itself.
    fn drop(&mut self) {
        for page in self
            .held
            .iter()
            .flat_map(|_| self.host.setting.context.pages())
        {
            let before = self.held.as_ref().and_then(|held| held.get(page.id()));
            page.release_since(&before.cloned().unwrap_or_default());
        }
    }
}

/// The pauses of the code, and the requests to resume it.
pub(super) struct Pauses {
    shown: watch::Sender<Option<Pause>>,
    requests: mpsc::UnboundedReceiver<Resume>,
    /// The number of the call that ends with the pause.
    call: Option<u32>,
}

impl Pauses {
    pub(super) fn new(
        shown: watch::Sender<Option<Pause>>,
        requests: mpsc::UnboundedReceiver<Resume>,
    ) -> Self {
        Self {
            shown,
            requests,
            call: None,
        }
    }
}

impl ScriptLoop {
    async fn run(&mut self, mut reports: mpsc::Receiver<Report>) {
        let context = self.host.setting.context.clone();
        let mut changes = context.changes();
        let pages = context.pages();
        self.pages
            .extend(pages.iter().map(|page| page.id().clone()));
        let downloads = context.downloads();
        self.downloads = downloads.last().map_or(0, |last| last.number + 1);
        loop {
            changes.mark_unchanged();
            tokio::select! {
                biased;
                Some((page, event)) = self.events.next() => self.on_event(&page, &event),
                Some((call, outcome)) = self.running.next() => match outcome {
                    Some(outcome) => self.settle(call, outcome),
                    None => return self.answer.finish(End::Dialog),
                },
                Some(page) = self.opening.next() => self.opened(&page),
                Some((stops, tell)) = self.pauses.requests.recv() => self.resume(&stops, tell),
                report = reports.recv() => match report {
                    Some(report) => self.on_report(report),
                    // The thread has ended.
                    None => return,
                },
                Ok(()) = changes.changed() => {}
            }
            self.announce_new();
        }
    }

    fn on_report(&mut self, report: Report) {
        match report {
            Report::Call { call, request } => self.call(call, request),
            Report::Printed { level, text } => self.answer.print(format!("[{level}] {text}")),
            Report::Unhandled(error) => self.answer.add_error(error),
            Report::Ended(ended) => {
                self.held = None;
                self.answer.finish(match ended {
                    Ended::Value(value) => End::Value(value),
                    Ended::Error { message } => End::Failed(message),
                });
            }
            Report::Stopped(stopped) => self.answer.finish(End::Failed(stopped.reason())),
        }
    }

    fn call(&mut self, call: u32, request: String) {
        // In order, so that subsequent events are not missed.
        match read::<OrderedRequest>(&request) {
            Ok(OrderedRequest::Listen(listen)) => {
                let outcome = self.listen(&listen).map(|()| Value::Null);
                return self.settle(call, outcome);
            }
            Ok(OrderedRequest::Pause(pause)) => return self.pause(call, pause),
            Err(_) => {}
        }
        let host = self.host.clone();
        let work = async move { (call, host.act(&request).await) };
        self.running.push(work.boxed());
    }

    /// Pauses the code, which ends the call of the client. The code is paused at one operation at a time.
    fn pause(&mut self, call: u32, pause: Pause) {
        if !self.host.setting.can_pause || self.pauses.call.is_some() {
            return self.settle(call, Ok(Value::Null));
        }
        self.pauses.call = Some(call);
        self.pauses.shown.send_replace(Some(pause));
        self.answer.finish(End::Paused);
    }

    fn resume(&mut self, stops: &Stops, tell: oneshot::Sender<Outcome>) {
        let Some(call) = self.pauses.call.take() else {
            return;
        };
        self.pauses.shown.send_replace(None);
        self.answer = Answer::new(tell);
        self.settle(call, Ok(json!(stops)));
    }

    fn settle(&self, call: u32, outcome: Result<Value, Failure>) {
        let outcome = to_json(outcome);
        // The thread may have ended.
        let _ = self.host.inbox.send(Message::Settled { call, outcome });
    }

    fn listen(&mut self, listen: &Listen) -> Result<(), Failure> {
        let Some(id) = &listen.page else {
            return Ok(());
        };
        let page = self.host.page(id)?;
        let mut state = self.host.state();
        let heard = (page.id().clone(), listen.event.clone());
        if listen.on {
            state.heard.insert(heard);
        } else {
            state.heard.remove(&heard);
        }
        if listen.event == "dialog" {
            if listen.on {
                let attendance = page.handle_dialogs();
                state.attended.insert(page.id().clone(), attendance);
            } else if let Some(attendance) = state.attended.remove(page.id()) {
                drop(state);
                drop(attendance);
            }
        }
        if self.followed.insert(page.id().clone()) {
            self.events.push(follow(page));
        }
        Ok(())
    }

    fn on_event(&mut self, page: &Page, event: &PageEvent) {
        if let Some((name, facts)) = facts::event(&self.host, page, event)
            && self.host.has_listener(page.id(), name)
        {
            self.send_event(Some(page.id()), name, facts);
        }
    }

    /// Reports new pages and downloads.
    fn announce_new(&mut self) {
        let context = self.host.setting.context.clone();
        for page in context.pages() {
            if !self.pages.insert(page.id().clone()) {
                continue;
            }
            if page.opener().is_none() {
                self.opened(&page);
                continue;
            }
            // Listeners expect the document for which the page was opened.
            self.opening.push(Box::pin(async move {
                page.first_document(OPENED_PAGE_TIMEOUT).await;
                page
            }));
        }
        for download in context.downloads() {
            if download.number < self.downloads {
                continue;
            }
            self.downloads = download.number + 1;
            if let Some(page) = &download.page
                && self.host.has_listener(page, "download")
            {
                self.send_event(Some(page), "download", facts::download(&download));
            }
        }
    }

    fn opened(&mut self, page: &Page) {
        let id = json!(page.id().as_str());
        self.send_event(None, "page", json!({ "page": id }));
        if let Some(opener) = page.opener()
            && self.host.has_listener(&opener, "popup")
        {
            self.send_event(Some(&opener), "popup", json!({ "popup": id }));
        }
    }

    fn send_event(&mut self, page: Option<&PageId>, event: &str, facts: Value) {
        if self.behind.fetch_add(1, Ordering::Relaxed) >= MAX_PENDING_EVENTS {
            if !self.events.is_empty() {
                let lost = format!(
                    "The code was {MAX_PENDING_EVENTS} events behind, and hears no more of them"
                );
                self.answer.add_error(lost);
                self.events.clear();
            }
            return;
        }
        let page = page.map(PageId::as_str);
        let event = json!({ "page": page, "event": event, "facts": facts });
        let _ = self.host.inbox.send(Message::Happened(event.to_string()));
    }
}

/// The asynchronous requests that are handled in order.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
enum OrderedRequest {
    Listen(Listen),
    Pause(Pause),
}

fn follow(page: Page) -> BoxStream<'static, (Page, PageEvent)> {
    let events = page.events();
    let next = |(page, mut events): (Page, Events)| async move {
        let event = events.next().await?;
        Some(((page.clone(), event), (page, events)))
    };
    futures_util::stream::unfold((page, events), next).boxed()
}

/// The outcome of the call so far.
struct Answer {
    tell: Option<oneshot::Sender<Outcome>>,
    printed: Vec<String>,
    unhandled: Vec<String>,
    /// The remaining size for printed lines, in bytes.
    room: usize,
}

impl Answer {
    fn new(tell: oneshot::Sender<Outcome>) -> Self {
        Self {
            tell: Some(tell),
            printed: Vec::new(),
            unhandled: Vec::new(),
            room: MAX_PRINTED_BYTES,
        }
    }

    fn print(&mut self, line: String) {
        if self.printed.len() < MAX_LINES && self.room > 0 {
            self.room = self.room.saturating_sub(line.len());
            self.printed.push(line);
        }
    }

    fn add_error(&mut self, error: String) {
        if self.tell.is_none() {
            tracing::warn!(error, "in code that still listens");
        } else if self.unhandled.len() < MAX_LINES && self.room > 0 {
            self.room = self.room.saturating_sub(error.len());
            self.unhandled.push(error);
        }
    }

    fn finish(&mut self, end: End) {
        if let Some(tell) = self.tell.take() {
            // The receiver may be dropped.
            let _ = tell.send(Outcome {
                end,
                printed: std::mem::take(&mut self.printed),
                unhandled: std::mem::take(&mut self.unhandled),
            });
        }
    }
}

pub(super) fn duration(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1_000.0).unwrap_or(Duration::ZERO)
}

pub(super) fn decoded(base64: &str) -> Result<Vec<u8>, Failure> {
    let bytes = BASE64_STANDARD.decode(base64);
    bytes.map_err(|error| Failure::new(error.to_string()))
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::new(error.to_string()))
}

fn from<T: DeserializeOwned>(request: &Value) -> Result<T, Failure> {
    T::deserialize(request).map_err(|error| Failure::new(error.to_string()))
}

fn to_json(outcome: Result<Value, Failure>) -> String {
    match outcome {
        Ok(value) => json!({ "value": value }).to_string(),
        Err(failure) => json!({ "error": failure }).to_string(),
    }
}
