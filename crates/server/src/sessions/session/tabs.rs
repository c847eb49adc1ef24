//! The tabs of a session in the order in which they were opened, and the current one.

use super::init_pages::InitPages;
use super::tab::Tab;
use crate::answers::reply::{Event, OpenedPage, PageFacts, TabFacts};
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::files::Output;
use crate::sessions::browsers::OpenContext;
use crate::sessions::downloads::Downloads;
use crate::sessions::observers::Observers;
use engine::{BrowserContext, Page, PageId, Progress};
use script::ScriptRegistry;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use task::Task;

/// The open tabs.
pub(crate) struct Tabs {
    open: OpenContext,
    shared: Arc<Shared>,
    /// The parameters of what is emulated beside the options of the session.
    emulated: Mutex<Map<String, Value>>,
    _watch: Task,
}

/// A tab and its state.
pub(crate) struct TabSummary {
    /// The tab.
    pub(crate) tab: Arc<Tab>,
    /// The state of its page.
    pub(crate) facts: PageFacts,
    /// Whether it is the current tab.
    pub(crate) current: bool,
}

impl TabSummary {
    /// Returns its entry in a list of tabs.
    pub(crate) fn listed(&self) -> TabFacts {
        TabFacts {
            title: self.facts.title.clone(),
            url: self.facts.url.clone(),
            current: self.current,
            crashed: self.facts.crashed,
            context: self.facts.context.clone(),
        }
    }
}

struct Shared {
    context: BrowserContext,
    output: Output,
    settings: Settings,
    state: Mutex<State>,
    downloads: Arc<Downloads>,
    init_pages: InitPages,
    observers: Arc<Observers>,
}

#[derive(Default)]
struct State {
    tabs: Vec<Arc<Tab>>,
    current: Option<PageId>,
    /// The URLs of all tabs at the last update.
    seen: Vec<String>,
    /// The reported number of refused tabs.
    reported_refused: u64,
    /// Whether a call has used the tabs.
    used: bool,
    /// The URL of a current tab that closed, which no answer has reported yet.
    closed: Option<String>,
}

impl Tabs {
    /// Follows the tabs of a context as they open and close.
    pub(crate) fn over(
        open: OpenContext,
        output: Output,
        registry: &ScriptRegistry,
        settings: &Settings,
        observers: Arc<Observers>,
    ) -> Arc<Self> {
        let downloads = Arc::new(Downloads::new(output.clone()));
        let shared = Arc::new(Shared {
            context: open.context.clone(),
            downloads: downloads.clone(),
            init_pages: InitPages {
                paths: settings.context.init_pages.clone(),
                context: open.context.clone(),
                output: output.clone(),
                registry: registry.clone(),
                downloads,
            },
            output,
            settings: settings.clone(),
            state: Mutex::default(),
            observers,
        });
        let watch = task::spawn("tabs", follow(shared.clone()));
        Arc::new(Self {
            open,
            shared,
            emulated: Mutex::default(),
            _watch: watch,
        })
    }

    /// Returns the context and its browser.
    pub(crate) fn open(&self) -> &OpenContext {
        &self.open
    }

    /// Returns the parameters of what is emulated beside the options of the session.
    pub(crate) fn emulated(&self) -> MutexGuard<'_, Map<String, Value>> {
        self.emulated.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns why the browser has closed, if it has.
    pub(crate) fn closed_reason(&self) -> Option<String> {
        let browser = self.open.browser.closed_reason();
        browser.or_else(|| self.open.context.closed_reason())
    }

    /// Waits until the browser has closed.
    pub(crate) async fn browser_gone(&self) -> Error {
        let reason = self.open.browser.closed().await;
        engine::Error::BrowserClosed { reason }.into()
    }

    /// Returns all tabs in the order in which they were opened.
    pub(crate) fn all(&self) -> Vec<Arc<Tab>> {
        self.shared.reconciled().tabs.clone()
    }

