//! A tab of a session: the page, its last reported state, and its console log.

use super::changes::{Comparison, KnownSize, LastSnapshot};
use super::console_file::ConsoleFile;
use super::document_tools::{DocumentTools, ListedTool};
use super::init_pages::Initialization;
use crate::answers::reply::{Event, Modal, PageFacts};
use crate::calls::Call;
use crate::config::{AnswerStyle, Capability, Settings};
use crate::error::Result;
use crate::files::Output;
use engine::{
    Layout, LoadState, LoaderId, NavigationOutcome, NetError, Overview, Page, Progress, Snapshot,
    SnapshotOptions,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use task::Task;

/// How many dialogs of the page are dismissed before a navigation fails.
const MAX_DIALOG_ATTEMPTS: u32 = 5;

/// How long a page may take to return its title; after that, answers show the last known one of its document.
pub(crate) const TITLE_TIMEOUT: Duration = Duration::from_millis(500);

/// How often the title is read if the document is replaced meanwhile.
const MAX_TITLE_ATTEMPTS: u32 = 3;

/// A tab.
pub(crate) struct Tab {
    /// The page.
    pub(crate) page: Page,
    /// The name of its context, unless it is the default one.
    pub(crate) context: Option<String>,
    /// The time at which it was opened.
    pub(crate) opened: SystemTime,
    last_reported: Mutex<ReportedState>,
    /// The last known title, and its document.
    title: Mutex<(Option<LoaderId>, String)>,
    console: Arc<Mutex<ConsoleFile>>,
    init: Option<Initialization>,
    /// Whether the crash was reported to a program.
    crash_reported: AtomicBool,
    /// Whether the client was informed of the tab.
    known: AtomicBool,
    /// The number of responses that the page had received when the last action started.
    responses: AtomicU64,
    /// The number of requests that the page had sent when the last action started.
    requests: AtomicU64,
    /// The document whose snapshot was in an answer last.
    shown: Mutex<Option<LoaderId>>,
    last_snapshot: LastSnapshot,
    /// What was read of the document since the last answer.
    read: Mutex<Option<ReadDocument>>,
    /// What an action has read for its answer.
    peeked: Mutex<Option<Peeked>>,
    document_tools: DocumentTools,
    _watch: Task,
}

/// What an action has read for its answer, and the state of the page before that.
struct Peeked {
    state: (Option<LoaderId>, u64, String),
    content: PeekedContent,
}

enum PeekedContent {
    Snapshot(Snapshot),
    Overview(Overview),
}

/// The state of a document that was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadDocument {
    is_empty: bool,
    is_busy: bool,
}

impl ReadDocument {
    /// Returns what an answer says of the document.
    pub(super) fn event(self) -> Option<Event> {
        match self {
            Self { is_busy: true, .. } => Some(Event::BusyPage {}),
            Self { is_empty: true, .. } => Some(Event::EmptyPage {}),
            _ => None,
        }
    }
}

/// Delays writing console messages until it is dropped.
pub(crate) struct ConsoleGuard {
    page: Page,
    console: Arc<Mutex<ConsoleFile>>,
}

impl Drop for ConsoleGuard {
    fn drop(&mut self) {
        let console = self.console.lock();
        let mut console = console.unwrap_or_else(PoisonError::into_inner);
        console.release(&self.page);
    }
}

/// The state of a tab that was reported last.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReportedState {
    facts: PageFacts,
    current: bool,
}

impl Tab {
    pub(super) fn new(
        page: Page,
        output: Output,
        settings: &Settings,
        init: Option<Initialization>,
    ) -> Self {
        let context = &settings.context.name;
        // Without the tools for contexts, refs are those of the current tab.
        let has_contexts = settings.tools.capabilities.contains(&Capability::Contexts);
        if let Some(name) = context.as_ref().filter(|_| has_contexts) {
            page.set_ref_prefix(&format!("{name}:"));
        }
        page.set_test_id_attribute(&settings.answers.test_id_attribute);
        let secrets = settings.secrets.clone();
        page.set_password_masks(Arc::new(move |typed, shown| {
            secrets.mask_typed(typed);
            secrets.mask_passwords(shown)
        }));
        if settings.answers.content_boundaries {
            page.mark_hidden_text();
        }
        let console = Arc::new(Mutex::new(ConsoleFile::new(
            output,
            settings.answers.console_level,
            settings.answers.style == AnswerStyle::Compact,
        )));
        let watch = task::spawn("console log", log_console(page.clone(), console.clone()));
        let reported = ReportedState {
            facts: PageFacts {
                url: "about:blank".to_owned(),
                ..PageFacts::default()
            },
            current: false,
        };
        Self {
            page,
            context: context.clone(),
            opened: SystemTime::now(),
            last_reported: Mutex::new(reported),
            title: Mutex::default(),
            console,
            init,
            crash_reported: AtomicBool::new(false),
            known: AtomicBool::new(false),
            responses: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            shown: Mutex::default(),
            last_snapshot: LastSnapshot::default(),
            read: Mutex::new(None),
            peeked: Mutex::new(None),
            document_tools: DocumentTools::default(),
            _watch: watch,
        }
    }

