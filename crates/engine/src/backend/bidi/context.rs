//! A user context of Firefox: its pages as they come and go, and what holds for all of them.

use super::browser::Shared;
use super::downloads::Downloads;
use super::page::BidiPage;
use super::utility_page::PendingTargets;
use crate::backend::{
    ContextBackend, ContextObserver, ContextOptions, Cookie, Feature, FrameId, Geolocation,
    Headers, OriginDocuments, PageId, Throttling,
};
use crate::error::{Error, Result};
use crate::routes::Routes;
use crate::task;
use async_trait::async_trait;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;
use wire::Session;
use wire::bidi::{browser, browsing_context};

/// Pages of a context that other pages opened: with as many of them, further ones are closed at once.
const MAX_POPUPS: usize = 50;

pub(super) struct BidiContext {
    pub(super) itself: Weak<Self>,
    pub(super) root: Session,
    browser: Weak<Shared>,
    id: String,
    observer: Arc<dyn ContextObserver>,
    options: Mutex<ContextOptions>,
    pages: Mutex<Pages>,
    changed: watch::Sender<u64>,
    pub(super) downloads: Downloads,
    pub(super) withheld: PendingTargets,
    /// Held while a page is created: until its name is known, it cannot be told from another.
    pub(super) creating: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Pages {
    open: HashMap<PageId, Arc<BidiPage>>,
    opened_by_pages: HashSet<PageId>,
    /// Origins that have been granted what all are.
    granted: HashSet<String>,
}

impl BidiContext {
    pub(super) fn new(
        browser: &Arc<Shared>,
        id: &str,
        options: ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            root: browser.root.clone(),
            browser: Arc::downgrade(browser),
            id: id.to_owned(),
            observer,
            options: Mutex::new(options),
            pages: Mutex::default(),
            changed: watch::Sender::new(0),
            downloads: Downloads::default(),
            withheld: PendingTargets::default(),
            creating: tokio::sync::Mutex::default(),
        })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The context as commands name it.
    pub(super) fn ids(&self) -> Vec<String> {
        vec![self.id.clone()]
    }

    pub(super) fn observer(&self) -> &Arc<dyn ContextObserver> {
        &self.observer
    }

