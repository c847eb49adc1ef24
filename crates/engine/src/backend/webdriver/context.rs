//! A context: one driver, one browser, and the windows in it as they come and go.

use super::browser::{InspectorChannel, Started};
use super::driver::Driver;
use super::page::WebDriverPage;
use crate::backend::{
    Capabilities, ContextBackend, ContextObserver, ContextOptions, Feature, Geolocation, Headers,
    OriginDocuments, PageBackend, PageId, Throttling,
};
use crate::error::{Error, Result};
use crate::launch::process::Process;
use crate::launch::source::Source;
use crate::routes::Routes;
use crate::task::{self, Task};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch;
use wire::inspector::{InspectedPage, Inspector, Relay};
use wire::webdriver::WebDriverSession;

use downloads::Downloads;
use windows::Pages;

mod cookies;
mod downloads;
mod events;
mod permissions;
mod windows;

/// How long a browser may go on talking before it is asked where it is.
const EVENT_QUIET_TIMEOUT: Duration = Duration::from_millis(100);
/// How long a browser may take to close by itself before it is killed.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);
/// How long it may take before that to answer what it was asked.
const IDLE_TIMEOUT: Duration = Duration::from_millis(200);

pub(super) struct WebDriverContext {
    pub(super) itself: Weak<Self>,
    session: WebDriverSession,
    pub(super) driver: Arc<Driver>,
    pub(super) observer: Arc<dyn ContextObserver>,
    options: Mutex<ContextOptions>,
    pages: Mutex<Pages>,
    /// Counts up whenever a page or a part of one comes or goes.
    changed: watch::Sender<u64>,
    /// Events of the inspector that were heard.
    heard: watch::Sender<u64>,
    pub(super) inspector_link: Option<InspectorLink>,
    sources: Vec<Source>,
    /// Why the browser is gone, once it is.
    closed: watch::Sender<Option<String>>,
    /// Before whatever our hooks say on the console.
    token: String,
    /// Held while a window is opened or closed: until its name is known, it cannot be told from another.
    pub(super) creating: tokio::sync::Mutex<()>,
    downloads: Arc<Downloads>,
    tasks: OnceLock<Vec<Task>>,
}

pub(super) struct InspectorLink {
    inspector: Inspector,
    pub(super) pages: watch::Receiver<Vec<InspectedPage>>,
    pub(super) relay: Relay,
}