    /// Waits until the init pages have run for the tab.
    pub(crate) async fn initialized(&self) -> Result<()> {
        match &self.init {
            Some(init) => init.done().await,
            None => Ok(()),
        }
    }

    /// Returns the current state of the tab; reads its title from the page.
    pub(crate) async fn facts(&self, progress: &Progress) -> PageFacts {
        // A document that is replaced meanwhile is read again.
        for _ in 0..MAX_TITLE_ATTEMPTS {
            if self.is_silent() {
                break;
            }
            let document = self.document_id();
            let Ok(title) = self.page.title(progress).await else {
                break;
            };
            if self.record_title(document, title) {
                break;
            }
        }
        self.known_facts()
    }

    /// Records the title that was read from the page, if it still shows the document; returns whether it does.
    fn record_title(&self, document: Option<LoaderId>, title: String) -> bool {
        let is_current = self.document_id() == document;
        if is_current {
            *self.title() = (document, title);
        }
        is_current
    }

    /// Returns whether a title of the current document is known.
    pub(super) fn knows_title(&self) -> bool {
        self.title().0 == self.document_id()
    }

    /// Returns the current state of the tab, with the last known title of its document.
    pub(crate) fn known_facts(&self) -> PageFacts {
        let page = &self.page;
        // The document is compared after the URL is read: a title is never shown with the URL of another document.
        let url = page.url();
        let (document, title) = self.title().clone();
        let is_current = document == self.document_id() && !self.is_silent();
        PageFacts {
            url,
            title: if is_current { title } else { String::new() },
            crashed: page.is_crashed(),
            status: page.status(),
            console: page.console_counts(),
            context: self.context.clone(),
            document_tools: self.document_tools().len(),
        }
    }

    /// Returns whether the title cannot be read: the page has a modal state, or crashed.
    fn is_silent(&self) -> bool {
        !self.modals().is_empty() || self.page.is_crashed()
    }

    /// Records the reported state; returns whether it changed.
    pub(crate) fn set_reported(&self, facts: PageFacts, current: bool) -> bool {
        let mut reported = self.last_reported();
        let now = ReportedState { facts, current };
        let news = *reported != now;
        *reported = now;
        self.set_known();
        news
    }

    /// Returns whether an answer contains a snapshot of the current document.
    pub(super) fn is_shown(&self) -> bool {
        *self.shown() == self.document_id()
    }

    /// Records that an answer contains a snapshot of the current document.
    pub(super) fn set_shown(&self) {
        *self.shown() = self.document_id();
    }

    fn shown(&self) -> MutexGuard<'_, Option<LoaderId>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a snapshot; at the same time asks the documents for their WebMCP tools.
    pub(crate) async fn snapshot(
        &self,
        call: &Call,
        options: &SnapshotOptions<'_>,
    ) -> engine::Result<Snapshot> {
        let progress = call.reading();
        let taken = self.snapshot_if_quiet(call, &progress, options, None);
        taken.await?.ok_or(engine::Error::DocumentGone {})
    }

    /// Takes the snapshot after an action, which may have left a page that does not respond: only a page that is known to be large has more
    /// time than the action.
    pub(super) async fn snapshot_after_action(
        &self,
        call: &Call,
        options: &SnapshotOptions<'_>,
    ) -> engine::Result<Snapshot> {
        let progress = match self.known_size() {
            KnownSize::Large => call.reading(),
            KnownSize::Unknown | KnownSize::Small => call.action(),
        };
        let taken = self.snapshot_if_quiet(call, &progress, options, None);
        taken.await?.ok_or(engine::Error::DocumentGone {})
    }

    /// Takes a snapshot; with `causes` none if something that input caused runs within that time.
    async fn snapshot_if_quiet(
        &self,
        call: &Call,
        progress: &Progress,
        options: &SnapshotOptions<'_>,
        causes: Option<Duration>,
    ) -> engine::Result<Option<Snapshot>> {
        let document = self.document_id();
        let (snapshot, ()) = tokio::join!(
            self.page.snapshot_if_quiet(progress, options, causes),
            self.list_document_tools(call)
        );
        let Some(mut snapshot) = snapshot? else {
            return Ok(None);
        };
        if let Some(title) = &snapshot.title {
            self.record_title(document, title.clone());
            *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some(ReadDocument {
                is_empty: snapshot.text.is_empty(),
                is_busy: snapshot.is_busy || self.page.is_loading_scripts(),
            });
        }
        if options.layout == Layout::Full {
            let heading = self.document_tools.heading();
            snapshot.text.insert_str(0, &heading);
            if let Some(outline) = &mut snapshot.outline {
                outline.insert_str(0, &heading);
            }
        }
        Ok(Some(snapshot))
    }

