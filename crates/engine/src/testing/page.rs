//! The page of a fake browser.

use super::document::{Document, Host, Message};
use super::shared::{OpenPage, Shared};
use crate::backend::address::navigation_failed;
use crate::backend::{
    ConsoleMessage, ContextObserver, DialogKind, FrameId, Headers, InputStep, LoaderId, PageEvent,
    PageId, Reporter, RequestId, Size, Verdict, Viewport,
};
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use task::{Task, spawn};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use url::Url;

/// The size of a page without a viewport.
pub(super) const WINDOW: Size = Size {
    width: 1280,
    height: 720,
};
const MAIN_FRAME: &str = "main";

/// Answers calls of injected functions, and receives input, in place of a document.
#[async_trait]
pub(crate) trait Script: Send + Sync {
    async fn call(&self, function: &str, argument: &Value) -> Result<String>;
    async fn input(&self, steps: &[InputStep]) -> Result<()>;
}

pub(crate) struct FakePage {
    pub(super) id: PageId,
    itself: Weak<Self>,
    pub(super) context: Arc<Shared>,
    /// The observer of popups; `None` for a page that is not reported.
    observer: Option<Arc<dyn ContextObserver>>,
    /// `None` only for a page with a script.
    runtime: Option<Handle>,
    pub(super) reporter: Reporter,
    pub(super) document: OnceLock<Document>,
    pub(super) script: Option<Box<dyn Script>>,
    start: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// The URLs of the history, and the index of the current one.
    pub(super) history: Vec<String>,
    pub(super) index: usize,
    pub(super) loading: Option<Task>,
    pub(super) viewport: Option<Viewport>,
    pub(super) headers: Headers,
    pub(super) init_scripts: Vec<String>,
    /// The `sessionStorage` of each origin, as a JSON object.
    storage: HashMap<String, Value>,
    pub(super) bodies: HashMap<RequestId, Vec<u8>>,
    pub(super) intercepts: bool,
    pub(super) paused: HashMap<String, oneshot::Sender<Verdict>>,
    pub(super) dialog: Option<Sender<Value>>,
}

/// A request of a document.
pub(super) struct Outgoing {
    pub(super) method: String,
    pub(super) url: Url,
    pub(super) headers: Headers,
    pub(super) body: Vec<u8>,
    /// `document` or `fetch`.
    pub(super) resource_type: &'static str,
    pub(super) loader: LoaderId,
}

impl FakePage {
    /// Opens a page and reports it.
    pub(super) fn open(
        context: &Arc<Shared>,
        observer: &Arc<dyn ContextObserver>,
        opener: Option<PageId>,
    ) -> Result<Arc<Self>> {
        let page = Self::create(context, Some(observer.clone()))?;
        context.pages().push(page.clone());
        let reported = observer.page_opened(page.clone(), opener);
        page.reporter.set_observer(reported);
        page.show("about:blank");
        Ok(page)
    }

    /// Creates a page that reports nothing.
    pub(super) fn create(
        context: &Arc<Shared>,
        observer: Option<Arc<dyn ContextObserver>>,
    ) -> Result<Arc<Self>> {
        let page = Self::new(context, observer, None);
        let document = Document::start(page.itself.clone());
        let document = document.map_err(|error| Error::protocol("fake page", error))?;
        let _ = page.document.set(document);
        Ok(page)
    }

    /// Creates a page with a script instead of a document.
    #[cfg(test)]
    pub(crate) fn scripted(script: impl Script + 'static) -> Arc<Self> {
        Self::new(&Arc::default(), None, Some(Box::new(script)))
    }

