//! The page: the handle of a tab, whose state its events change.

mod events;
mod external;
mod failures;
#[cfg(test)]
pub(crate) mod fake;
mod input_observer;
mod interception;
mod invisible;
mod model_context;
mod navigation;
mod observer;
mod own_requests;
mod passwords;
mod screencast;
mod script;
mod state;
mod unresponsive;
mod workers;

pub use events::{DialogHandlerGuard, Events};
pub use input_observer::InputObserver;
pub use interception::{Intercepted, Interceptor};
pub use invisible::{is_invisible, without_invisible};
pub use model_context::DocumentTool;
pub use navigation::{LoadGuard, LoadState, NavigationOutcome};
pub use passwords::{PasswordMasks, password_dots};
pub use screencast::Screencast;
pub use script::is_function;
pub(crate) use state::PageState;
pub use state::{Dialog, FileChooser};

use crate::backend::{
    ContextOptions, FrameId, Headers, InputStep, MediaFeatures, PageBackend, PageId, PageObserver,
    PageTimeouts, PdfOptions, RequestId, Screenshot, Viewport,
};
use crate::console::{ConsoleCounts, ConsoleEntry};
use crate::egress::Egress;
use crate::error::{Error, Result};
use crate::frame::FrameFacts;
use crate::network::{Request, StreamMessages};
use crate::origins::OriginRules;
use crate::progress::Progress;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use task::read_json;
use tokio::sync::{mpsc, watch};

/// The functions of the injected script that read the page.
const READ_ONLY_FUNCTIONS: &[&str] = &[
    "snapshot", "title", "titled", "overview", "read", "texts", "describe", "content", "links",
    "table", "audit",
];

/// A tab or popup. Cheap to clone; all clones are handles of one page.
#[derive(Clone)]
pub struct Page {
    pub(crate) backend: Arc<dyn PageBackend>,
    shared: Arc<Shared>,
}

/// The state of a page, which the event task writes and all others read.
pub(crate) struct Shared {
    state: Mutex<PageState>,
    changes: watch::Sender<u64>,
    /// The origins that the page may request.
    origins: OriginRules,
    /// The egress proxy of the page's connections, if there is one.
    egress: Option<Arc<Egress>>,
    timeouts: PageTimeouts,
    group: Arc<Group>,
}

/// The pages that opened each other. In Chromium and WebKit, those of one site have one process, which a dialog of any of them pauses.
#[derive(Default)]
struct Group {
    /// The number of pages with an open dialog.
    dialogs: watch::Sender<usize>,
}

impl Group {
    /// Changes the state of a page of the group, and counts its dialog.
    fn counting(&self, state: &mut PageState, change: impl FnOnce(&mut PageState)) {
        let had_dialog = state.has_dialog();
        change(state);
        match (had_dialog, state.has_dialog()) {
            (false, true) => self.dialogs.send_modify(|open| *open += 1),
            (true, false) => self.dialogs.send_modify(|open| *open -= 1),
            _ => {}
        }
    }
}

/// How long a page may take to respond while another page of its group has a dialog.
const PAUSED_BY_GROUP: Duration = Duration::from_millis(500);

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Page").field(self.id()).finish()
    }
}

impl PartialEq for Page {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Page {
    /// A page over any backend. The backend must be given the page's observer, to report events to it.
    pub fn over(
        backend: Arc<dyn PageBackend>,
        opener: Option<&Self>,
        options: &ContextOptions,
    ) -> Self {
        Self::with_egress(backend, opener, options, None)
    }

