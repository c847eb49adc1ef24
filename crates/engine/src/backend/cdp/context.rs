//! A browser context of Chromium: its pages, cookies and permissions.

use super::page::workers::ContextWorkers;
use super::page::{CdpPage, ContextParts, setup};
use super::utility_page::UtilityPage;
use crate::backend::registry::PageRegistry;
use crate::backend::withheld::Withheld;
use crate::backend::{
    Capabilities, ContextBackend, ContextObserver, ContextOptions, EmulatedOption, Geolocation,
    Headers, OriginDocuments, PageBackend, PageEvent, PageId, Permissions, RunningWorker,
    Throttling, WorkerKind,
};
use crate::error::{Error, Result};
use crate::launch::source::FileStager;
use crate::origins::OriginRules;
use crate::routes::Routes;
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use wire::Session;
use wire::cdp::{browser, fetch, runtime, target};

mod cookies;
mod permissions;

/// The longest time to wait for pages that are being prepared. An unresponsive one must not block the others.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(3);
/// The longest time until the browser attaches to a page that it has opened.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(10);

/// The browser of a context.
pub(super) struct Host {
    pub(super) root: Session,
    pub(super) files: FileStager,
    pub(super) user_agent: String,
    pub(super) capabilities: &'static Capabilities,
}

pub(super) struct CdpContext {
    itself: Weak<Self>,
    host: Host,
    /// Called when the context is closed.
    on_closed: Box<dyn Fn(&Self) + Send + Sync>,
    /// The identifier; `None` for the default context.
    id: Option<String>,
    observer: Arc<dyn ContextObserver>,
    options: Mutex<ContextOptions>,
    pages: Arc<PageRegistry<CdpPage>>,
    workers: Arc<ContextWorkers>,
    withheld: Withheld<(Session, target::TargetInfo)>,
    /// Held while a page is created, because it cannot be identified before the response.
    creating: tokio::sync::Mutex<()>,
}

