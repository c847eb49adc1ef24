//! A user context of Firefox: its pages and the settings of all of them.

use super::downloads::Downloads;
use super::page::BidiPage;
use super::page_index::PageIndex;
use super::parts::ContextParts;
use super::utility_page::{UtilityPage, UtilityPages};
use crate::backend::registry::PageRegistry;
use crate::backend::{
    ContextBackend, ContextObserver, ContextOptions, EmulatedOption, Feature, FrameId, Geolocation,
    Headers, OriginDocuments, PageBackend, PageId, Throttling,
};
use crate::error::{Error, Result};
use crate::routes::Routes;
use async_trait::async_trait;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use wire::bidi::{browser, browsing_context};

mod cookies;
mod creation;
mod emulation;
mod permissions;

pub(super) struct BidiContext {
    itself: Weak<Self>,
    parts: Arc<ContextParts>,
    page_index: Arc<PageIndex>,
    /// Called when the context is closed.
    on_closed: Box<dyn Fn(&str) + Send + Sync>,
    observer: Arc<dyn ContextObserver>,
    closed: AtomicBool,
    options: Mutex<ContextOptions>,
    pages: PageRegistry<BidiPage>,
    pub(super) downloads: Downloads,
    pub(super) utility_pages: Arc<UtilityPages>,
    /// Held while a page is created, because it cannot be identified before the response.
    creating: tokio::sync::Mutex<()>,
}

impl BidiContext {
    pub(super) fn new(
        parts: Arc<ContextParts>,
        page_index: Arc<PageIndex>,
        on_closed: Box<dyn Fn(&str) + Send + Sync>,
        options: ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Arc<Self> {
        let closed = parts.root.connection().closed();
        Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            parts,
            page_index,
            on_closed,
            observer,
            closed: AtomicBool::new(false),
            options: Mutex::new(options),
            pages: PageRegistry::new(closed),
            downloads: Downloads::default(),
            utility_pages: Arc::default(),
            creating: tokio::sync::Mutex::default(),
        })
    }

    /// Turns interception for the context on or off.
    async fn set_interception(&self, on: bool) -> Result<()> {
        let is_open = || !self.closed.load(Ordering::SeqCst);
        let switch = &self.parts.interception;
        switch.set(&self.parts.id, on, is_open).await
    }

    /// Returns the identifier of the context for commands.
    fn ids(&self) -> Vec<String> {
        vec![self.parts.id.clone()]
    }

    pub(super) fn observer(&self) -> &Arc<dyn ContextObserver> {
        &self.observer
    }

    pub(super) fn options(&self) -> MutexGuard<'_, ContextOptions> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn routes(&self) -> Routes {
        self.options().routes.clone()
    }

    /// Reports a page that was created, unless it is a utility page.
    pub(super) fn on_page_created(&self, info: &browsing_context::Info) {
        if self.utility_pages.withhold(info) {
            return;
        }
        let id = PageId::from(&info.context);
        let opener = info.original_opener.as_ref().map(PageId::from);
        if let Some(opener) = &opener
            && !self.pages.pages().admit_popup(&id)
        {
            self.parts.root.post(&browsing_context::Close {
                context: info.context.clone(),
                prompt_unload: Some(false),
            });
            self.observer.page_refused(opener);
            return;
        }
        let viewport = self.options().viewport.clone();
        let page = BidiPage::new(self.parts.clone(), viewport, &info.context);
        self.page_index.insert(&info.context, page.clone());
        page.set_observer(self.observer.page_opened(page.clone(), opener));
        page.shows_first(&FrameId::from(&info.context), &info.url);
        self.pages.insert(id, page);
    }

    pub(super) fn on_page_destroyed(&self, page: &BidiPage) {
        self.pages.remove(page.id(), BidiPage::on_closed);
    }

    pub(super) fn on_browser_closed(&self) {
        self.pages.clear(BidiPage::on_closed);
    }

    /// Grants the origin of a URL the permissions of all origins.
    pub(super) fn grant_to_visited(&self, address: &str) {
        if self.parts.grants.is_empty() {
            return;
        }
        let parts = self.parts.clone();
        let address = address.to_owned();
        task::spawn("permissions", async move {
            // Without the grant, the permission is requested as in any other page.
            if let Err(error) = parts.grants.grant_to_visited(&address).await {
                tracing::debug!(%error, "permissions were not granted");
            }
        })
        .detach();
    }

    /// Opens a utility page.
    async fn utility_page(&self) -> Result<UtilityPage> {
        let context = self.itself.upgrade().ok_or(Error::PageClosed {})?;
        // A creation that is cancelled could not be distinguished from a page of the user. It is completed, and the page is closed if it is not needed.
        let made = task::run_to_completion("utility page", context.create_utility_page()).await;
        made.unwrap_or(Err(Error::PageClosed {}))
    }

    async fn create_utility_page(self: Arc<Self>) -> Result<UtilityPage> {
        let _creating = self.creating.lock().await;
        self.utility_pages.expect();
        let created = self.create(browsing_context::CreateType::Tab).await;
        if created.is_ok() {
            // The event of the page precedes the response.
            self.parts.root.flush().await?;
        }
        let own = created.as_ref().ok();
        for info in self.utility_pages.take_appeared(own) {
            if own != Some(&info.context) {
                self.on_page_created(&info);
            }
        }
        UtilityPage::open(
            self.parts.root.clone(),
            self.utility_pages.clone(),
            created?,
        )
        .await
    }
}