    /// Returns the URLs of the tabs before the browser closed.
    pub(crate) fn last_seen(&self) -> Vec<String> {
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner).seen.clone()
    }

    /// Returns the current tab.
    pub(crate) fn current(&self) -> Option<Arc<Tab>> {
        let state = self.shared.reconciled();
        let current = state.current.as_ref()?;
        state
            .tabs
            .iter()
            .find(|tab| tab.page.id() == current)
            .cloned()
    }

    /// Returns what was lost with the crash of the current page, once; the next call gets a new tab.
    pub(crate) fn take_crash(&self) -> Option<Error> {
        if !self.current()?.is_crash_unreported() {
            return None;
        }
        let tabs = self.all().into_iter();
        // Pages of one site may share a process.
        let crashed = tabs.filter(|tab| tab.is_crash_unreported());
        let lost_pages = crashed.map(|tab| {
            tab.set_crash_reported();
            tab.page.url()
        });
        Some(Error::PageCrashed {
            lost_pages: lost_pages.collect(),
            lost: vec!["sessionStorage", "history"],
        })
    }

    /// Returns a usable current tab: a first one is opened, a crashed one is replaced.
    pub(crate) async fn current_or_new(&self, progress: &Progress) -> Result<Arc<Tab>> {
        self.mark_used();
        match self.current() {
            Some(tab) if tab.page.is_crashed() => {
                let fresh = self.open_new(progress).await?;
                fresh.record_crash();
                tab.page.close(progress).await?;
                drop(self.take_closed());
                Ok(fresh)
            }
            Some(tab) => Ok(tab),
            None => self.open_new(progress).await,
        }
    }

    /// Opens another tab. A browser with a profile starts with a blank tab, as in `@playwright/mcp`: clients count it.
    pub(crate) async fn open_another(&self, progress: &Progress) -> Result<Arc<Tab>> {
        let unused = !self.mark_used() && self.all().is_empty();
        let browser = &self.shared.settings.browser;
        let is_ours = browser.connect_options().is_none();
        if unused && is_ours && self.open.browser_number().is_none() {
            self.open_new(progress).await?;
        }
        self.open_new(progress).await
    }

    /// Records that a call uses the tabs; returns whether one has before.
    fn mark_used(&self) -> bool {
        let mut state = self.shared.reconciled();
        std::mem::replace(&mut state.used, true)
    }

    /// Opens a blank tab and makes it the current one.
    pub(crate) async fn open_new(&self, progress: &Progress) -> Result<Arc<Tab>> {
        let page = self.shared.context.new_page(progress).await?;
        self.make_current(&page);
        self.current().ok_or(engine::Error::PageClosed {}.into())
    }

    /// Makes the tab of that index the current one.
    pub(crate) async fn select(&self, progress: &Progress, index: i64) -> Result<()> {
        let tab = self.numbered(index)?;
        tab.page.activate(progress).await?;
        self.make_current(&tab.page);
        Ok(())
    }

    /// Closes the tab of that index, or the current one.
    pub(crate) async fn close(&self, progress: &Progress, index: Option<i64>) -> Result<()> {
        let tab = match index {
            Some(index) => Some(self.numbered(index)?),
            None => self.current(),
        };
        if let Some(tab) = tab {
            tab.page.close(progress).await?;
            drop(self.take_closed());
        }
        Ok(())
    }

    /// Returns the URL of a current tab that closed since the last answer, and not by a call for that. The client then knows of it.
    pub(crate) fn take_closed(&self) -> Option<String> {
        self.shared.reconciled().closed.take()
    }

    /// Returns the error about a current tab that closed since the last answer, once: the call was meant for that tab.
    pub(crate) fn take_gone(&self) -> Option<Error> {
        let url = self.take_closed()?;
        let tabs = self.all();
        let current = self.current().and_then(|current| {
            let index = tabs.iter().position(|tab| tab.page == current.page)?;
            Some((index, current.page.url()))
        });
        Some(Error::TabGone {
            url,
            current: current.map(|(index, url)| format!("{index}: {url}")),
        })
    }

    /// Returns the current state of each tab. `is_read`: the title of the current one was just read.
    pub(crate) async fn summarize(&self, progress: &Progress, is_read: bool) -> Vec<TabSummary> {
        let current = self.current().map(|tab| tab.page.id().clone());
        let looks = self.all().into_iter().map(async |tab| {
            let current = current.as_ref() == Some(tab.page.id());
            let facts = match current && is_read && tab.knows_title() {
                true => tab.known_facts(),
                false => tab.facts(progress).await,
            };
            TabSummary {
                facts,
                current,
                tab,
            }
        });
        futures_util::future::join_all(looks).await
    }

    /// Returns the downloads.
    pub(crate) fn downloads(&self) -> Arc<Downloads> {
        self.shared.downloads.clone()
    }

    /// Records the start of an action, from which downloads are counted.
    pub(crate) fn on_action_started(&self) {
        let shared = &self.shared;
        shared.downloads.on_action_started(&shared.context);
    }

    /// Returns the events of downloads since the last answer.
    pub(crate) async fn download_events(&self) -> Vec<Event> {
        self.shared.downloads.new_events(&self.shared.context).await
    }

    /// Returns the pages that opened since the last answer and their state; waits at most `limit` for their documents.
    pub(crate) async fn opened(&self, limit: Duration) -> Vec<OpenedPage> {
        let current = self.current().map(|tab| tab.page.id().clone());
        let tabs = self.all().into_iter().enumerate();
        let fresh = tabs.filter(|(_, tab)| {
            let was_known = tab.set_known();
            !was_known && current.as_ref() != Some(tab.page.id())
        });
        let looks = fresh.map(async |(index, tab)| {
            tab.page.first_document(limit).await;
            let failure = tab.page.failure_since(0);
            OpenedPage {
                index,
                url: tab.page.url(),
                failure: failure.map(|failure| failure.to_string()),
            }
        });
        futures_util::future::join_all(looks).await
    }

    /// Returns the dialogs that are open in other tabs: they may pause the current one, too.
    pub(crate) fn other_dialogs(&self) -> impl Iterator<Item = Event> {
        let current = self.current().map(|tab| tab.page.id().clone());
        let tabs = self.all().into_iter().enumerate();
        tabs.filter_map(move |(index, tab)| {
            let is_other = current.as_ref() != Some(tab.page.id());
            let dialog = tab.page.dialog().filter(|_| is_other)?;
            Some(Event::DialogElsewhere { index, dialog })
        })
    }

    /// Returns the event about tabs that pages could not open.
    pub(crate) fn refused(&self) -> Option<Event> {
        let refused = self.shared.context.refused_pages();
        let mut state = self.shared.reconciled();
        let count = refused - std::mem::replace(&mut state.reported_refused, refused);
        (count > 0).then_some(Event::TabsRefused { count })
    }

    /// Returns the events about URLs of external protocols, which no browser opens.
    pub(crate) fn not_opened(&self) -> impl Iterator<Item = Event> {
        let tabs = self.all().into_iter();
        let urls = tabs.flat_map(|tab| tab.page.take_external_urls());
        urls.map(|url| Event::NotOpened { url })
    }

    fn numbered(&self, index: i64) -> Result<Arc<Tab>> {
        usize::try_from(index)
            .ok()
            .and_then(|index| self.all().get(index).cloned())
            .ok_or(Error::TabNotFound { index })
    }

    /// Makes the tab of that page the current one, without activating it.
    pub(crate) fn make_current(&self, page: &Page) {
        let mut state = self.shared.reconciled();
        state.current = Some(page.id().clone());
        state.closed = None;
    }
}