impl CdpContext {
    pub(super) fn new(
        host: Host,
        on_closed: Box<dyn Fn(&Self) + Send + Sync>,
        id: Option<String>,
        options: ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Arc<Self> {
        let pages = Arc::new(PageRegistry::new(host.root.connection().closed()));
        Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            host,
            on_closed,
            id,
            observer,
            options: Mutex::new(options),
            pages,
            workers: Arc::default(),
            withheld: Withheld::default(),
            creating: tokio::sync::Mutex::default(),
        })
    }

    pub(super) fn observer(&self) -> &Arc<dyn ContextObserver> {
        &self.observer
    }

    pub(super) fn downloads(&self) -> Option<PathBuf> {
        self.options().downloads.clone()
    }

    /// Returns the rules about origins; `None` if all are allowed.
    pub(super) fn rules(&self) -> Option<OriginRules> {
        let options = self.options();
        (!options.origins.is_empty()).then(|| options.origins.clone())
    }

    /// Applies the settings of the whole context, before its first page.
    pub(super) async fn prepare(&self) -> Result<()> {
        let options = self.options().clone();
        let downloads = (!options.is_anothers).then(|| {
            self.host.root.send(&browser::SetDownloadBehavior {
                behavior: match options.downloads {
                    Some(_) => browser::DownloadBehavior::AllowAndName,
                    None => browser::DownloadBehavior::Deny,
                },
                browser_context_id: self.id.clone(),
                download_path: options
                    .downloads
                    .as_ref()
                    .map(|path| path.display().to_string()),
                events_enabled: Some(true),
            })
        });
        // Granting permissions makes Chromium deny all others.
        if !options.permissions.is_empty() || options.deny_other_permissions {
            self.grant_permissions(&options.permissions, None).await?;
        }
        if let Some(downloads) = downloads {
            downloads.await?;
        }
        if !options.origins.is_empty() {
            self.host
                .root
                .call(&fetch::Enable {
                    patterns: Some(vec![fetch::RequestPattern::default()]),
                    ..Default::default()
                })
                .await?;
        }
        Ok(())
    }

    pub(super) fn has_page(&self, target: &str) -> bool {
        self.pages.pages().contains(&PageId::from(target))
    }

    /// Waits until no page is being prepared, except for unresponsive ones, which are reported when they respond.
    pub(super) async fn settle_pages(&self) {
        let prepared = self.pages.wait(|pages| pages.is_settled().then_some(()));
        if tokio::time::timeout(PREPARE_TIMEOUT, prepared)
            .await
            .is_err()
        {
            tracing::debug!("some pages do not answer");
        }
    }

    pub(super) fn page_of_frame(&self, frame: &str) -> Option<PageId> {
        let pages = self.pages.pages();
        let open = pages.open().find(|(_, page)| page.has_frame(frame));
        // A page that was opened only for the download is not ready yet or closed already. Its identifier is that of its main frame.
        let named = PageId::from(frame);
        let passing = || {
            let exists = pages.contains(&named) || pages.is_gone(&named);
            exists.then_some(named)
        };
        open.map(|(id, _)| id.clone()).or_else(passing)
    }

    /// Prepares a page that was attached, lets it run, and reports it.
    pub(super) fn page_attached(&self, session: Session, info: target::TargetInfo, new: bool) {
        if info.opener_id.is_some() {
            return self.on_page_attached(session, info, new);
        }
        match self.withheld.withhold((session, info)) {
            Some((session, info)) => self.on_page_attached(session, info, new),
            None => self.pages.changes.notify(),
        }
    }

    fn on_page_attached(&self, session: Session, info: target::TargetInfo, new: bool) {
        let id = PageId::from(&info.target_id);
        let session_id = session.id().map(ToString::to_string).unwrap_or_default();
        let Some(events) = session.connection().take_events(&session_id) else {
            return;
        };
        let opener = info.opener_id.as_ref().map(PageId::from);
        if let Some(opener) = opener.as_ref().filter(|_| new)
            && !self.pages.pages().admit_popup(&id)
        {
            // The opener is paused until the page may run.
            session.post(&runtime::RunIfWaitingForDebugger {});
            self.host.root.post(&target::CloseTarget {
                target_id: info.target_id,
            });
            self.observer.page_refused(opener);
            return;
        }
        self.pages.pages().begin(id.clone(), session_id);
        let parts = self.parts();
        let (observer, pages, root) = (
            self.observer.clone(),
            self.pages.clone(),
            self.host.root.clone(),
        );
        let target = info.target_id;
        task::spawn("page setup", async move {
            match setup::page(session, &target, parts, events).await {
                Ok(prepared) => {
                    let page = prepared.page.clone();
                    let hears = observer.page_opened(page.clone(), opener);
                    prepared.listen(hears);
                    pages.pages().finish(&id, page);
                }
                Err(error) => {
                    tracing::debug!(%error, "a page cannot be driven");
                    if pages.pages().fail(&id, error) {
                        root.post(&target::CloseTarget { target_id: target });
                    }
                }
            }
            pages.changes.notify();
        })
        .detach();
    }

    /// Returns what the pages and workers of the context have from it.
    fn parts(&self) -> ContextParts {
        ContextParts {
            files: self.host.files.clone(),
            options: self.options().clone(),
            user_agent: self.host.user_agent.clone(),
            workers: Arc::downgrade(&self.workers),
        }
    }

    pub(super) fn has_worker(&self, target: &str) -> bool {
        self.workers.contains(target)
    }

    /// Prepares a shared or service worker that was attached, lets it run, and reports it.
    pub(super) fn worker_attached(
        &self,
        session: Session,
        info: target::TargetInfo,
        kind: WorkerKind,
    ) {
        let worker = RunningWorker {
            id: info.target_id.into(),
            kind,
            url: info.url.into(),
        };
        let observer = self.observer.worker_started(&worker);
        self.workers.add(session, worker, self.parts(), observer);
    }

    pub(super) fn worker_detached(&self, session: &str) {
        self.workers.remove(session);
    }

    /// Opens a utility page, which is not one of the context's pages.
    pub(super) async fn utility_page(&self) -> Result<UtilityPage> {
        let context = self.itself.upgrade().ok_or(Error::PageClosed {})?;
        // A creation that is cancelled could not be distinguished from a page of the user. It is completed, and the page is closed if it is not needed.
        let made = async move { context.create_utility_page().await };
        let made = task::run_to_completion("utility page", made).await;
        made.unwrap_or(Err(Error::PageClosed {}))
    }

    async fn create_utility_page(&self) -> Result<UtilityPage> {
        let _creating = self.creating.lock().await;
        self.withheld.begin();
        let created = self.open_utility_target().await;
        let withheld = self.withheld.end();
        let mut page = Err(Error::PageClosed {});
        for (session, info) in withheld {
            if created.as_ref().is_ok_and(|own| *own == info.target_id) {
                page = UtilityPage::take_over(session, info.target_id).ok_or(Error::PageClosed {});
            } else {
                self.page_attached(session, info, true);
            }
        }
        created.and(page)
    }

    /// Opens a page and waits until it was attached.
    async fn open_utility_target(&self) -> Result<target::TargetId> {
        let created = self.create_target().await?;
        let is_it = |(_, info): &(Session, target::TargetInfo)| info.target_id == created;
        let attached = self.pages.wait(|_| self.withheld.any(is_it).then_some(()));
        match tokio::time::timeout(ATTACH_TIMEOUT, attached).await {
            Ok(attached) => attached?,
            Err(_) => {
                self.host
                    .root
                    .post(&target::CloseTarget { target_id: created });
                return Err(Error::protocol(
                    "Target.createTarget",
                    "the browser does not attach a page that it has opened",
                ));
            }
        }
        Ok(created)
    }

    async fn create_target(&self) -> Result<target::TargetId> {
        let created = self
            .host
            .root
            .call(&target::CreateTarget {
                url: "about:blank".to_owned(),
                browser_context_id: self.id.clone(),
                ..Default::default()
            })
            .await?;
        Ok(created.target_id)
    }

    pub(super) fn page_detached(&self, session: &str) {
        let id = {
            let pages = self.pages.pages();
            let open = pages.open().find(|(_, page)| page.is_session(session));
            let found = open.map(|(id, _)| id);
            found.or_else(|| pages.opening_in(session)).cloned()
        };
        if let Some(id) = id {
            self.pages
                .remove(&id, |page| page.report(PageEvent::Closed));
        }
    }

    pub(super) fn page_crashed(&self, target: &str) {
        if let Some(page) = self.pages.get(&PageId::from(target)) {
            page.report(PageEvent::Crashed);
        }
    }

    pub(super) fn on_browser_closed(&self) {
        self.pages.clear(|page| page.report(PageEvent::Closed));
    }

    fn options(&self) -> MutexGuard<'_, ContextOptions> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a setting of all requests: like [`Self::change`], and that of each shared and service worker.
    async fn change_requests(
        &self,
        change: impl FnOnce(&mut ContextOptions),
    ) -> Result<Vec<Arc<CdpPage>>> {
        let mut all = self.change(change).await?;
        let options = self.options().clone();
        for worker in self.workers.all() {
            worker.set_context_options(options.clone());
            all.push(worker);
        }
        Ok(all)
    }

    /// Changes a setting of all pages: first the stored one, then that of each open page.
    async fn change(&self, change: impl FnOnce(&mut ContextOptions)) -> Result<Vec<Arc<CdpPage>>> {
        change(&mut self.options());
        self.settle_pages().await;
        let pages = self.pages.open();
        let options = self.options().clone();
        for page in &pages {
            page.set_context_options(options.clone());
        }
        Ok(pages)
    }
}