    /// Reads what the answer to an action shows. Returns whether something that input caused has not run yet; then nothing is read. This
    /// takes no longer than reading it for the answer.
    pub(crate) async fn peek(&self, call: &Call, causes: Duration) -> bool {
        let answers = &call.settings.answers;
        let state = self.page_state();
        let content = if answers.changes
            && !call.tool.answers_with_object()
            && self.known_size() == KnownSize::Small
        {
            let options = answers.snapshot_options();
            let taken = self
                .snapshot_if_quiet(call, &call.action(), &options, Some(causes))
                .await;
            taken.map(|taken| taken.map(PeekedContent::Snapshot))
        } else {
            let transients = answers.changes && !call.tool.answers_with_object() && !call.is_step();
            let progress = call.within(TITLE_TIMEOUT);
            let read = self
                .page
                .overview(&progress, transients, Some(causes))
                .await;
            read.map(|read| read.map(PeekedContent::Overview))
        };
        // The document is being replaced, which is waited for, or does not respond.
        let Ok(content) = content else {
            return false;
        };
        let is_pending = content.is_none();
        if let Some(PeekedContent::Overview(overview)) = &content {
            self.record_title(state.0.clone(), overview.title.clone());
        }
        let peeked = content.map(|content| Peeked { state, content });
        *self.peeked.lock().unwrap_or_else(PoisonError::into_inner) = peeked;
        is_pending
    }

    /// Takes the snapshot for the changes of the page, unless the action took it.
    pub(super) async fn snapshot_for_changes(&self, call: &Call) -> engine::Result<Snapshot> {
        match self.take_peeked() {
            Some(PeekedContent::Snapshot(snapshot)) => Ok(snapshot),
            _ => {
                let options = call.settings.answers.snapshot_options();
                self.snapshot_after_action(call, &options).await
            }
        }
    }

    /// Reads what an answer without a snapshot shows, unless the action did.
    pub(super) async fn overview(&self, progress: &Progress, transients: bool) -> Option<Overview> {
        match self.take_peeked() {
            Some(PeekedContent::Overview(overview)) => Some(overview),
            _ if self.is_silent() => None,
            _ => {
                let document = self.document_id();
                let read = self.page.overview(progress, transients, None).await;
                let read = read.ok().flatten()?;
                self.record_title(document, read.title.clone());
                Some(read)
            }
        }
    }

    /// Returns what an action has read, if the page has done nothing since.
    fn take_peeked(&self) -> Option<PeekedContent> {
        let mut peeked = self.peeked.lock().unwrap_or_else(PoisonError::into_inner);
        let peeked = peeked.take();
        let state = self.page_state();
        peeked
            .filter(|peeked| peeked.state == state)
            .map(|peeked| peeked.content)
    }

    /// Returns what tells whether the page has done something that an answer shows.
    fn page_state(&self) -> (Option<LoaderId>, u64, String) {
        let page = &self.page;
        (self.document_id(), page.request_count(), page.url())
    }

