//! A browser context with its own pages, cookies and storage.

mod visited_origins;
mod worker_observer;

use crate::backend::{
    Capabilities, ContextBackend, ContextObserver, ContextOptions, Cookie, DownloadEvent,
    EmulatedOption, Feature, Geolocation, Headers, PageBackend, PageId, PageObserver,
    RunningWorker, Throttling,
};
use crate::download::{Download, Downloads};
use crate::egress::Egress;
use crate::error::{Error, Result};
use crate::network::Request;
use crate::page::Page;
use crate::progress::Progress;
use crate::routes::Routes;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::{mpsc, watch};

pub(crate) use visited_origins::VisitedOrigins;
use worker_observer::WorkerObserver;

/// The largest number of requests that a recorder has not read; it misses later ones.
const MAX_RECORDED_REQUESTS: usize = 10_000;

/// The ended requests of all pages of a context.
#[derive(Debug)]
pub struct RequestRecorder {
    /// Those that ended before the recording began.
    earlier: std::vec::IntoIter<(PageId, Request)>,
    ended: mpsc::Receiver<(PageId, Request)>,
}

impl RequestRecorder {
    /// Returns the next ended request and its page. Waits until there is one; `None` at the end.
    pub async fn next(&mut self) -> Option<(PageId, Request)> {
        match self.earlier.next() {
            Some(request) => Some(request),
            None => self.ended.recv().await,
        }
    }

    /// Ends the recording. The requests that have ended can still be read.
    pub fn close(&mut self) {
        self.ended.close();
    }
}

/// A browser context. Cheap to clone; all clones refer to the same context.
#[derive(Clone)]
pub struct BrowserContext {
    pub(crate) backend: Arc<dyn ContextBackend>,
    shared: Arc<Shared>,
}

/// The state that the browser's events update.
pub(crate) struct Shared {
    itself: Weak<Self>,
    options: ContextOptions,
    /// The egress proxy, if the context needs one.
    egress: Option<Arc<Egress>>,
    capabilities: Capabilities,
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    pages: Vec<Page>,
    downloads: Downloads,
    refused: u64,
    visited_origins: VisitedOrigins,
    /// The options with their changes.
    emulated: ContextOptions,
    throttling: Throttling,
    routes: Routes,
    /// The recorders of requests.
    recorders: Vec<mpsc::Sender<(PageId, Request)>>,
}

impl std::fmt::Debug for BrowserContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BrowserContext")
            .field(&self.pages())
            .finish()
    }
}