    fn new(
        context: &Arc<Shared>,
        observer: Option<Arc<dyn ContextObserver>>,
        script: Option<Box<dyn Script>>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            id: context.next_id("page").into(),
            itself: Weak::clone(itself),
            context: context.clone(),
            observer,
            runtime: Handle::try_current().ok(),
            reporter: Reporter::default(),
            document: OnceLock::new(),
            script,
            start: Instant::now(),
            state: Mutex::new(State {
                viewport: context.options.viewport.clone(),
                ..State::default()
            }),
        })
    }

    /// Shows an empty document with this URL.
    pub(super) fn show(&self, url: &str) {
        self.push(url);
        self.commit(url, None, String::new());
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, message: Message) {
        if let Some(document) = self.document.get() {
            document.send(message);
        }
    }

    pub(super) fn report(&self, event: PageEvent) {
        self.reporter.report(event);
    }

    pub(super) fn frame(&self) -> FrameId {
        MAIN_FRAME.into()
    }

    pub(super) fn url(&self) -> String {
        let state = self.state();
        state.history.get(state.index).cloned().unwrap_or_default()
    }

    /// Returns the seconds since the page was opened.
    pub(super) fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Calls a function of the document.
    pub(super) async fn ask(
        &self,
        function: &'static str,
        arguments: Vec<String>,
    ) -> Result<String> {
        let document = self.document.get().ok_or(Error::PageClosed {})?;
        match document.call(function, arguments).await {
            None => Err(Error::DocumentGone {}),
            Some(outcome) => outcome.map_err(|message| Error::Script { message }),
        }
    }

    /// Shows a document. `failed` is the URL that could not be loaded.
    fn commit(&self, url: &str, failed: Option<String>, html: String) {
        let loader = LoaderId::from(self.context.next_id("loader"));
        self.commit_as(&loader, url, failed, html);
    }

    fn commit_as(&self, loader: &LoaderId, url: &str, failed: Option<String>, html: String) {
        let origin = Url::parse(url)
            .map_or_else(|_| String::new(), |url| url.origin().ascii_serialization());
        let facts = {
            let mut state = self.state();
            let state = &mut *state;
            let options = &self.context.options;
            let size = state.viewport.as_ref().map_or(WINDOW, |it| it.size);
            let scripts = options.all_init_scripts().map(str::to_owned);
            let scripts = scripts.chain(self.context.init_scripts());
            json!({
                "url": url,
                "loader": loader.as_str(),
                "userAgent": options.user_agent.as_deref().unwrap_or(super::USER_AGENT),
                "language": options.locale.as_deref().unwrap_or("en-US"),
                "width": size.width,
                "height": size.height,
                "initScripts": scripts.chain(state.init_scripts.iter().cloned()).collect::<Vec<_>>(),
                "local": self.context.storage(&origin),
                "session": state.storage.get(&origin).cloned().unwrap_or_else(|| json!([])),
            })
        };
        self.report(PageEvent::NavigationCommitted {
            frame: self.frame(),
            loader: loader.clone(),
            url: url.to_owned(),
            name: String::new(),
            failed,
        });
        self.send(Message::Load { facts, html });
    }

    /// Adds an entry to the history, which replaces those after the current one.
    fn push(&self, url: &str) {
        let mut state = self.state();
        let next = match state.history.is_empty() {
            true => 0,
            false => state.index + 1,
        };
        state.history.truncate(next);
        state.history.push(url.to_owned());
        state.index = next;
    }

    /// Starts to load a document. `then` receives the loader, or `None` if the response is no document, before the document runs.
    pub(super) fn begin(
        &self,
        url: &str,
        adds_entry: bool,
    ) -> Result<oneshot::Receiver<Result<Option<LoaderId>>>> {
        let parsed = Url::parse(url).map_err(|_| Error::InvalidUrl {
            url: url.to_owned(),
        })?;
        drop(self.state().loading.take());
        let loader = LoaderId::from(self.context.next_id("loader"));
        self.report(PageEvent::NavigationStarted {
            frame: self.frame(),
            loader: Some(loader.clone()),
            url: parsed.to_string(),
        });
        let (committed, shown) = oneshot::channel();
        let itself = self.itself.clone();
        let _guard = self.runtime.as_ref().map(Handle::enter);
        let mut aborted = NavigationGuard {
            page: Some(itself.clone()),
            loader: loader.clone(),
        };
        let task = spawn("fake navigation", async move {
            let Some(page) = itself.upgrade() else { return };
            let outcome = page.load(parsed, &loader, adds_entry).await;
            aborted.disarm();
            let _ = committed.send(outcome);
        });
        self.state().loading = Some(task);
        Ok(shown)
    }

    async fn load(
        &self,
        url: Url,
        loader: &LoaderId,
        adds_entry: bool,
    ) -> Result<Option<LoaderId>> {
        let asked = url.to_string();
        let outgoing = Outgoing {
            method: "GET".to_owned(),
            url,
            headers: Vec::new(),
            body: Vec::new(),
            resource_type: "document",
            loader: loader.clone(),
        };
        let aborted = |reason| PageEvent::NavigationAborted {
            frame: self.frame(),
            loader: Some(loader.clone()),
            reason,
        };
        match self.request(outgoing).await {
            Err(reason) => {
                self.report(aborted(Some(reason.clone())));
                self.commit(
                    "chrome-error://chromewebdata/",
                    Some(asked.clone()),
                    String::new(),
                );
                Err(navigation_failed(&asked, reason))
            }
            Ok((fetched, _)) if matches!(fetched.status, 204 | 205) => {
                self.report(aborted(None));
                Ok(None)
            }
            Ok((fetched, url)) => {
                if adds_entry {
                    self.push(url.as_str());
                }
                let html = String::from_utf8_lossy(&fetched.body).into_owned();
                self.commit_as(loader, url.as_str(), None, html);
                self.report_status(&fetched, &url);
                Ok(Some(loader.clone()))
            }
        }
    }

    fn on_event(&self, facts: &Value, event: impl Fn(FrameId, LoaderId) -> PageEvent) {
        let loader = facts["loader"].as_str().unwrap_or_default();
        self.report(event(self.frame(), loader.into()));
    }
}

impl OpenPage for FakePage {
    fn id(&self) -> &PageId {
        &self.id
    }

    fn end(&self) {
        let (loading, dialog) = {
            let mut state = self.state();
            (state.loading.take(), state.dialog.take())
        };
        drop((loading, dialog));
        if let Some(document) = self.document.get() {
            document.terminate();
        }
        self.send(Message::End);
        self.report(PageEvent::Closed);
    }
}

