//! A tab as its session knows it: the page, what the last answer told of it, and its console log.

use super::console_file::ConsoleFile;
use super::init_pages::Initialization;
use crate::answers::reply::{Event, Modal, PageFacts};
use crate::config::Settings;
use crate::error::Result;
use crate::files::Output;
use engine::{LoadState, NavigationOutcome, Page, Progress};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use task::Task;

/// How often a page may come in between with a dialog when it is to be left.
const MAX_DIALOG_ATTEMPTS: u32 = 5;

/// The reason of a navigation that was given up for another one.
const ABORTED: &str = "net::ERR_ABORTED";

/// How long a page that does not tell its title may hold up an answer, which goes by the last one then.
pub(crate) const TITLE_TIMEOUT: Duration = Duration::from_millis(500);

/// A tab.
pub(crate) struct Tab {
    /// Its page.
    pub(crate) page: Page,
    /// When it was opened.
    pub(crate) opened: SystemTime,
    last_reported: Mutex<ReportedState>,
    console: Arc<Mutex<ConsoleFile>>,
    init: Option<Initialization>,
    /// A program was told that it crashed.
    crash_told: AtomicBool,
    /// The client knows that it is there.
    known: AtomicBool,
    /// How many responses its page had had when the last action began.
    responses: AtomicU64,
    _watch: Task,
}

/// Keeps console messages from being written down.
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

/// What the client knows of a tab.
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
        if let Some(name) = &settings.context.name {
            page.set_ref_prefix(&format!("{name}:"));
        }
        page.set_test_id_attribute(&settings.answers.test_id_attribute);
        let secrets = settings.secrets.clone();
        page.set_password_masks(Arc::new(move |values| secrets.mask_passwords(values)));
        if settings.answers.content_boundaries {
            page.mark_hidden_text();
        }
        let console = Arc::new(Mutex::new(ConsoleFile::new(
            output,
            settings.answers.console_level,
        )));
        let watch = task::spawn("console log", log_console(page.clone(), console.clone()));
        let told = ReportedState {
            facts: PageFacts {
                url: "about:blank".to_owned(),
                ..PageFacts::default()
            },
            current: false,
        };
        Self {
            page,
            opened: SystemTime::now(),
            last_reported: Mutex::new(told),
            console,
            init,
            crash_told: AtomicBool::new(false),
            known: AtomicBool::new(false),
            responses: AtomicU64::new(0),
            _watch: watch,
        }
    }

    /// Waits until the init pages have run for it.
    pub(crate) async fn initialized(&self) -> Result<()> {
        match &self.init {
            Some(init) => init.done().await,
            None => Ok(()),
        }
    }

    /// What an answer can tell of it now; its title has to be asked for.
    pub(crate) async fn facts(&self, progress: &Progress) -> PageFacts {
        if self.is_silent() {
            return self.facts_titled(String::new());
        }
        let title = self.page.title(progress).await;
        self.facts_titled(title.unwrap_or_else(|_| self.last_reported().facts.title.clone()))
    }

    /// The same of one whose title has just been read.
    pub(crate) fn facts_titled(&self, title: String) -> PageFacts {
        let page = &self.page;
        PageFacts {
            url: page.url(),
            // It may have crashed while it was asked.
            title: if self.is_silent() {
                String::new()
            } else {
                title
            },
            crashed: page.is_crashed(),
            status: page.status(),
            console: page.console_counts(),
        }
    }

    /// Whether it cannot be asked for its title: it waits for an answer itself, or crashed.
    fn is_silent(&self) -> bool {
        !self.modals().is_empty() || self.page.is_crashed()
    }

    /// Notes what the client is told; whether that is news.
    pub(crate) fn set_reported(&self, facts: PageFacts, current: bool) -> bool {
        let mut told = self.last_reported();
        let now = ReportedState { facts, current };
        let news = *told != now;
        *told = now;
        self.set_known();
        news
    }

    /// Notes that the client knows that it is there; whether it did before.
    pub(crate) fn set_known(&self) -> bool {
        self.known.swap(true, Ordering::Relaxed)
    }

    /// Notes that an action begins.
    pub(crate) fn on_action_started(&self) {
        let responses = self.page.response_count();
        self.responses.store(responses, Ordering::Relaxed);
    }

    /// How many responses its page had had when the last action began.
    pub(crate) fn responses_before_action(&self) -> u64 {
        self.responses.load(Ordering::Relaxed)
    }

    /// What waits for an answer.
    pub(crate) fn modals(&self) -> Vec<Modal> {
        let dialog = self.page.dialog().map(Modal::Dialog);
        let chooser = self.page.file_chooser().map(Modal::FileChooser);
        dialog.into_iter().chain(chooser).collect()
    }

    /// Lines that came to the console log since the last answer.
    pub(crate) fn new_console_lines(&self) -> Option<Event> {
        let mut console = self.console();
        console.write(&self.page);
        console.new_lines()
    }

    /// Writes no console message down until this is dropped: what is typed may turn out to be a password, and the page may log it.
    pub(crate) fn hold_console(&self) -> ConsoleGuard {
        self.console().hold();
        ConsoleGuard {
            page: self.page.clone(),
            console: self.console.clone(),
        }
    }

    /// Begins a new console log: the client goes to another page.
    pub(crate) fn restart_console(&self) {
        self.console().restart(&self.page);
    }

    /// Closes what waits for an answer, as a user does who goes elsewhere.
    pub(crate) async fn dismiss_modals(&self, progress: &Progress) -> Result<()> {
        self.page.prepare_to_leave(progress).await?;
        if self.page.file_chooser().is_some() {
            self.page.answer_file_chooser(progress, None).await?;
        }
        Ok(())
    }

    /// Goes to a URL, whatever is open here, and waits until it has come as far as `until`; `None` when the page asks whether to
    /// leave it, which is for the client to answer.
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
                // The last word of a script of the page that is left.
                Err(engine::Error::DialogOpen {}) if self.page.has_script_dialog() => {}
                // The page went elsewhere at the same moment, as one does that loads itself again and again.
                Err(engine::Error::NavigationFailed { reason, .. })
                    if reason == ABORTED && self.document() != shown => {}
                Err(engine::Error::DialogOpen {}) => return Ok(None),
                landed => return Ok(landed.map(Some)?),
            }
        }
        // The page opens one dialog after the other, or goes elsewhere each time, and is still there.
        Err(engine::Error::DialogOpen {}.into())
    }

    /// The document that is shown, and whether another one is on its way.
    fn document(&self) -> Option<(Option<engine::LoaderId>, bool)> {
        let main = self.page.frames().into_iter().next()?;
        Some((main.document, main.pending))
    }

    /// Whether it crashed, and no program knows yet.
    pub(super) fn is_crash_unreported(&self) -> bool {
        self.page.is_crashed() && !self.crash_told.load(Ordering::Relaxed)
    }

    /// From now on it is known that it crashed.
    pub(crate) fn set_crash_reported(&self) {
        self.crash_told.store(true, Ordering::Relaxed);
    }

    /// Writes down that this tab stands for one that crashed.
    pub(super) fn record_crash(&self) {
        self.console()
            .note("[ERROR] Page crashed and was reset to about:blank.");
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

/// Writes messages down as they come.
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