impl Shared {
    pub(crate) fn new(
        options: ContextOptions,
        egress: Option<Arc<Egress>>,
        capabilities: &Capabilities,
    ) -> Arc<Self> {
        let state = State {
            emulated: options.clone(),
            throttling: options.throttling,
            routes: options.routes.clone(),
            ..State::default()
        };
        Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            options,
            egress,
            capabilities: *capabilities,
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bump(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

impl ContextObserver for Shared {
    fn page_opened(
        &self,
        backend: Arc<dyn PageBackend>,
        opener: Option<PageId>,
    ) -> Arc<dyn PageObserver> {
        let opener = {
            let state = self.state();
            let mut pages = state.pages.iter();
            pages
                .find(|page| Some(page.id()) == opener.as_ref())
                .cloned()
        };
        let egress = self.egress.clone();
        let options = self.state().emulated.clone();
        let page = Page::with_egress(backend, opener.as_ref(), &options, egress);
        let observer = self.state().visited_origins.recording(page.observer());
        {
            let mut state = self.state();
            state.pages.retain(|page| !page.is_closed());
            state.pages.push(page.clone());
            state.recorders.retain(|recorder| !recorder.is_closed());
            for recorder in &state.recorders {
                page.add_recorder(recorder.clone(), false);
            }
        }
        if let Some(opener) = opener {
            opener.record_popup(page);
        }
        self.bump();
        observer
    }

    fn page_refused(&self, opener: &PageId) {
        let opener = {
            let mut state = self.state();
            state.refused += 1;
            state.pages.iter().find(|page| page.id() == opener).cloned()
        };
        if let Some(opener) = opener {
            opener.record_refused_popup();
        }
    }

    fn worker_started(&self, worker: &RunningWorker) -> Arc<dyn PageObserver> {
        Arc::new(WorkerObserver::new(self.itself.clone(), worker))
    }

    fn download(&self, event: DownloadEvent) {
        self.state().downloads.apply(event);
        self.bump();
    }
}

impl BrowserContext {
    pub(crate) fn new(backend: Arc<dyn ContextBackend>, shared: Arc<Shared>) -> Self {
        Self { backend, shared }
    }

    /// Returns why the context has closed although its browser runs.
    pub fn closed_reason(&self) -> Option<String> {
        self.backend.closed_reason()
    }

    /// Returns the options at its creation.
    pub fn options(&self) -> &ContextOptions {
        &self.shared.options
    }

    /// Opens a blank page.
    pub async fn new_page(&self, progress: &Progress) -> Result<Page> {
        progress
            .run(async {
                let id = self.backend.new_page().await?;
                let pages = self.pages();
                pages
                    .into_iter()
                    .find(|page| *page.id() == id)
                    .ok_or(Error::PageClosed {})
            })
            .await
    }

    /// Returns the open pages in the order in which they were opened.
    pub fn pages(&self) -> Vec<Page> {
        let mut state = self.shared.state();
        state.pages.retain(|page| !page.is_closed());
        state.pages.clone()
    }

    /// Returns a counter that increases with each opened page and each change of a download.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// Returns the downloads, oldest first.
    pub fn downloads(&self) -> Vec<Download> {
        self.shared.state().downloads.all()
    }

    /// Returns the number of downloads that have started, which is the number of the next one.
    pub fn download_count(&self) -> u64 {
        self.shared.state().downloads.count()
    }

    /// Returns the number of pages that were closed at once because pages had opened too many.
    pub fn refused_pages(&self) -> u64 {
        self.shared.state().refused
    }

    /// Returns all cookies.
    pub async fn cookies(&self, progress: &Progress) -> Result<Vec<Cookie>> {
        progress.run(self.backend.cookies()).await
    }

    /// Adds cookies, replacing those of the same name, domain and path.
    pub async fn set_cookies(&self, progress: &Progress, cookies: &[Cookie]) -> Result<()> {
        progress.run(self.backend.set_cookies(cookies)).await
    }

    /// Removes the cookies that match `gone`.
    pub async fn remove_cookies(
        &self,
        progress: &Progress,
        gone: impl Fn(&Cookie) -> bool + Send,
    ) -> Result<()> {
        progress
            .run(async {
                let (gone, kept): (Vec<_>, Vec<_>) = self
                    .backend
                    .cookies()
                    .await?
                    .into_iter()
                    .partition(|cookie| gone(cookie));
                if gone.is_empty() {
                    return Ok(());
                }
                if kept.is_empty() {
                    return self.backend.clear_cookies().await;
                }
                self.backend.delete_cookies(&gone).await
            })
            .await
    }

    /// Returns the origins that its pages have visited.
    pub(crate) fn visited_origins(&self) -> VisitedOrigins {
        self.shared.state().visited_origins.clone()
    }

    /// Turns offline mode of all pages on or off.
    pub async fn set_offline(&self, progress: &Progress, offline: bool) -> Result<()> {
        progress.run(self.backend.set_offline(offline)).await?;
        if let Some(egress) = &self.shared.egress {
            egress.set_offline(offline);
        }
        self.shared.state().emulated.offline = offline;
        Ok(())
    }

    /// Replaces the options that changed, for all pages and for those that open later. Fails without an effect if the browser cannot change
    /// one of them in an open context, or rejects a value.
    pub async fn emulate(
        &self,
        progress: &Progress,
        options: &ContextOptions,
        changed: &[EmulatedOption],
    ) -> Result<()> {
        let capabilities = &self.shared.capabilities;
        capabilities.require_for_changes(options, changed)?;
        let before = self.shared.state().emulated.clone();
        let mut after = before.clone();
        after.copy_from(options, changed);
        if let Err(error) = self.apply(progress, &after, changed).await {
            let undone = self.apply(progress, &before, changed).await;
            tracing::debug!(?undone, "options were reset");
            return Err(error);
        }
        self.shared.state().emulated = after;
        Ok(())
    }

    async fn apply(
        &self,
        progress: &Progress,
        options: &ContextOptions,
        changed: &[EmulatedOption],
    ) -> Result<()> {
        use EmulatedOption as O;
        progress.run(self.backend.emulate(options, changed)).await?;
        for page in self.pages() {
            if changed.contains(&O::Viewport) {
                page.set_viewport(progress, options.viewport.as_ref())
                    .await?;
            }
            let mut media = page.media();
            for option in changed {
                media.copy_from(&options.media, *option);
            }
            if media != page.media() {
                page.emulate_media(progress, media).await?;
            }
        }
        if changed.contains(&O::ExtraHeaders) {
            self.set_extra_headers(progress, &options.extra_headers)
                .await?;
        }
        if changed.contains(&O::Offline) {
            self.set_offline(progress, options.offline).await?;
        }
        Ok(())
    }

    /// Sets the throttling of all pages.
    pub async fn set_throttling(&self, progress: &Progress, throttling: Throttling) -> Result<()> {
        match &self.shared.egress {
            Some(egress) if !self.shared.capabilities.throttles => {
                egress.set_throttling(throttling)
            }
            _ => {
                let set = self.backend.set_throttling(throttling);
                progress.run(set).await?;
            }
        }
        self.shared.state().throttling = throttling;
        Ok(())
    }

    /// Makes the processor of all pages this many times slower; `None` ends that. Pages of other contexts in the same process are slower too.
    pub async fn set_cpu_throttling(&self, progress: &Progress, rate: Option<f64>) -> Result<()> {
        progress.run(self.backend.set_cpu_throttling(rate)).await
    }

    /// Replaces the routes, which abort or fulfill requests of all pages. They have priority over other interception.
    pub async fn set_routes(&self, progress: &Progress, routes: Routes) -> Result<()> {
        let capabilities = &self.shared.capabilities;
        capabilities.require_if(routes.rewrites_requests(), Feature::RewriteRequest)?;
        capabilities.require_if(routes.changes_responses(), Feature::HoldResponse)?;
        progress
            .run(self.backend.set_routes(routes.clone()))
            .await?;
        self.shared.state().routes = routes;
        Ok(())
    }

    /// Records the requests of all pages that end from now on, after those of the current documents that ended before, if they are wanted.
    pub fn record_requests(&self, include_earlier: bool) -> RequestRecorder {
        let (recorder, ended) = mpsc::channel(MAX_RECORDED_REQUESTS);
        let mut state = self.shared.state();
        let mut earlier = Vec::new();
        for page in &state.pages {
            let requests = page.add_recorder(recorder.clone(), include_earlier);
            earlier.extend(requests.into_iter().map(|it| (page.id().clone(), it)));
        }
        state.recorders.push(recorder);
        RequestRecorder {
            earlier: earlier.into_iter(),
            ended,
        }
    }

    /// Returns whether offline mode is on.
    pub fn is_offline(&self) -> bool {
        self.shared.state().emulated.offline
    }

    /// Returns the throttling.
    pub fn throttling(&self) -> Throttling {
        self.shared.state().throttling
    }

    /// Returns the routes.
    pub fn routes(&self) -> Routes {
        self.shared.state().routes.clone()
    }

    /// Sets headers that are added to every request from now on.
    pub async fn set_extra_headers(&self, progress: &Progress, headers: &Headers) -> Result<()> {
        progress
            .run(self.backend.set_extra_headers(headers))
            .await?;
        self.shared
            .state()
            .emulated
            .extra_headers
            .clone_from(headers);
        Ok(())
    }

    /// Sets the emulated geolocation; `None` removes it.
    pub async fn set_geolocation(
        &self,
        progress: &Progress,
        geolocation: Option<Geolocation>,
    ) -> Result<()> {
        progress
            .run(self.backend.set_geolocation(geolocation))
            .await?;
        self.shared.state().emulated.geolocation = geolocation;
        Ok(())
    }

    /// Grants permissions by their Playwright names, to one origin or to all.
    pub async fn grant_permissions(
        &self,
        progress: &Progress,
        permissions: &[String],
        origin: Option<&str>,
    ) -> Result<()> {
        progress
            .run(self.backend.grant_permissions(permissions, origin))
            .await
    }

    /// Revokes all granted permissions.
    pub async fn clear_permissions(&self, progress: &Progress) -> Result<()> {
        progress.run(self.backend.clear_permissions()).await
    }

    /// Adds an init script, which runs in each new document before its own scripts.
    pub async fn add_init_script(&self, progress: &Progress, source: &str) -> Result<()> {
        progress.run(self.backend.add_init_script(source)).await
    }

    /// Closes all pages and deletes the context's data; a persistent profile is kept.
    pub async fn close(&self, progress: &Progress) -> Result<()> {
        progress.run(self.backend.close()).await
    }
}