impl Host for FakePage {
    fn on_parsed(&self, facts: &Value) {
        self.on_event(facts, |frame, loader| PageEvent::DomContentLoaded {
            frame,
            loader,
        });
    }

    fn on_loaded(&self, facts: &Value) {
        self.on_event(facts, |frame, loader| PageEvent::Load { frame, loader });
    }

    fn on_console(&self, message: &str) {
        let message: Value = serde_json::from_str(message).unwrap_or_default();
        let kind = message["kind"].as_str().unwrap_or_default();
        if let Ok(kind) = kind.parse() {
            self.report(PageEvent::Console(ConsoleMessage {
                kind,
                text: message["text"].as_str().unwrap_or_default().to_owned(),
                location: None,
            }));
        }
    }

    fn on_dialog(&self, kind: &str, message: String, default_value: String) -> String {
        let (answer, answered) = std::sync::mpsc::channel();
        self.state().dialog = Some(answer);
        self.report(PageEvent::DialogOpened {
            kind: match kind {
                "alert" => DialogKind::Alert,
                "confirm" => DialogKind::Confirm,
                _ => DialogKind::Prompt,
            },
            message,
            default_value,
        });
        let answer = answered.recv().unwrap_or_default();
        answer.to_string()
    }

    fn on_file_chooser(&self, multiple: bool) {
        self.report(PageEvent::FileChooserOpened { multiple });
    }

    fn on_navigation(&self, url: String) {
        let _ = self.begin(&url, true);
    }

    fn on_move(&self, url: String) {
        self.push(&url);
        let frame = self.frame();
        self.report(PageEvent::SameDocumentNavigation { frame, url });
    }

    fn on_popup(&self, url: String) {
        let Some(observer) = &self.observer else {
            return;
        };
        let _guard = self.runtime.as_ref().map(Handle::enter);
        let popup = Self::open(&self.context, observer, Some(self.id.clone()));
        if let Ok(popup) = popup {
            let _ = popup.begin(&url, true);
        }
    }

    fn on_cookie(&self, cookie: &str) -> String {
        let Ok(url) = Url::parse(&self.url()) else {
            return String::new();
        };
        let mut jar = self.context.jar();
        if !cookie.is_empty() {
            jar.set(&url, cookie);
        }
        jar.header(&url, true)
    }

    fn on_store(&self, area: &str, entries: &str) {
        let Ok(url) = Url::parse(&self.url()) else {
            return;
        };
        let origin = url.origin().ascii_serialization();
        let entries = serde_json::from_str(entries).unwrap_or_default();
        match area {
            "localStorage" => self.context.store(origin, entries),
            _ => drop(self.state().storage.insert(origin, entries)),
        }
    }

    fn on_sleep(&self, call: u32, ms: f64, inbox: Sender<Message>) {
        let _guard = self.runtime.as_ref().map(Handle::enter);
        spawn("fake timer", async move {
            tokio::time::sleep(Duration::from_secs_f64(ms / 1000.0)).await;
            let outcome = Ok(String::new());
            let _ = inbox.send(Message::Settle { call, outcome });
        })
        .detach();
    }

    fn on_fetch(&self, call: u32, request: &str, inbox: Sender<Message>) {
        let request: Value = serde_json::from_str(request).unwrap_or_default();
        let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        let Ok(url) = Url::parse(&text("url")) else {
            return;
        };
        let outgoing = Outgoing {
            method: text("method"),
            url,
            headers: serde_json::from_value(request["headers"].clone()).unwrap_or_default(),
            body: text("body").into_bytes(),
            resource_type: "fetch",
            loader: self.context.next_id("loader").into(),
        };
        let page = self.itself.clone();
        let _guard = self.runtime.as_ref().map(Handle::enter);
        spawn("fake fetch", async move {
            let Some(page) = page.upgrade() else { return };
            let outcome = page.request(outgoing).await;
            let outcome = outcome.map(|(fetched, url)| {
                page.report_status(&fetched, &url);
                let body = String::from_utf8_lossy(&fetched.body);
                json!({ "status": fetched.status, "url": url.as_str(), "headers": fetched.headers, "body": body })
                    .to_string()
            });
            let outcome = outcome.map_err(|_| "Failed to fetch".to_owned());
            let _ = inbox.send(Message::Settle { call, outcome });
        })
        .detach();
    }
}

/// Reports that a navigation was aborted when it is dropped.
struct NavigationGuard {
    page: Option<Weak<FakePage>>,
    loader: LoaderId,
}

impl NavigationGuard {
    fn disarm(&mut self) {
        self.page = None;
    }
}

impl Drop for NavigationGuard {
    fn drop(&mut self) {
        if let Some(page) = self.page.as_ref().and_then(Weak::upgrade) {
            page.report(PageEvent::NavigationAborted {
                frame: page.frame(),
                loader: Some(self.loader.clone()),
                reason: Some(NetError::Aborted),
            });
        }
    }
}
