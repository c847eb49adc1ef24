//! A browser context of Chromium: its pages as they come and go, its cookies and permissions.

use super::browser::Shared;
use super::page::CdpPage;
use super::utility_page::UtilityPage;
use super::{permissions, setup};
use crate::backend::{
    ContextBackend, ContextObserver, ContextOptions, Cookie, Geolocation, Headers, OriginDocuments,
    PageEvent, PageId, SameSite, Throttling,
};
use crate::error::{Error, Result};
use crate::origins::OriginRules;
use crate::routes::Routes;
use crate::task;
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use wire::Session;
use wire::cdp::{browser, fetch, network, runtime, storage, target};

use pages::{Pages, PagesState};

mod pages;

/// How long pages that are being prepared are waited for: one that hangs must not hang the others.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(3);
/// How long the browser may take to attach a page that it has opened.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) struct CdpContext {
    itself: Weak<Self>,
    root: Session,
    /// Forgets the context when it is closed.
    browser: Weak<Shared>,
    /// `None`: the context that the browser began with.
    id: Option<String>,
    user_agent: String,
    observer: Arc<dyn ContextObserver>,
    options: Mutex<ContextOptions>,
    pages: Arc<Pages>,
    /// Held while a page is created: until its name is known, it cannot be told from another.
    creating: tokio::sync::Mutex<()>,
}