    /// A page over any backend, in a context whose connections pass through an egress proxy.
    pub(crate) fn with_egress(
        backend: Arc<dyn PageBackend>,
        opener: Option<&Self>,
        options: &ContextOptions,
        egress: Option<Arc<Egress>>,
    ) -> Self {
        let group = opener.as_ref().map(|page| page.shared.group.clone());
        let opener = opener.map(|page| page.id().clone());
        let state = PageState::new(backend.main_frame(), opener, options);
        Self {
            backend,
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                changes: watch::Sender::new(0),
                origins: options.origins.clone(),
                egress,
                timeouts: options.timeouts,
                group: group.unwrap_or_default(),
            }),
        }
    }

    /// The observer to which the backend reports the page's events.
    pub fn observer(&self) -> Arc<dyn PageObserver> {
        self.shared.clone()
    }

    /// Sets the prefix of refs in answers from now on. Targets are given without it.
    pub fn set_ref_prefix(&self, prefix: &str) {
        self.state().ref_prefix = prefix.into();
    }

    /// From now on, `[hidden-text]` precedes text that users cannot see wherever the page is read, and invisible characters are removed.
    pub fn mark_hidden_text(&self) {
        self.state().marks_hidden = true;
    }

    /// The prefix of the refs of a frame.
    pub(crate) fn prefix_of(&self, frame: &FrameId) -> String {
        let state = self.state();
        let frame = state.frames.get(frame);
        let frame = frame.map(crate::frame::Frame::prefix).unwrap_or_default();
        format!("{}{frame}", state.ref_prefix)
    }

    /// Returns the prefix of the refs of the main document, such as `f1`; that of the first one is empty.
    pub fn ref_prefix(&self) -> String {
        self.prefix_of(&self.main_frame())
    }

    /// The page's name, unique in its browser.
    pub fn id(&self) -> &PageId {
        self.backend.id()
    }

    /// The page as its browser's protocol drives it, below all waiting and retrying.
    pub fn backend(&self) -> &Arc<dyn PageBackend> {
        &self.backend
    }

    /// The frames of the page, the main frame first, each before those inside it.
    pub fn frames(&self) -> Vec<FrameFacts> {
        self.state().frames.facts()
    }

    /// The page that this one was opened from, whether or not its scripts can reach it.
    pub fn opener(&self) -> Option<PageId> {
        self.state().opener.clone()
    }

    /// Records a page that a script of this one opened.
    pub(crate) fn record_popup(&self, popup: Page) {
        {
            let mut state = self.state();
            state.popups.retain(|popup| !popup.is_closed());
            state.popups.push(popup);
            state.popups_opened += 1;
        }
        self.shared.changes.send_modify(|count| *count += 1);
    }

    /// Records that this page tried to open more pages than allowed.
    pub(crate) fn record_refused_popup(&self) {
        self.state().opens_without_end = true;
    }

    /// The URL that the address bar would show.
    pub fn url(&self) -> String {
        let state = self.state();
        match state.frames.main().url.as_str() {
            "" => "about:blank".to_owned(),
            url => url.to_owned(),
        }
    }

    /// The document's title; empty when it has none or is being replaced.
    pub async fn title(&self, progress: &Progress) -> Result<String> {
        let main = self.main_frame();
        progress.run(self.call(&main, "title", &Value::Null)).await
    }

    /// HTTP status and reason phrase of the document that is shown; `None` if it was not loaded over HTTP.
    pub fn status(&self) -> Option<(u16, String)> {
        let state = self.state();
        let loader = state.frames.main().loader.clone()?;
        let response = state
            .requests
            .document(state.frames.main_id(), &loader)?
            .response
            .as_ref()?;
        Some((response.status, response.status_text.clone()))
    }

    /// The open dialog.
    pub fn dialog(&self) -> Option<Dialog> {
        self.state().dialog.clone()
    }

    /// The open file chooser.
    pub fn file_chooser(&self) -> Option<FileChooser> {
        self.state().file_chooser
    }

    /// Whether the renderer crashed; the page can only be closed.
    pub fn is_crashed(&self) -> bool {
        self.state().crashed
    }

    /// Whether the page is closed.
    pub fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Console messages numbered `number` and later, oldest first, of every document the page showed.
    pub fn console(&self, number: u64) -> Vec<ConsoleEntry> {
        self.state().console.since(number)
    }

    /// The numbers of console messages of the document that is shown.
    pub fn console_counts(&self) -> ConsoleCounts {
        self.state().console.counts()
    }

    /// The numbers of console messages of all documents that the page showed.
    pub fn all_console_counts(&self) -> ConsoleCounts {
        self.state().console.all_counts()
    }

    /// The requests of the document that is shown, in the order they were sent.
    pub fn requests(&self) -> Vec<Request> {
        self.state().requests.all().to_vec()
    }

    /// The number of responses to the page, of all documents that it showed.
    pub fn response_count(&self) -> u64 {
        self.state().requests.responses()
    }

    /// The number of requests of the page, of all documents that it showed.
    pub fn request_count(&self) -> u64 {
        self.state().requests.started()
    }

    /// The requests that were sent after so many others, also of the last documents.
    pub fn sent_since(&self, requests: u64) -> Vec<Request> {
        let state = self.state();
        state.requests.sent_since(requests).cloned().collect()
    }

    /// Sends each request that ends from now on to a recorder. Returns those of the document that ended before, if they are wanted.
    pub(crate) fn add_recorder(
        &self,
        recorder: mpsc::Sender<(PageId, Request)>,
        include_earlier: bool,
    ) -> Vec<Request> {
        let mut state = self.state();
        state.requests.add_recorder(self.id().clone(), recorder);
        match include_earlier {
            true => state.requests.ended(),
            false => Vec::new(),
        }
    }

    /// The newest version of a request, also of the last documents.
    pub fn latest(&self, request: &Request) -> Option<Request> {
        self.state().requests.latest(request).cloned()
    }

    /// The frames of a WebSocket or the events of an event source of the document that is shown.
    pub fn stream_messages(&self, request: &RequestId) -> StreamMessages {
        self.state().requests.messages(request)
    }

    /// The requests whose response came after so many others, also of the last documents.
    pub fn responded_since(&self, responses: u64) -> Vec<Request> {
        let state = self.state();
        state.requests.responded_since(responses).cloned().collect()
    }

    /// One request by its number.
    pub fn request(&self, number: u64) -> Option<Request> {
        self.state().requests.get(number).cloned()
    }

    /// The body of a response.
    pub async fn response_body(&self, progress: &Progress, request: &RequestId) -> Result<Vec<u8>> {
        progress.run(self.backend.response_body(request)).await
    }

    /// The body of a request, `None` without one.
    pub async fn request_body(
        &self,
        progress: &Progress,
        request: &RequestId,
    ) -> Result<Option<Vec<u8>>> {
        progress.run(self.backend.request_body(request)).await
    }

    /// Runs an expression in the page's own world; a function is called, a promise awaited. `None` for `undefined`.
    pub async fn evaluate(&self, progress: &Progress, expression: &str) -> Result<Option<Value>> {
        let main = self.main_frame();
        self.evaluate_in(progress, &main, expression).await
    }

    /// Runs an expression in the page's own world, in one of its frames.
    pub async fn evaluate_in(
        &self,
        progress: &Progress,
        frame: &FrameId,
        expression: &str,
    ) -> Result<Option<Value>> {
        progress.run(self.run_script(frame, expression, None)).await
    }

    /// Takes a screenshot of the page.
    pub async fn screenshot(&self, progress: &Progress, options: &Screenshot) -> Result<Vec<u8>> {
        let screenshot = || self.backend.screenshot(options);
        progress.run(self.retry_on_new_document(screenshot)).await
    }

    /// Prints the page as PDF.
    pub async fn pdf(&self, progress: &Progress, options: &PdfOptions) -> Result<Vec<u8>> {
        let print = || self.backend.pdf(options);
        progress.run(self.retry_on_new_document(print)).await
    }

    /// Changes the size of the viewport.
    pub async fn resize(&self, progress: &Progress, width: u32, height: u32) -> Result<()> {
        let mut viewport = Viewport::desktop(width, height);
        if let Some(current) = &self.state().viewport {
            viewport = Viewport {
                size: viewport.size,
                screen: None,
                ..current.clone()
            };
        }
        self.set_viewport(progress, Some(&viewport)).await
    }

    /// Sets the viewport; `None`: that of the window.
    pub(crate) async fn set_viewport(
        &self,
        progress: &Progress,
        viewport: Option<&Viewport>,
    ) -> Result<()> {
        match viewport {
            Some(viewport) => progress.run(self.backend.set_viewport(viewport)).await?,
            None => progress.run(self.backend.clear_viewport()).await?,
        }
        self.state().viewport = viewport.cloned();
        Ok(())
    }

    /// The viewport; `None` where it is the window's own.
    pub fn viewport(&self) -> Option<Viewport> {
        self.state().viewport.clone()
    }

    /// The media features that are emulated now.
    pub fn media(&self) -> MediaFeatures {
        self.state().media.clone()
    }

    /// Emulates these media features instead of those emulated now.
    pub async fn emulate_media(&self, progress: &Progress, features: MediaFeatures) -> Result<()> {
        progress.run(self.backend.emulate_media(&features)).await?;
        self.state().media = features;
        Ok(())
    }

    /// Answers the open dialog; without `prompt_text` a prompt gets the empty text. Fails with `Protocol` when none is open.
    pub async fn answer_dialog(
        &self,
        progress: &Progress,
        accept: bool,
        prompt_text: Option<&str>,
    ) -> Result<()> {
        let answered = self.state().dialogs;
        progress
            .run(self.backend.answer_dialog(accept, prompt_text))
            .await?;
        self.shared.group.counting(&mut self.state(), |state| {
            // The next one may be open already.
            if state.dialogs == answered {
                state.dialog = None;
            }
        });
        Ok(())
    }

    /// Adds a script that runs in each new document of the page before the document's own scripts.
    pub async fn add_init_script(&self, progress: &Progress, source: &str) -> Result<()> {
        progress.run(self.backend.add_init_script(source)).await
    }

    /// Sets headers of all further requests of the page, which replace those of its context.
    pub async fn set_extra_headers(&self, progress: &Progress, headers: &Headers) -> Result<()> {
        progress.run(self.backend.set_extra_headers(headers)).await
    }

    /// Brings the page to the front of its window.
    pub async fn activate(&self, progress: &Progress) -> Result<()> {
        progress.run(self.backend.activate()).await
    }

    /// Closes the page and waits until it is closed.
    pub async fn close(&self, progress: &Progress) -> Result<()> {
        progress
            .run(async {
                if self.is_closed() {
                    return Ok(());
                }
                match self.backend.close().await {
                    Ok(()) | Err(Error::PageClosed {} | Error::BrowserClosed { .. }) => {}
                    Err(error) => return Err(error),
                }
                self.wait(|state| state.closed).await;
                Ok(())
            })
            .await
    }

    /// A counter that increases with each change of the page's state.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    pub(crate) fn main_frame(&self) -> FrameId {
        self.state().frames.main_id().clone()
    }

    /// Sends trusted input unless a dialog holds the page.
    pub(crate) async fn input(&self, steps: &[InputStep]) -> Result<()> {
        self.alive()?;
        self.announce_input(steps).await;
        self.unless_interrupted(self.backend.input(steps)).await
    }

    /// Calls a function of the injected script in a frame.
    pub(crate) async fn call<T: DeserializeOwned + Send + 'static>(
        &self,
        frame: &FrameId,
        function: &str,
        argument: &Value,
    ) -> Result<T> {
        self.alive()?;
        let (masks, marks) = {
            let state = self.state();
            (
                state.passwords.clone(),
                state.marks_hidden && READ_ONLY_FUNCTIONS.contains(&function),
            )
        };
        let mut argument = Cow::Borrowed(argument);
        if marks {
            argument.to_mut()["marks"] = true.into();
        }
        let asked = self.backend.call(frame, function, &argument);
        let mut answer =
            passwords::mask_values(self.unless_interrupted(asked).await?, masks.as_ref());
        if marks {
            answer = without_invisible(answer, r"\\");
        }
        read_json(answer)
            .await
            .map_err(|error| Error::protocol(function, error))
    }

    /// The page's state. The guard must not be held across an `.await`.
    pub(crate) fn state(&self) -> MutexGuard<'_, PageState> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `condition` holds; fails when the page crashes or is closed.
    pub(crate) async fn until(
        &self,
        mut condition: impl FnMut(&PageState) -> bool + Send,
    ) -> Result<()> {
        let mut verdict = Ok(());
        self.wait(|state| {
            if condition(state) {
                return true;
            }
            verdict = state.alive();
            verdict.is_err()
        })
        .await;
        verdict
    }

    async fn wait(&self, mut condition: impl FnMut(&PageState) -> bool + Send) {
        let mut changes = self.shared.changes.subscribe();
        loop {
            changes.mark_unchanged();
            if condition(&self.state()) {
                return;
            }
            // The sender lives in `self.shared`, so this cannot fail.
            let _ = changes.changed().await;
        }
    }

    /// Runs work that needs the renderer; fails when a dialog opens, here or in another page that pauses this one, or the page crashes or is
    /// closed.
    pub(crate) async fn unless_interrupted<T>(
        &self,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        tokio::select! {
            biased;
            result = work => result,
            () = self.wait(|state| state.is_blocked_by_dialog() || state.alive().is_err()) => {
                Err(self.alive().err().unwrap_or(Error::DialogOpen {}))
            }
            () = self.paused_by_group() => Err(Error::DialogOpen {}),
        }
    }

    /// Returns when a dialog of another page of the group has been open for so long that it pauses this page, too.
    async fn paused_by_group(&self) {
        let mut dialogs = self.shared.group.dialogs.subscribe();
        let is_other = |open: &usize| *open > usize::from(self.state().has_dialog());
        loop {
            // The sender lives as long as the page.
            let _ = dialogs.wait_for(is_other).await;
            let over = dialogs.wait_for(|open| !is_other(open));
            if tokio::time::timeout(PAUSED_BY_GROUP, over).await.is_err() {
                return;
            }
        }
    }

    /// Repeats a command when the document is replaced meanwhile: a command to the last one may never be answered.
    async fn retry_on_new_document<T, F>(&self, ask: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        loop {
            let shown = self.state().frames.main().commits;
            tokio::select! {
                biased;
                answer = ask() => return answer,
                replaced = self.until(|state| state.frames.main().commits != shown) => replaced?,
            }
        }
    }

    pub(crate) fn alive(&self) -> Result<()> {
        self.state().alive()
    }
}