impl Shared {
    /// Updates the tabs from the browser and returns them.
    fn reconciled(&self) -> MutexGuard<'_, State> {
        let pages = self.context.pages();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let current = |state: &State| {
            let id = state.current.as_ref()?;
            state.tabs.iter().position(|tab| tab.page.id() == id)
        };
        let before = current(&state);
        let closed = before.filter(|place| !pages.contains(&state.tabs[*place].page));
        if let Some(place) = closed.filter(|_| state.used) {
            state.closed = Some(state.tabs[place].page.url());
        }
        state.tabs.retain(|tab| pages.contains(&tab.page));
        for page in pages {
            if !state.tabs.iter().any(|tab| tab.page == page) {
                let init = self.init_pages.begin(page.clone(), &self.settings);
                page.set_input_observer(self.observers.clone());
                let tab = Tab::new(page, self.output.clone(), &self.settings, init);
                if !state.used {
                    // It existed before the first call of the client.
                    tab.set_known();
                }
                state.tabs.push(Arc::new(tab));
            }
        }
        if !state.tabs.is_empty() {
            state.seen = state.tabs.iter().map(|tab| tab.page.url()).collect();
        }
        if current(&state).is_none() {
            // The next tab after the closed one, or the last.
            let place = before.unwrap_or(0).min(state.tabs.len().saturating_sub(1));
            state.current = state.tabs.get(place).map(|tab| tab.page.id().clone());
        }
        state
    }
}

/// Records new tabs and downloads when they appear, not only with the next call.
async fn follow(shared: Arc<Shared>) {
    let mut changes = shared.context.changes();
    loop {
        changes.mark_unchanged();
        drop(shared.reconciled());
        shared.downloads.collect(&shared.context).await;
        if changes.changed().await.is_err() {
            return;
        }
    }
}