#[async_trait]
impl ContextBackend for CdpContext {
    async fn new_page(&self) -> Result<PageId> {
        let id = {
            let _creating = self.creating.lock().await;
            PageId::from(self.create_target().await?)
        };
        self.pages.wait(|pages| pages.outcome(&id)).await??;
        Ok(id)
    }

    async fn documents(&self) -> Result<Box<dyn OriginDocuments>> {
        Ok(Box::new(self.utility_page().await?))
    }

    async fn set_offline(&self, offline: bool) -> Result<()> {
        for page in self
            .change_requests(|options| options.offline = offline)
            .await?
        {
            page.apply_network().await?;
        }
        Ok(())
    }

    async fn set_throttling(&self, throttling: Throttling) -> Result<()> {
        for page in self
            .change_requests(|options| options.throttling = throttling)
            .await?
        {
            page.apply_network().await?;
        }
        Ok(())
    }

    async fn set_cpu_throttling(&self, rate: Option<f64>) -> Result<()> {
        for page in self.change(|options| options.cpu_throttling = rate).await? {
            page.apply_cpu_throttling().await?;
        }
        Ok(())
    }

    async fn set_routes(&self, routes: Routes) -> Result<()> {
        for page in self
            .change_requests(|options| options.routes = routes)
            .await?
        {
            page.apply_interception().await?;
        }
        Ok(())
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        for page in self
            .change_requests(|options| options.extra_headers = headers.clone())
            .await?
        {
            page.apply_extra_headers().await?;
        }
        Ok(())
    }

    async fn set_geolocation(&self, geolocation: Option<Geolocation>) -> Result<()> {
        for page in self
            .change(|options| options.geolocation = geolocation)
            .await?
        {
            page.apply_geolocation().await?;
        }
        Ok(())
    }

    async fn emulate(&self, wanted: &ContextOptions, changed: &[EmulatedOption]) -> Result<()> {
        if changed.contains(&EmulatedOption::Permissions) {
            // Granting permissions makes Chromium deny all others.
            if wanted.permissions.is_empty() && !wanted.deny_other_permissions {
                self.clear_permissions().await?;
            } else {
                self.grant_permissions(&wanted.permissions, None).await?;
            }
        }
        for page in self
            .change(|options| options.copy_from(wanted, changed))
            .await?
        {
            page.apply_emulation(changed).await?;
        }
        Ok(())
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        for page in self
            .change(|options| options.init_scripts.push(source.to_owned()))
            .await?
        {
            page.send_init_script(source).await?;
        }
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        match &self.id {
            Some(id) => {
                self.host
                    .root
                    .call(&target::DisposeBrowserContext {
                        browser_context_id: id.clone(),
                    })
                    .await?;
            }
            None => {
                let open = self.pages.open().into_iter();
                let closing = open.map(|page| {
                    self.host.root.send(&target::CloseTarget {
                        target_id: page.id().as_str().to_owned(),
                    })
                });
                for closed in closing.collect::<Vec<_>>() {
                    match closed.await {
                        // The target does not exist any more.
                        Ok(_) | Err(wire::Error::Protocol { .. }) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
        self.pages.wait_until_empty().await?;
        (self.on_closed)(self);
        Ok(())
    }
}