impl WebDriverContext {
    pub(super) async fn start(
        started: Started,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
        closed: watch::Sender<Option<String>>,
    ) -> Result<Arc<Self>> {
        let Started {
            session,
            inspector_channel,
            sources,
            downloads,
            ..
        } = started;
        let (inspector_link, events) = match inspector_channel {
            Some(InspectorChannel {
                inspector,
                events,
                relay,
            }) => {
                let inspector_link = InspectorLink {
                    inspector,
                    pages: relay.pages(),
                    relay,
                };
                (Some(inspector_link), Some(events))
            }
            None => (None, None),
        };
        let context = Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            driver: Arc::new(Driver::new(session.clone())),
            token: format!("playhouse:{}:", session.id()),
            session,
            observer,
            options: Mutex::new(options.clone()),
            pages: Mutex::default(),
            changed: watch::Sender::new(0),
            heard: watch::Sender::new(0),
            inspector_link,
            sources,
            closed,
            creating: tokio::sync::Mutex::default(),
            downloads: Arc::new(Downloads::new(downloads)),
            tasks: OnceLock::new(),
        });
        let mut tasks = Vec::new();
        if let Some(events) = events {
            let hearing = events::listen(Arc::downgrade(&context), events);
            tasks.push(task::spawn("pages' events", hearing));
        }
        for source in &context.sources {
            if let Source::Started(process) = source {
                let ended = on_process_exited(Arc::downgrade(&context), process.clone());
                tasks.push(task::spawn("browser's end", ended));
            }
        }
        if let Some(inspector) = context.inspector() {
            let over = on_inspector_closed(Arc::downgrade(&context), inspector.closed());
            tasks.push(task::spawn("inspector's end", over));
        }
        if let Some(window) = context.windows().await?.into_iter().next() {
            let target = context.new_target().await?;
            let mut pages = context.pages();
            pages.windows.insert(window.clone());
            pages.targets.extend(target);
            pages.spare = Some((window, target));
        }
        let following = windows::follow(Arc::downgrade(&context));
        tasks.push(task::spawn("windows", following));
        let arriving = downloads::follow(Arc::downgrade(&context), context.downloads.clone());
        tasks.push(task::spawn("downloads", arriving));
        // Set once, here.
        let _ = context.tasks.set(tasks);
        Ok(context)
    }

    pub(super) fn options(&self) -> MutexGuard<'_, ContextOptions> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn observer(&self) -> &Arc<dyn ContextObserver> {
        &self.observer
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    pub(super) fn inspector(&self) -> Option<&Inspector> {
        self.inspector_link
            .as_ref()
            .map(|inspector_link| &inspector_link.inspector)
    }

    pub(super) fn capabilities(&self) -> &'static Capabilities {
        super::browser::capabilities(self.inspector_link.is_some())
    }

    pub(super) fn open_pages(&self) -> Vec<Arc<WebDriverPage>> {
        self.pages().open.values().cloned().collect()
    }

    pub(super) fn page_of(&self, target: u64) -> Option<Arc<WebDriverPage>> {
        self.pages().by_target.get(&target).cloned()
    }

    /// A page of ours visits origins; its requests are answered with nothing.
    pub(super) fn set_utility_target(&self, target: u64, does: bool) {
        let mut pages = self.pages();
        if does {
            pages.visitors.insert(target);
        } else {
            pages.visitors.remove(&target);
        }
    }

    pub(super) fn is_utility_target(&self, target: u64) -> bool {
        self.pages().visitors.contains(&target)
    }

    /// A page asks for something; its cookies may be there.
    pub(super) fn record_url(&self, url: &str) {
        let address = url.split(['?', '#']).next().unwrap_or(url);
        if address.starts_with("http") {
            let mut pages = self.pages();
            if pages.visited.len() < cookies::ADDRESSES
                && !pages.visited.iter().any(|known| known == address)
            {
                pages.visited.push(address.to_owned());
            }
        }
    }

    pub(super) fn recorded_urls(&self) -> Vec<String> {
        self.pages().visited.clone()
    }

    /// A page is used now; what opens next is likely its.
    pub(super) fn set_last_used(&self, page: &PageId) {
        self.pages().last_used = Some(page.clone());
    }

    pub(super) fn last_used(&self) -> Option<PageId> {
        self.pages().last_used.clone()
    }

    /// Mouse and keys are a page's now; whether they were another's.
    pub(super) fn acquire_input(&self, page: &PageId) -> bool {
        let before = self.pages().has_devices.replace(page.clone());
        before.is_some_and(|before| before != *page)
    }

    /// An event was heard, to its end.
    pub(super) fn count_event(&self) {
        self.heard.send_modify(|count| *count += 1);
    }

    /// Returns once all that the browser has said of a page was heard.
    pub(super) async fn flush_events(&self, target: u64) -> Result<()> {
        let Some(inspector) = self.inspector() else {
            return Ok(());
        };
        self.wait_for_events(inspector.flush(target).await?).await;
        Ok(())
    }

    /// Returns once all was heard that the browser had said of a page before its driver's last answer.
    pub(super) async fn drain_events(&self, target: u64) -> Result<()> {
        let Some(inspector) = self.inspector() else {
            return Ok(());
        };
        match tokio::time::timeout(EVENT_QUIET_TIMEOUT, inspector.flush_received()).await {
            Ok(said) => self.wait_for_events(said?).await,
            Err(_) => self.flush_events(target).await?,
        }
        Ok(())
    }

    async fn wait_for_events(&self, said: u64) {
        let mut heard = self.heard.subscribe();
        // The sender lives in `self`.
        let _ = heard.wait_for(|heard| *heard >= said).await;
    }

    pub(super) fn bump(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Waits for something to be true.
    pub(super) async fn wait<T: Send>(
        &self,
        mut look: impl FnMut() -> Option<T> + Send,
    ) -> Result<T> {
        let mut changed = self.changed.subscribe();
        let mut closed = self.closed.subscribe();
        let found = async {
            loop {
                changed.mark_unchanged();
                if let Some(found) = look() {
                    return found;
                }
                // The sender lives in `self`.
                let _ = changed.changed().await;
            }
        };
        tokio::select! {
            biased;
            found = found => Ok(found),
            reason = closed.wait_for(Option::is_some) => {
                let reason = reason.ok().and_then(|reason| reason.clone()).unwrap_or_default();
                Err(Error::BrowserClosed { reason })
            }
        }
    }

    /// The browser has gone, and everything of it.
    pub(super) fn on_browser_closed(&self, reason: &str) {
        self.closed.send_if_modified(|known| {
            let first = known.is_none();
            if first {
                *known = Some(reason.to_owned());
            }
            first
        });
        for page in self.open_pages() {
            self.remove_window(&page);
        }
    }
}

/// The end of its inspector is the first that is seen of a browser's.
async fn on_inspector_closed(
    context: Weak<WebDriverContext>,
    mut closed: watch::Receiver<Option<String>>,
) {
    let reason = closed.wait_for(Option::is_some).await;
    let reason = reason.ok().and_then(|reason| reason.clone());
    if let Some(context) = context.upgrade() {
        context.on_browser_closed(&reason.unwrap_or_default());
    }
}

