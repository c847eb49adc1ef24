//! A browser context: pages, cookies and storage of its own.

mod visited_origins;

use crate::backend::{
    Capabilities, ContextBackend, ContextObserver, ContextOptions, Cookie, DownloadEvent,
    Geolocation, Headers, PageBackend, PageId, PageObserver, Throttling,
};
use crate::download::{Download, Downloads};
use crate::egress::Egress;
use crate::error::{Error, Result};
use crate::page::Page;
use crate::progress::Progress;
use crate::routes::Routes;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

pub(crate) use visited_origins::VisitedOrigins;

/// An isolated part of a browser. Cheap to clone; all clones speak of the same context.
#[derive(Clone)]
pub struct BrowserContext {
    pub(crate) backend: Arc<dyn ContextBackend>,
    shared: Arc<Shared>,
}

/// What the browser's events write and everyone else reads.
pub(crate) struct Shared {
    options: ContextOptions,
    /// What all its connections pass through, if it needs that.
    egress: Option<Arc<Egress>>,
    /// The browser has a command that throttles its pages.
    browser_throttles: bool,
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    pages: Vec<Page>,
    downloads: Downloads,
    refused: u64,
    visited_origins: VisitedOrigins,
    offline: bool,
    throttling: Throttling,
    routes: Routes,
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
            offline: options.offline,
            throttling: options.throttling,
            routes: options.routes.clone(),
            ..State::default()
        };
        Arc::new(Self {
            options,
            egress,
            browser_throttles: capabilities.throttles,
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
        let page = Page::with_egress(backend, opener.clone(), &self.options, self.egress.clone());
        let observer = self.state().visited_origins.recording(page.observer());
        let opener = {
            let mut state = self.state();
            state.pages.retain(|page| !page.is_closed());
            state.pages.push(page.clone());
            let mut pages = state.pages.iter();
            pages
                .find(|page| Some(page.id()) == opener.as_ref())
                .cloned()
        };
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

    fn download(&self, event: DownloadEvent) {
        self.state().downloads.apply(event);
        self.bump();
    }
}

impl BrowserContext {
    pub(crate) fn new(backend: Arc<dyn ContextBackend>, shared: Arc<Shared>) -> Self {
        Self { backend, shared }
    }

    /// Why the context is gone although its browser is not.
    pub fn closed_reason(&self) -> Option<String> {
        self.backend.closed_reason()
    }

    /// What the context was made like.
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

    /// The pages that are open, in the order in which they were opened.
    pub fn pages(&self) -> Vec<Page> {
        let mut state = self.shared.state();
        state.pages.retain(|page| !page.is_closed());
        state.pages.clone()
    }

    /// Counts up whenever a page was opened or a download went on.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// Downloads since the context was made, oldest first.
    pub fn downloads(&self) -> Vec<Download> {
        self.shared.state().downloads.all()
    }

    /// How many pages were closed at once because other pages had opened too many.
    pub fn refused_pages(&self) -> u64 {
        self.shared.state().refused
    }

    /// Every cookie.
    pub async fn cookies(&self, progress: &Progress) -> Result<Vec<Cookie>> {
        progress.run(self.backend.cookies()).await
    }

    /// Adds cookies, replacing those of the same name, domain and path.
    pub async fn set_cookies(&self, progress: &Progress, cookies: &[Cookie]) -> Result<()> {
        progress.run(self.backend.set_cookies(cookies)).await
    }

    /// Removes the cookies for which `gone` holds.
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

    /// Where its pages have been.
    pub(crate) fn visited_origins(&self) -> VisitedOrigins {
        self.shared.state().visited_origins.clone()
    }

    /// Cuts the network of every page, or joins it again.
    pub async fn set_offline(&self, progress: &Progress, offline: bool) -> Result<()> {
        progress.run(self.backend.set_offline(offline)).await?;
        if let Some(egress) = &self.shared.egress {
            egress.set_offline(offline);
        }
        self.shared.state().offline = offline;
        Ok(())
    }

    /// Slows the network of every page down.
    pub async fn set_throttling(&self, progress: &Progress, throttling: Throttling) -> Result<()> {
        match &self.shared.egress {
            Some(egress) if !self.shared.browser_throttles => egress.set_throttling(throttling),
            _ => {
                let set = self.backend.set_throttling(throttling);
                progress.run(set).await?;
            }
        }
        self.shared.state().throttling = throttling;
        Ok(())
    }

    /// Has requests of every page refused or answered without a server, in the place of the rules before. They come before all others
    /// who decide about requests.
    pub async fn set_routes(&self, progress: &Progress, routes: Routes) -> Result<()> {
        progress
            .run(self.backend.set_routes(routes.clone()))
            .await?;
        self.shared.state().routes = routes;
        Ok(())
    }

    /// Whether the network is cut.
    pub fn is_offline(&self) -> bool {
        self.shared.state().offline
    }

    /// How slow the network is.
    pub fn throttling(&self) -> Throttling {
        self.shared.state().throttling
    }

    /// The rules about requests.
    pub fn routes(&self) -> Routes {
        self.shared.state().routes.clone()
    }

    /// Headers that go with every request from now on.
    pub async fn set_extra_headers(&self, progress: &Progress, headers: &Headers) -> Result<()> {
        progress.run(self.backend.set_extra_headers(headers)).await
    }

    /// Where the pages believe to be; `None` takes it back.
    pub async fn set_geolocation(
        &self,
        progress: &Progress,
        geolocation: Option<Geolocation>,
    ) -> Result<()> {
        progress
            .run(self.backend.set_geolocation(geolocation))
            .await
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

    /// Takes back every grant.
    pub async fn clear_permissions(&self, progress: &Progress) -> Result<()> {
        progress.run(self.backend.clear_permissions()).await
    }

    /// A script that runs in each new document before the document's own.
    pub async fn add_init_script(&self, progress: &Progress, source: &str) -> Result<()> {
        progress.run(self.backend.add_init_script(source)).await
    }

    /// Closes all pages and forgets the context's data; a persistent profile stays.
    pub async fn close(&self, progress: &Progress) -> Result<()> {
        progress.run(self.backend.close()).await
    }
}