    pub(super) fn options(&self) -> MutexGuard<'_, ContextOptions> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn browser(&self) -> Result<Arc<Shared>> {
        super::browser::upgrade(&self.browser).ok_or(Error::BrowserClosed {
            reason: String::new(),
        })
    }

    /// Whether requests of the context's pages have to stop by us.
    pub(super) fn intercepts(&self) -> bool {
        let has_routes = !self.options().routes.is_empty();
        has_routes || self.pages().open.values().any(|page| page.intercepts())
    }

    /// A page appeared: reports it, unless it is one of ours.
    pub(super) fn on_page_created(&self, browser: &Shared, info: &browsing_context::Info) {
        if self.withheld.withhold(info) {
            self.bump();
            return;
        }
        let id = PageId::from(&info.context);
        let opener = info.original_opener.as_ref().map(PageId::from);
        if let Some(opener) = &opener {
            let mut pages = self.pages();
            let few = pages.opened_by_pages.len() < MAX_POPUPS;
            if !few {
                drop(pages);
                drop(self.root.send(&browsing_context::Close {
                    context: info.context.clone(),
                    prompt_unload: Some(false),
                }));
                self.observer.page_refused(opener);
                return;
            }
            pages.opened_by_pages.insert(id.clone());
        }
        let page = BidiPage::new(self.itself.clone(), self.root.clone(), &info.context);
        browser.insert_frame(FrameId::from(&info.context), page.clone());
        page.set_observer(self.observer.page_opened(page.clone(), opener));
        page.shows_first(&FrameId::from(&info.context), &info.url);
        self.pages().open.insert(id, page);
        self.bump();
    }

    pub(super) fn on_page_destroyed(&self, page: &BidiPage) {
        {
            let mut pages = self.pages();
            pages.open.remove(page.page_id());
            pages.opened_by_pages.remove(page.page_id());
        }
        page.on_closed();
        self.bump();
    }

    pub(super) fn on_browser_closed(&self) {
        let pages: Vec<_> = self.pages().open.drain().map(|(_, page)| page).collect();
        for page in pages {
            page.on_closed();
        }
        self.bump();
    }

    /// Whether an origin has not yet been granted what all are; it counts as granted from now on.
    pub(super) fn mark_granted(&self, origin: &str) -> bool {
        self.pages().granted.insert(origin.to_owned())
    }

    /// A page has come to an address: what all origins are granted, this one is too.
    pub(super) fn grant_to_visited(&self, address: &str) {
        if self.options().permissions.is_empty() {
            return;
        }
        let Some(context) = self.itself.upgrade() else {
            return;
        };
        let address = address.to_owned();
        task::spawn("permissions", async move {
            // The page asks for them in vain then, as it would anywhere else.
            if let Err(error) = context.grant_to(&address).await {
                tracing::debug!(%error, "permissions were not granted");
            }
        })
        .detach();
    }

    pub(super) fn take_granted_origins(&self) -> Vec<String> {
        self.pages().granted.drain().collect()
    }

    pub(super) fn open_pages(&self) -> Vec<Arc<BidiPage>> {
        self.pages().open.values().cloned().collect()
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bump(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Waits for something to be true; the end of the browser ends it.
    pub(super) async fn wait<T: Send>(
        &self,
        mut look: impl FnMut() -> Option<T> + Send,
    ) -> Result<T> {
        let mut changed = self.changed.subscribe();
        let mut closed = self.root.connection().closed();
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

    /// The pages that are open.
    pub(super) fn names(&self) -> HashSet<PageId> {
        self.pages().open.keys().cloned().collect()
    }
}

#[async_trait]
impl ContextBackend for BidiContext {
    async fn new_page(&self) -> Result<PageId> {
        let id = {
            let _creating = self.creating.lock().await;
            PageId::from(self.create(browsing_context::CreateType::Window).await?)
        };
        // It was told of before it was answered for; it may be gone again.
        self.root.flush().await?;
        match self.pages().open.contains_key(&id) {
            true => Ok(id),
            false => Err(Error::PageClosed {}),
        }
    }

    async fn cookies(&self) -> Result<Vec<Cookie>> {
        self.all_cookies().await
    }

    async fn set_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        self.store_cookies(cookies).await
    }

    async fn delete_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        self.delete_matching_cookies(cookies).await
    }

    async fn clear_cookies(&self) -> Result<()> {
        self.delete_all_cookies().await
    }

    async fn documents(&self) -> Result<Box<dyn OriginDocuments>> {
        Ok(Box::new(self.utility_page().await?))
    }

    async fn grant_permissions(&self, names: &[String], origin: Option<&str>) -> Result<()> {
        self.grant(names, origin).await
    }

    async fn clear_permissions(&self) -> Result<()> {
        self.revoke_permissions().await
    }

    async fn set_offline(&self, offline: bool) -> Result<()> {
        self.options().offline = offline;
        self.apply_offline().await
    }

    async fn set_throttling(&self, throttling: Throttling) -> Result<()> {
        if throttling == Throttling::default() {
            return Ok(());
        }
        super::REMOTE.require(Feature::Throttling)
    }

    async fn set_routes(&self, routes: Routes) -> Result<()> {
        self.options().routes = routes;
        self.browser()?.apply_interception().await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        self.options().extra_headers.clone_from(headers);
        self.apply_extra_headers().await
    }

    async fn set_geolocation(&self, geolocation: Option<Geolocation>) -> Result<()> {
        self.options().geolocation = geolocation;
        self.apply_geolocation().await
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.options().init_scripts.push(source.to_owned());
        self.send_init_script(source).await
    }

    async fn close(&self) -> Result<()> {
        if self.id == browser::DEFAULT {
            for page in self.open_pages() {
                // It may be gone already.
                let _ = self
                    .root
                    .call(&browsing_context::Close {
                        context: page.page_id().as_str().to_owned(),
                        prompt_unload: Some(false),
                    })
                    .await;
            }
        } else {
            self.root
                .call(&browser::RemoveUserContext {
                    user_context: self.id.clone(),
                })
                .await?;
        }
        self.wait(|| self.pages().open.is_empty().then_some(()))
            .await?;
        if let Ok(browser) = self.browser() {
            browser.forget(self);
            browser.apply_interception().await?;
        }
        Ok(())
    }
}

/// Tells all pages that a browser had of its end.
pub(super) fn report_browser_closed(browser: &Shared) {
    for context in browser.contexts() {
        context.on_browser_closed();
    }
}