/// A browser or a driver that ends takes everything with it.
async fn on_process_exited(context: Weak<WebDriverContext>, process: Arc<Process>) {
    let reason = process.exit().await;
    if let Some(context) = context.upgrade() {
        context.on_browser_closed(&reason);
    }
}

#[async_trait]
impl ContextBackend for WebDriverContext {
    async fn new_page(&self) -> Result<PageId> {
        let gone = self.closed.borrow().clone();
        if let Some(reason) = gone {
            return Err(Error::BrowserClosed { reason });
        }
        let _creating = self.creating.lock().await;
        let (window, target) = self.blank_window().await?;
        let page = self.adopt(&window, target, None).await?;
        Ok(page.id().clone())
    }

    async fn documents(&self) -> Result<Box<dyn OriginDocuments>> {
        let context = self.itself.upgrade().ok_or(Error::PageClosed {})?;
        super::utility_page::open(context).await
    }

    async fn set_offline(&self, offline: bool) -> Result<()> {
        if offline {
            self.capabilities().require(Feature::Offline)?;
        }
        self.options().offline = offline;
        self.apply_interception().await
    }

    async fn set_throttling(&self, throttling: Throttling) -> Result<()> {
        if throttling == Throttling::default() {
            return Ok(());
        }
        super::CLASSIC.require(Feature::Throttling)
    }

    async fn set_routes(&self, routes: Routes) -> Result<()> {
        if !routes.is_empty() {
            self.capabilities().require(Feature::Interception)?;
        }
        self.options().routes = routes;
        self.apply_interception().await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        if !headers.is_empty() {
            self.capabilities().require(Feature::ExtraHeaders)?;
        }
        self.options().extra_headers.clone_from(headers);
        for page in self.open_pages() {
            page.apply_headers();
            page.flush_events().await?;
        }
        Ok(())
    }

    async fn set_geolocation(&self, geolocation: Option<Geolocation>) -> Result<()> {
        match geolocation {
            None => Ok(()),
            Some(_) => self.capabilities().require(Feature::Geolocation),
        }
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.capabilities().require(Feature::InitScripts)?;
        self.options().init_scripts.push(source.to_owned());
        for page in self.open_pages() {
            page.apply_scripts();
            page.flush_events().await?;
        }
        Ok(())
    }

    fn closed_reason(&self) -> Option<String> {
        self.closed.borrow().clone()
    }

    async fn close(&self) -> Result<()> {
        let ending = async {
            // WebKit's driver falls over when its session ends while a script is under way.
            let _resting = tokio::time::timeout(IDLE_TIMEOUT, self.driver.wait_idle()).await;
            self.session.delete().await
        };
        // It may be gone already; then there is nothing to ask.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, ending).await;
        for source in &self.sources {
            source.end(Duration::ZERO, async {}).await;
        }
        for page in self.open_pages() {
            self.remove_window(&page);
        }
        Ok(())
    }
}

impl WebDriverContext {
    /// These files, under the names by which the browser finds them.
    pub(super) async fn stage_files(&self, files: &[PathBuf]) -> Result<Vec<String>> {
        let mut sources = self.sources.iter();
        let granted = sources.find(|source| matches!(source, Source::Granted(_)));
        granted.unwrap_or(&Source::Reached).stage_files(files).await
    }

    /// Answers a request of a page that visits origins: with nothing at all.
    pub(super) fn answer_utility_request(&self, target: u64, part: &str, params: &str) {
        let request: Value = serde_json::from_str(params).unwrap_or_default();
        let Some(inspector) = self.inspector() else {
            return;
        };
        let answer = json!({
            "requestId": request["requestId"],
            "content": "<!doctype html>",
            "base64Encoded": false,
            "mimeType": "text/html",
            "status": 200,
            "statusText": "OK",
            "headers": { "content-type": "text/html" },
        });
        inspector.send_command(
            target,
            part,
            "Network.interceptRequestWithResponse",
            &answer,
        );
    }

    /// Whether requests of every page stop by us.
    pub(super) fn intercepts_all(&self) -> bool {
        let options = self.options();
        options.offline || !options.routes.is_empty()
    }

    /// Has requests stop by us, in all pages that somebody wants that of.
    async fn apply_interception(&self) -> Result<()> {
        for page in self.open_pages() {
            page.apply_interception();
            page.flush_events().await?;
        }
        Ok(())
    }

    /// Where downloads are to end up.
    pub(super) fn download_folder(&self) -> Option<PathBuf> {
        self.options().downloads.clone()
    }

    pub(super) fn shared(&self) -> Option<Arc<Self>> {
        self.itself.upgrade()
    }
}