impl CdpContext {
    pub(super) fn new(
        root: Session,
        browser: Weak<Shared>,
        id: Option<String>,
        user_agent: String,
        options: ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            root,
            browser,
            id,
            user_agent,
            observer,
            options: Mutex::new(options),
            pages: Arc::default(),
            creating: tokio::sync::Mutex::default(),
        })
    }

    pub(super) fn observer(&self) -> &Arc<dyn ContextObserver> {
        &self.observer
    }

    pub(super) fn downloads(&self) -> Option<PathBuf> {
        self.options().downloads.clone()
    }

    /// Which origins it may request; `None` for all.
    pub(super) fn rules(&self) -> Option<OriginRules> {
        let options = self.options();
        (!options.origins.is_empty()).then(|| options.origins.clone())
    }

    /// Sets what holds for the whole context, before its first page.
    pub(super) async fn prepare(&self) -> Result<()> {
        let options = self.options().clone();
        let downloads = (!options.is_anothers).then(|| {
            self.root.send(&browser::SetDownloadBehavior {
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
        // Chromium denies all others with what it grants.
        if !options.permissions.is_empty() || options.deny_other_permissions {
            self.grant_permissions(&options.permissions, None).await?;
        }
        if let Some(downloads) = downloads {
            downloads.await?;
        }
        if !options.origins.is_empty() {
            self.root
                .call(&fetch::Enable {
                    patterns: Some(vec![fetch::RequestPattern::default()]),
                    ..Default::default()
                })
                .await?;
        }
        Ok(())
    }

    pub(super) fn has_page(&self, target: &str) -> bool {
        let id = PageId::from(target);
        let pages = self.pages.state();
        pages.open.contains_key(&id) || pages.opening.contains_key(&id)
    }

    /// Waits until no page is being prepared, but for those that do not answer: they join in when they do.
    pub(super) async fn settle_pages(&self) {
        let prepared = self
            .pages
            .wait(|pages| pages.opening.is_empty().then_some(()));
        if tokio::time::timeout(PREPARE_TIMEOUT, prepared)
            .await
            .is_err()
        {
            tracing::debug!("some pages do not answer");
        }
    }

    pub(super) fn page_of_frame(&self, frame: &str) -> Option<PageId> {
        let pages = self.pages.state();
        let open = pages.open.values().find(|page| page.has_frame(frame));
        // A page that was opened for the download alone is not ready yet, or gone already; its main frame has its name.
        let named = PageId::from(frame);
        let passing = || {
            let known = pages.opening.contains_key(&named)
                || pages.gone.iter().any(|(gone, _)| *gone == named);
            known.then_some(named)
        };
        open.map(|page| page.page_id().clone()).or_else(passing)
    }

    /// A page appeared: prepares it, lets it run, and reports it.
    pub(super) fn page_attached(&self, session: Session, info: target::TargetInfo, new: bool) {
        if let (Some(withheld), None) = (&mut self.pages.state().withheld, &info.opener_id) {
            withheld.push((session, info));
            self.pages.bump();
            return;
        }
        let id = PageId::from(&info.target_id);
        let session_id = session.id().map(ToString::to_string).unwrap_or_default();
        let Some(events) = session.connection().take_events(&session_id) else {
            return;
        };
        let opener = info.opener_id.as_ref().map(PageId::from);
        if let Some(opener) = opener.as_ref().filter(|_| new)
            && !self.pages.state().admit_popup(&id)
        {
            // Whoever opened it stands still until it may run.
            drop(session.send(&runtime::RunIfWaitingForDebugger {}));
            drop(self.root.send(&target::CloseTarget {
                target_id: info.target_id,
            }));
            self.observer.page_refused(opener);
            return;
        }
        self.pages.state().opening.insert(id.clone(), session_id);
        let options = self.options().clone();
        let user_agent = self.user_agent.clone();
        let browser = self.browser.clone();
        let (observer, pages, root) =
            (self.observer.clone(), self.pages.clone(), self.root.clone());
        let target = info.target_id;
        task::spawn("page setup", async move {
            match setup::page(session, &target, browser, options, user_agent, events).await {
                Ok(prepared) => {
                    let page = prepared.page.clone();
                    let hears = observer.page_opened(page.clone(), opener);
                    prepared.listen(hears);
                    let mut pages = pages.state();
                    // Otherwise it went while it was prepared.
                    if pages.opening.remove(&id).is_some() {
                        pages.open.insert(id, page);
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "a page cannot be driven");
                    let mut pages = pages.state();
                    if pages.opening.remove(&id).is_some() {
                        pages.opened_by_pages.remove(&id);
                        pages.forget(id, Some(error));
                        drop(root.send(&target::CloseTarget { target_id: target }));
                    }
                }
            }
            pages.bump();
        })
        .detach();
    }

    /// A page of our own, which is not one of the context's pages.
    pub(super) async fn utility_page(&self) -> Result<UtilityPage> {
        let context = self.itself.upgrade().ok_or(Error::PageClosed {})?;
        // Given up half-way, it could not be told from a page of the user's; so it is made to the end, and then closed if nobody waits.
        let made = async move { context.create_utility_page().await };
        let made = task::run_to_completion("utility page", made).await;
        made.unwrap_or(Err(Error::PageClosed {}))
    }

    async fn create_utility_page(&self) -> Result<UtilityPage> {
        let _creating = self.creating.lock().await;
        self.pages.state().withheld = Some(Vec::new());
        let created = self.open_utility_target().await;
        let withheld = self.pages.state().withheld.take();
        let mut page = Err(Error::PageClosed {});
        for (session, info) in withheld.into_iter().flatten() {
            if created.as_ref().is_ok_and(|ours| *ours == info.target_id) {
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
        let attached = self.wait(|pages| {
            let mut withheld = pages.withheld.iter().flatten();
            withheld
                .any(|(_, info)| info.target_id == created)
                .then_some(())
        });
        match tokio::time::timeout(ATTACH_TIMEOUT, attached).await {
            Ok(attached) => attached?,
            Err(_) => {
                drop(self.root.send(&target::CloseTarget { target_id: created }));
                return Err(Error::Protocol {
                    method: "Target.createTarget".to_owned(),
                    message: "the browser does not attach a page that it has opened".to_owned(),
                });
            }
        }
        Ok(created)
    }

    async fn create_target(&self) -> Result<target::TargetId> {
        let created = self
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
        let gone = {
            let mut pages = self.pages.state();
            let open = pages
                .open
                .iter()
                .find(|(_, page)| page.is_session(session))
                .map(|(id, _)| id.clone());
            let opening = pages
                .opening
                .iter()
                .find(|(_, opening)| *opening == session)
                .map(|(id, _)| id.clone());
            let Some(id) = open.or(opening) else { return };
            pages.opening.remove(&id);
            pages.opened_by_pages.remove(&id);
            let page = pages.open.remove(&id);
            pages.forget(id, None);
            page
        };
        if let Some(page) = gone {
            page.report(PageEvent::Closed);
        }
        self.pages.bump();
    }

    pub(super) fn page_crashed(&self, target: &str) {
        let page = self.pages.state().open.get(&PageId::from(target)).cloned();
        if let Some(page) = page {
            page.report(PageEvent::Crashed);
        }
    }

    pub(super) fn on_browser_closed(&self) {
        let pages: Vec<_> = {
            let mut pages = self.pages.state();
            pages.opening.clear();
            pages.opened_by_pages.clear();
            pages.open.drain().map(|(_, page)| page).collect()
        };
        for page in pages {
            page.report(PageEvent::Closed);
        }
        self.pages.bump();
    }

    /// Waits for something to be true of the pages; the end of the browser ends it.
    async fn wait<T>(&self, look: impl FnMut(&PagesState) -> Option<T>) -> Result<T> {
        let mut closed = self.root.connection().closed();
        tokio::select! {
            biased;
            found = self.pages.wait(look) => Ok(found),
            reason = closed.wait_for(Option::is_some) => {
                let reason = reason.ok().and_then(|reason| reason.clone()).unwrap_or_default();
                Err(Error::BrowserClosed { reason })
            }
        }
    }

    fn options(&self) -> MutexGuard<'_, ContextOptions> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what holds for every page, now and later: first on record, then on each open page.
    async fn change(&self, change: impl FnOnce(&mut ContextOptions)) -> Result<Vec<Arc<CdpPage>>> {
        change(&mut self.options());
        self.settle_pages().await;
        let pages: Vec<_> = self.pages.state().open.values().cloned().collect();
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
        self.wait(|pages| {
            if pages.open.contains_key(&id) {
                return Some(Ok(()));
            }
            let (_, why) = pages.gone.iter().find(|(gone, _)| *gone == id)?;
            Some(Err(why.clone().unwrap_or(Error::PageClosed {})))
        })
        .await??;
        Ok(id)
    }

    async fn cookies(&self) -> Result<Vec<Cookie>> {
        let cookies = self
            .root
            .call(&storage::GetCookies {
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(cookies.cookies.into_iter().map(from_protocol).collect())
    }

    async fn set_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        self.root
            .call(&storage::SetCookies {
                cookies: cookies.iter().map(param).collect(),
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(())
    }

    async fn delete_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        let all = self
            .root
            .call(&storage::GetCookies {
                browser_context_id: self.id.clone(),
            })
            .await?;
        let expired = all.cookies.into_iter().filter_map(|cookie| {
            let partition_key = cookie.partition_key.clone();
            let cookie = from_protocol(cookie);
            cookies.contains(&cookie).then(|| network::CookieParam {
                // The browser drops a cookie that is set with a time in the past.
                expires: Some(1.0),
                partition_key,
                ..param(&cookie)
            })
        });
        self.root
            .call(&storage::SetCookies {
                cookies: expired.collect(),
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(())
    }

    async fn clear_cookies(&self) -> Result<()> {
        self.root
            .call(&storage::ClearCookies {
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(())
    }

    async fn documents(&self) -> Result<Box<dyn OriginDocuments>> {
        Ok(Box::new(self.utility_page().await?))
    }

    async fn grant_permissions(&self, names: &[String], origin: Option<&str>) -> Result<()> {
        self.root
            .call(&browser::GrantPermissions {
                permissions: permissions::permission_name(names)?,
                origin: origin.map(str::to_owned),
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(())
    }

    async fn clear_permissions(&self) -> Result<()> {
        self.root
            .call(&browser::ResetPermissions {
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(())
    }

    async fn set_offline(&self, offline: bool) -> Result<()> {
        for page in self.change(|options| options.offline = offline).await? {
            page.apply_network().await?;
        }
        Ok(())
    }

    async fn set_throttling(&self, throttling: Throttling) -> Result<()> {
        for page in self
            .change(|options| options.throttling = throttling)
            .await?
        {
            page.apply_network().await?;
        }
        Ok(())
    }

    async fn set_routes(&self, routes: Routes) -> Result<()> {
        for page in self.change(|options| options.routes = routes).await? {
            page.apply_interception().await?;
        }
        Ok(())
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        for page in self
            .change(|options| options.extra_headers = headers.clone())
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
                self.root
                    .call(&target::DisposeBrowserContext {
                        browser_context_id: id.clone(),
                    })
                    .await?;
            }
            None => {
                let open: Vec<_> = self.pages.state().open.keys().cloned().collect();
                let closing = open.iter().map(|page| {
                    self.root.send(&target::CloseTarget {
                        target_id: page.as_str().to_owned(),
                    })
                });
                for closed in closing.collect::<Vec<_>>() {
                    match closed.await {
                        // It is gone already.
                        Ok(_) | Err(wire::Error::Protocol { .. }) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
        self.wait(|pages| (pages.open.is_empty() && pages.opening.is_empty()).then_some(()))
            .await?;
        if let Some(browser) = self.browser.upgrade() {
            browser.forget(self);
        }
        Ok(())
    }
}

fn from_protocol(cookie: network::Cookie) -> Cookie {
    Cookie {
        name: cookie.name,
        value: cookie.value,
        domain: cookie.domain,
        path: cookie.path,
        expires: if cookie.session { -1.0 } else { cookie.expires },
        http_only: cookie.http_only,
        secure: cookie.secure,
        same_site: match cookie.same_site {
            Some(network::CookieSameSite::Strict) => Some(SameSite::Strict),
            Some(network::CookieSameSite::Lax) => Some(SameSite::Lax),
            Some(network::CookieSameSite::None) => Some(SameSite::None),
            // Chromium treats a cookie without the attribute as Lax.
            Some(network::CookieSameSite::Unknown) | None => Some(SameSite::Lax),
        },
    }
}

fn param(cookie: &Cookie) -> network::CookieParam {
    network::CookieParam {
        name: cookie.name.clone(),
        value: cookie.value.clone(),
        domain: Some(cookie.domain.clone()),
        path: Some(cookie.path.clone()),
        secure: Some(cookie.secure),
        http_only: Some(cookie.http_only),
        same_site: cookie.same_site.map(|rule| match rule {
            SameSite::Strict => network::CookieSameSite::Strict,
            SameSite::Lax => network::CookieSameSite::Lax,
            SameSite::None => network::CookieSameSite::None,
        }),
        expires: (cookie.expires >= 0.0).then_some(cookie.expires),
        ..Default::default()
    }
}
