//! A page: the handle that everything done in a tab hangs off, and the one place its events are written down.

mod events;
mod failures;
#[cfg(test)]
pub(crate) mod fake;
mod interception;
mod invisible;
mod navigation;
mod passwords;
mod unresponsive;

pub use events::{DialogHandlerGuard, Events};
pub use interception::{Intercepted, Interceptor};
pub use invisible::without_invisible;
pub use navigation::{LoadGuard, LoadState, NavigationOutcome};
pub use passwords::{PasswordMasks, password_dots};

use crate::backend::{
    ContextOptions, DialogKind, FrameId, Headers, InputStep, MediaFeatures, PageBackend, PageEvent,
    PageId, PageObserver, PageTimeouts, PausedRequest, PdfOptions, RequestId, Screenshot, Viewport,
};
use crate::console::{ConsoleCounts, ConsoleEntry, ConsoleLog};
use crate::egress::Egress;
use crate::error::{Error, Result};
use crate::frame::{FrameFacts, FrameTree};
use crate::input::Pressed;
use crate::network::{Request, RequestLog};
use crate::origins::OriginRules;
use crate::progress::Progress;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use task::read_json;
use tokio::sync::{mpsc, watch};

/// The functions of the injected code that tell what a page says.
const READ_ONLY_FUNCTIONS: &[&str] = &[
    "snapshot", "title", "titled", "read", "texts", "describe", "content", "links", "table",
];

/// A tab or popup. Cheap to clone; all clones speak of the same page.
#[derive(Clone)]
pub struct Page {
    pub(crate) backend: Arc<dyn PageBackend>,
    shared: Arc<Shared>,
}

/// What the event task writes and everyone else reads.
pub(crate) struct Shared {
    state: Mutex<PageState>,
    changes: watch::Sender<u64>,
    /// What it may request.
    origins: OriginRules,
    /// What its connections pass through, if they do.
    egress: Option<Arc<Egress>>,
    timeouts: PageTimeouts,
}

/// A page as the browser's events left it.
pub(crate) struct PageState {
    pub(crate) frames: FrameTree,
    pub(crate) requests: RequestLog,
    pub(crate) console: ConsoleLog,
    pub(crate) dialog: Option<Dialog>,
    /// How many dialogs there were.
    dialogs: u64,
    pub(crate) file_chooser: Option<FileChooser>,
    pub(crate) pressed: Pressed,
    pub(crate) viewport: Option<Viewport>,
    pub(crate) media: MediaFeatures,
    /// The attribute behind `getByTestId`.
    pub(crate) test_id: Arc<str>,
    /// What is shown instead of values of password fields.
    passwords: Option<PasswordMasks>,
    /// What a person cannot see is marked where the page is read.
    marks_hidden: bool,
    /// What all its refs begin with.
    pub(crate) ref_prefix: Arc<str>,
    crashed: bool,
    closed: bool,
    opener: Option<PageId>,
    /// Pages that scripts of this one opened, and how many there were in all.
    pub(crate) popups: Vec<Page>,
    pub(crate) popups_opened: u64,
    /// It has opened more of them than it may.
    opens_without_end: bool,
    /// How many owners answer every dialog, so that nothing else needs to mind them.
    attended: usize,
    /// Who hears of every event.
    taps: Vec<mpsc::Sender<PageEvent>>,
    deciders: interception::Interceptors,
    /// The last document that a rule refused: perhaps one that another URL redirects to.
    refused: Option<String>,
    /// How often the page asked for another page or a download.
    pub(crate) openings: u64,
}

/// An open dialog; the page waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// Alert, confirm, prompt or beforeunload.
    pub kind: DialogKind,
    /// What it says.
    pub message: String,
    /// What a prompt suggests.
    pub default_value: String,
}