#[async_trait]
impl ContextBackend for BidiContext {
    async fn new_page(&self) -> Result<PageId> {
        let id = {
            let _creating = self.creating.lock().await;
            PageId::from(self.create(browsing_context::CreateType::Window).await?)
        };
        // The event of the page precedes the response. The page may be closed already.
        self.parts.root.flush().await?;
        match self.pages.get(&id) {
            Some(_) => Ok(id),
            None => Err(Error::PageClosed {}),
        }
    }

    async fn documents(&self) -> Result<Box<dyn OriginDocuments>> {
        Ok(Box::new(self.utility_page().await?))
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

    async fn set_cpu_throttling(&self, rate: Option<f64>) -> Result<()> {
        super::CAPABILITIES.require_if(rate.is_some(), Feature::CpuThrottling)
    }

    async fn set_routes(&self, routes: Routes) -> Result<()> {
        let any = !routes.is_empty();
        self.options().routes = routes;
        self.set_interception(any).await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        self.options().extra_headers.clone_from(headers);
        self.apply_extra_headers().await
    }

    async fn set_geolocation(&self, geolocation: Option<Geolocation>) -> Result<()> {
        self.options().geolocation = geolocation;
        self.apply_geolocation().await
    }

    async fn emulate(&self, wanted: &ContextOptions, changed: &[EmulatedOption]) -> Result<()> {
        let options = {
            let mut options = self.options();
            options.copy_from(wanted, changed);
            options.clone()
        };
        self.apply_changes(&options, changed).await
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.options().init_scripts.push(source.to_owned());
        self.send_init_script(source).await
    }

    async fn close(&self) -> Result<()> {
        if self.parts.id == browser::DEFAULT {
            for page in self.pages.open() {
                // The user context may not exist any more.
                let _ = self
                    .parts
                    .root
                    .call(&browsing_context::Close {
                        context: page.id().as_str().to_owned(),
                        prompt_unload: Some(false),
                    })
                    .await;
            }
        } else {
            self.parts
                .root
                .call(&browser::RemoveUserContext {
                    user_context: self.parts.id.clone(),
                })
                .await?;
        }
        self.pages.wait_until_empty().await?;
        (self.on_closed)(&self.parts.id);
        self.closed.store(true, Ordering::SeqCst);
        self.set_interception(false).await
    }
}