    /// Returns what was read of the document since the last answer.
    pub(super) fn take_read(&self) -> Option<ReadDocument> {
        self.read
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Asks the documents for their WebMCP tools.
    pub(crate) async fn list_document_tools(&self, call: &Call) {
        let document = self.document_id();
        self.document_tools
            .refresh(call, &self.page, document)
            .await;
    }

    /// Returns the WebMCP tools that the documents listed last.
    pub(crate) fn document_tools(&self) -> Arc<Vec<ListedTool>> {
        self.document_tools.listed()
    }

    /// Compares a snapshot of the complete page with the last one, and keeps it in place of that. The steps of a batch keep none, because the
    /// answer of the batch lists all changes since before its first step.
    pub(crate) async fn compare(
        &self,
        call: &Call,
        snapshot: &Snapshot,
        max_tokens: usize,
    ) -> Comparison {
        let (last, document) = (&self.last_snapshot, self.document_id());
        last.compare(document, snapshot, !call.is_step(), max_tokens)
            .await
    }

    /// Returns what is known of the size of the current document.
    pub(super) fn known_size(&self) -> KnownSize {
        self.last_snapshot.known_size(&self.document_id())
    }

    /// Records that the client was informed of the tab; returns whether it was before.
    pub(crate) fn set_known(&self) -> bool {
        self.known.swap(true, Ordering::Relaxed)
    }

    /// Records the start of an action.
    pub(crate) fn on_action_started(&self) {
        let responses = self.page.response_count();
        self.responses.store(responses, Ordering::Relaxed);
        let requests = self.page.request_count();
        self.requests.store(requests, Ordering::Relaxed);
    }

    /// Returns the number of requests that the page had sent when the last action started.
    pub(crate) fn requests_before_action(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Returns the number of responses that the page had received when the last action started.
    pub(crate) fn responses_before_action(&self) -> u64 {
        self.responses.load(Ordering::Relaxed)
    }

    /// Returns the modal states.
    pub(crate) fn modals(&self) -> Vec<Modal> {
        let dialog = self.page.dialog().map(Modal::Dialog);
        let chooser = self.page.file_chooser().map(Modal::FileChooser);
        dialog.into_iter().chain(chooser).collect()
    }

    /// Returns the new lines of the console log since the last answer.
    pub(crate) async fn new_console_lines(&self, call: &Call) -> Option<Event> {
        let unreported = {
            let mut console = self.console();
            console.write(&self.page);
            console.unreported()
        };
        if !unreported.is_empty() {
            let mapped = self
                .page
                .with_sources(&call.action(), unreported.clone())
                .await;
            self.console().set_sources(&unreported, &mapped);
        }
        self.console().new_lines()
    }

    /// Delays writing console messages until the guard is dropped: the typed text may be a password, and the page may log it.
    pub(crate) fn hold_console(&self) -> ConsoleGuard {
        self.console().hold();
        ConsoleGuard {
            page: self.page.clone(),
            console: self.console.clone(),
        }
    }

    /// Starts a new console log, because the client navigates to another page.
    pub(crate) fn restart_console(&self) {
        self.console().restart(&self.page);
    }

    /// Dismisses the modal states, as a user does before a navigation.
    pub(crate) async fn dismiss_modals(&self, progress: &Progress) -> Result<()> {
        self.page.prepare_to_leave(progress).await?;
        if self.page.file_chooser().is_some() {
            self.page.answer_file_chooser(progress, None).await?;
        }
        Ok(())
    }

    /// Navigates to a URL, regardless of modal states, and waits for the load state `until`; `None` if the page opens a beforeunload
    /// dialog, which the client must handle.
    pub(crate) async fn go_to(
        &self,
        progress: &Progress,
        url: &str,
        until: LoadState,
    ) -> Result<Option<NavigationOutcome>> {
        self.restart_console();
        for _ in 0..MAX_DIALOG_ATTEMPTS {
            self.dismiss_modals(progress).await?;
            let shown = self.document();
            match self.page.goto(progress, url, until).await {
                // A script of the old page opened it.
                Err(engine::Error::DialogOpen {}) if self.page.has_script_dialog() => {}
                // The page navigated at the same moment, for example because it reloads itself repeatedly.
                Err(engine::Error::NavigationFailed {
                    reason: NetError::Aborted,
                    ..
                }) if self.document() != shown => {}
                Err(engine::Error::DialogOpen {}) => return Ok(None),
                landed => return Ok(landed.map(Some)?),
            }
        }
        // The page opens dialogs repeatedly, or navigates each time, and was not replaced.
        match self.page.has_script_dialog() {
            true => Err(self.page.end().into()),
            false => Err(engine::Error::DialogOpen {}.into()),
        }
    }

    /// Returns the current document, and whether a navigation is in progress.
    fn document(&self) -> Option<(Option<LoaderId>, bool)> {
        let main = self.page.frames().into_iter().next()?;
        Some((main.document, main.pending))
    }

    /// Returns the current document.
    fn document_id(&self) -> Option<LoaderId> {
        self.document()?.0
    }

    /// Returns whether the tab crashed and that was not reported.
    pub(super) fn is_crash_unreported(&self) -> bool {
        self.page.is_crashed() && !self.crash_reported.load(Ordering::Relaxed)
    }

    /// Records that the crash was reported.
    pub(crate) fn set_crash_reported(&self) {
        self.crash_reported.store(true, Ordering::Relaxed);
    }

    /// Records that this tab replaces a crashed one.
    pub(super) fn record_crash(&self) {
        self.console()
            .note("[ERROR] Page crashed and was reset to about:blank.");
    }

    fn title(&self) -> MutexGuard<'_, (Option<LoaderId>, String)> {
        self.title.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_reported(&self) -> MutexGuard<'_, ReportedState> {
        self.last_reported
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn console(&self) -> MutexGuard<'_, ConsoleFile> {
        self.console.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes console messages as they arrive.
async fn log_console(page: Page, console: Arc<Mutex<ConsoleFile>>) {
    let mut changes = page.changes();
    while !page.is_closed() {
        changes.mark_unchanged();
        console
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write(&page);
        if changes.changed().await.is_err() {
            return;
        }
    }
}