/// An open file chooser; it waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileChooser {
    /// More than one file may be chosen.
    pub multiple: bool,
}

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
    /// A page over any backend. Give the page's observer to the backend, so that the page hears of its events.
    pub fn over(
        backend: Arc<dyn PageBackend>,
        opener: Option<PageId>,
        options: &ContextOptions,
    ) -> Self {
        Self::with_egress(backend, opener, options, None)
    }

    /// The same, of a context whose connections pass through an egress.
    pub(crate) fn with_egress(
        backend: Arc<dyn PageBackend>,
        opener: Option<PageId>,
        options: &ContextOptions,
        egress: Option<Arc<Egress>>,
    ) -> Self {
        let state = PageState {
            frames: FrameTree::new(backend.main_frame()),
            requests: RequestLog::default(),
            console: ConsoleLog::default(),
            dialog: None,
            dialogs: 0,
            file_chooser: None,
            pressed: Pressed::default(),
            viewport: options.viewport.clone(),
            media: options.media.clone(),
            test_id: "data-testid".into(),
            ref_prefix: "".into(),
            passwords: None,
            marks_hidden: false,
            crashed: false,
            closed: false,
            opener,
            popups: Vec::new(),
            popups_opened: 0,
            opens_without_end: false,
            attended: 0,
            taps: Vec::new(),
            deciders: interception::Interceptors::default(),
            refused: None,
            openings: 0,
        };
        Self {
            backend,
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                changes: watch::Sender::new(0),
                origins: options.origins.clone(),
                egress,
                timeouts: options.timeouts,
            }),
        }
    }

    /// Who hears the page's events.
    pub fn observer(&self) -> Arc<dyn PageObserver> {
        self.shared.clone()
    }

    /// From now on refs begin with this, wherever they are told. Targets are given without it.
    pub fn set_ref_prefix(&self, prefix: &str) {
        self.state().ref_prefix = prefix.into();
    }

    /// From now on what is read of the page has a mark, `[hidden-text]`, before text that a person cannot see, and no invisible characters.
    pub fn mark_hidden_text(&self) {
        self.state().marks_hidden = true;
    }

    /// What the refs of a frame begin with.
    pub(crate) fn prefix_of(&self, frame: &FrameId) -> String {
        let state = self.state();
        let frame = state.frames.get(frame);
        let frame = frame.map(crate::frame::Frame::prefix).unwrap_or_default();
        format!("{}{frame}", state.ref_prefix)
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

    /// Takes note that a script of this page opened another.
    pub(crate) fn record_popup(&self, popup: Page) {
        {
            let mut state = self.state();
            state.popups.retain(|popup| !popup.is_closed());
            state.popups.push(popup);
            state.popups_opened += 1;
        }
        self.shared.changes.send_modify(|count| *count += 1);
    }

    /// Takes note that this page wanted to open more pages than any may.
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

    /// HTTP status and reason of the document that is shown; `None` when it did not come over HTTP.
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

    /// The dialog that is open, if one is.
    pub fn dialog(&self) -> Option<Dialog> {
        self.state().dialog.clone()
    }

    /// The file chooser that is open, if one is.
    pub fn file_chooser(&self) -> Option<FileChooser> {
        self.state().file_chooser
    }

    /// The renderer crashed; only closing the page is left.
    pub fn is_crashed(&self) -> bool {
        self.state().crashed
    }

    /// The page is gone.
    pub fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Console messages numbered `number` and later, oldest first, of every document the page showed.
    pub fn console(&self, number: u64) -> Vec<ConsoleEntry> {
        self.state().console.since(number)
    }

    /// How many messages the document that is shown has made.
    pub fn console_counts(&self) -> ConsoleCounts {
        self.state().console.counts()
    }

    /// The requests of the document that is shown, in the order they were sent.
    pub fn requests(&self) -> Vec<Request> {
        self.state().requests.all().to_vec()
    }

    /// How many responses came to the page, of all documents that it showed.
    pub fn response_count(&self) -> u64 {
        self.state().requests.responses()
    }

    /// The requests of the document that is shown whose response came after so many others.
    pub fn responded_since(&self, responses: u64) -> Vec<Request> {
        let state = self.state();
        state.requests.responded_since(responses).cloned().collect()
    }

    /// One request by its number.
    pub fn request(&self, number: usize) -> Option<Request> {
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

    /// The same in one of the page's frames.
    pub async fn evaluate_in(
        &self,
        progress: &Progress,
        frame: &FrameId,
        expression: &str,
    ) -> Result<Option<Value>> {
        progress.run(self.run_script(frame, expression, None)).await
    }

    /// Draws the page.
    pub async fn screenshot(&self, progress: &Progress, options: &Screenshot) -> Result<Vec<u8>> {
        let draw = || self.backend.screenshot(options);
        progress.run(self.retry_on_new_document(draw)).await
    }

    /// Prints the page.
    pub async fn pdf(&self, progress: &Progress, options: &PdfOptions) -> Result<Vec<u8>> {
        let print = || self.backend.pdf(options);
        progress.run(self.retry_on_new_document(print)).await
    }

    /// Changes the size of the viewport, and only that.
    pub async fn resize(&self, progress: &Progress, width: u32, height: u32) -> Result<()> {
        let mut viewport = Viewport::desktop(width, height);
        if let Some(current) = &self.state().viewport {
            viewport = Viewport {
                size: viewport.size,
                screen: None,
                ..current.clone()
            };
        }
        progress.run(self.backend.set_viewport(&viewport)).await?;
        self.state().viewport = Some(viewport);
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
        let mut state = self.state();
        // The next one may be open already.
        if state.dialogs == answered {
            state.dialog = None;
        }
        Ok(())
    }

    /// A script that runs in each new document of the page before the document's own.
    pub async fn add_init_script(&self, progress: &Progress, source: &str) -> Result<()> {
        progress.run(self.backend.add_init_script(source)).await
    }

    /// Headers that go with every request of the page from now on, over those of its context.
    pub async fn set_extra_headers(&self, progress: &Progress, headers: &Headers) -> Result<()> {
        progress.run(self.backend.set_extra_headers(headers)).await
    }

    /// Brings the page to the front of its window.
    pub async fn activate(&self, progress: &Progress) -> Result<()> {
        progress.run(self.backend.activate()).await
    }

    /// Closes the page and waits until it is gone.
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

    /// Counts up whenever anything about the page changes.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    pub(crate) fn main_frame(&self) -> FrameId {
        self.state().frames.main_id().clone()
    }

    /// Sends trusted input unless a dialog holds the page.
    pub(crate) async fn input(&self, steps: &[InputStep]) -> Result<()> {
        self.alive()?;
        self.unless_interrupted(self.backend.input(steps)).await
    }

    /// Calls the injected code of a frame.
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

    /// The page's state; hold it for a moment only.
    pub(crate) fn state(&self) -> MutexGuard<'_, PageState> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `condition` holds, or the page cannot get there any more.
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

    /// Runs something that needs the renderer; a dialog, a crash or the page's end stops the waiting.
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
        }
    }

    /// Asks again when the document was replaced meanwhile: what was asked of the last one may stay without an answer.
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

impl PageState {
    /// A dialog is open, and nobody is there whose business it is to answer it.
    pub(crate) fn is_blocked_by_dialog(&self) -> bool {
        self.dialog.is_some() && self.attended == 0
    }

    fn alive(&self) -> Result<()> {
        if self.closed {
            Err(Error::PageClosed {})
        } else if self.crashed {
            Err(Error::PageCrashed {})
        } else {
            Ok(())
        }
    }

    fn apply(&mut self, event: PageEvent) {
        match event {
            PageEvent::FrameAttached { frame, parent } => self.frames.attach(frame, parent),
            PageEvent::FrameNamed { frame, name } => self.frames.set_name(&frame, name),
            PageEvent::FrameDetached { frame } => self.frames.detach(&frame),
            PageEvent::NavigationStarted { frame, loader, url } => {
                self.frames.start(&frame, loader, url);
            }
            PageEvent::NavigationCommitted {
                frame,
                loader,
                url,
                name,
                failed,
            } => {
                if self.frames.is_main(&frame) {
                    self.requests.on_navigated(&loader);
                    self.console.on_navigated();
                    self.dialog = None;
                    self.file_chooser = None;
                    self.opens_without_end = false;
                }
                self.frames.commit(&frame, loader, url, name, failed);
            }
            PageEvent::NavigationAborted {
                frame,
                loader,
                reason,
            } => self.frames.abort(&frame, loader, reason),
            PageEvent::SameDocumentNavigation { frame, url } => {
                self.frames.same_document(&frame, url)
            }
            PageEvent::DomContentLoaded { frame, loader } => {
                self.frames.set_parsed(&frame, &loader)
            }
            PageEvent::Load { frame, loader } => self.frames.set_loaded(&frame, &loader),
            PageEvent::Request(event) => self.requests.apply(event),
            PageEvent::Console(message) => self.console.add(message),
            PageEvent::DialogOpened {
                kind,
                message,
                default_value,
            } => {
                self.dialogs += 1;
                self.dialog = Some(Dialog {
                    kind,
                    message,
                    default_value,
                });
            }
            PageEvent::DialogClosed => self.dialog = None,
            PageEvent::FileChooserOpened { multiple } => {
                self.file_chooser = Some(FileChooser { multiple });
            }
            PageEvent::FileChooserClosed => self.file_chooser = None,
            PageEvent::OpeningRequested => self.openings += 1,
            PageEvent::Crashed => self.crashed = true,
            PageEvent::Closed => self.closed = true,
        }
    }
}

impl PageObserver for Shared {
    fn paused(&self, request: PausedRequest) -> bool {
        self.intercept_request(request)
    }

    fn event(&self, event: PageEvent) {
        let event = event.bounded();
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let event = self.with_reason(event, &mut state);
            let told = (!state.taps.is_empty()).then(|| event.clone());
            state.apply(event);
            if let Some(told) = told {
                // Who does not keep up hears no more, rather than something else than what happened.
                state.taps.retain(|tap| tap.try_send(told.clone()).is_ok());
            }
        }
        self.changes.send_modify(|count| *count += 1);
    }
}
