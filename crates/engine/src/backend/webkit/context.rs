//! A context: one driver, one browser, and its windows.

use super::CAPABILITIES;
use super::downloads::Downloads;
use super::driver::Driver;
use super::inspector::InspectorLink;
use super::page::{WebKitPage, WindowOwner};
use super::parts::ContextParts;
use super::starter::Started;
use crate::backend::registry::PageRegistry;
use crate::backend::{
    ContextBackend, ContextObserver, ContextOptions, EmulatedOption, Feature, Geolocation, Headers,
    OriginDocuments, PageId, Throttling,
};
use crate::error::{Error, Result};
use crate::launch::process::Process;
use crate::launch::source::{FileStager, Source};
use crate::routes::Routes;
use async_trait::async_trait;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;
use task::{self, Task};
use tokio::sync::watch;
use wire::webdriver::WebDriverSession;

use utility_page::UtilityPage;
use windows::Windows;

mod cookies;
pub(super) mod events;
mod permissions;
mod utility_page;
mod windows;

/// How long a browser may take to close by itself before it is killed.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a browser may take to answer pending commands before it is closed.
const IDLE_TIMEOUT: Duration = Duration::from_millis(200);
/// How long a page may take to report a download whose file is complete.
const DOWNLOAD_REPORT_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) struct WebKitContext {
    itself: Weak<Self>,
    session: WebDriverSession,
    pub(super) parts: Arc<ContextParts>,
    pub(super) observer: Arc<dyn ContextObserver>,
    pub(super) pages: PageRegistry<WebKitPage>,
    windows: Mutex<Windows>,
    sources: Vec<Arc<Source>>,
    /// Holds the reason once the browser is gone.
    closed: watch::Sender<Option<String>>,
    /// Held while a window is opened or closed: a new window is recognised by its handle being new.
    pub(super) creating: tokio::sync::Mutex<()>,
    tasks: OnceLock<Vec<Task>>,
}

impl WebKitContext {
    pub(super) async fn start(
        started: Started,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<Self>> {
        let session = started.session;
        let (extension, events) = InspectorLink::new(started.channel);
        let sources: Vec<_> = started.sources.into_iter().map(Arc::new).collect();
        let token = format!("playhouse:{}:", session.id());
        let parts = ContextParts {
            driver: Driver::new(session.clone()),
            extension,
            options: Mutex::new(options.clone()),
            files: sources.first().map(FileStager::new).unwrap_or_default(),
            downloads: Arc::new(Downloads::new(
                &observer,
                started.downloads,
                options.downloads.clone(),
                token.replace(':', ""),
            )),
            token,
            usage: Mutex::default(),
        };
        let closed = watch::Sender::new(None);
        let context = Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            session,
            parts: Arc::new(parts),
            observer,
            pages: PageRegistry::new(closed.subscribe()),
            windows: Mutex::default(),
            sources,
            closed,
            creating: tokio::sync::Mutex::default(),
            tasks: OnceLock::new(),
        });
        let creating = context.creating.lock().await;
        let mut tasks = InspectorLink::spawn_tasks(&context, events);
        for source in &context.sources {
            if let Source::Started(process) = &**source {
                let ended = on_process_exited(Arc::downgrade(&context), process.clone());
                tasks.push(task::spawn("browser's end", ended));
            }
        }
        if let Some(window) = context.parts.window_handles().await?.into_iter().next() {
            context.register_window(&window).await?;
            context.windows().spare = Some(window);
        }
        let downloads = context.parts.downloads.clone();
        let following = follow_downloads(Arc::downgrade(&context), downloads);
        tasks.push(task::spawn("downloads", following));
        // Set only here.
        let _ = context.tasks.set(tasks);
        drop(creating);
        Ok(context)
    }

    fn windows(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn itself(&self) -> Result<Arc<Self>> {
        self.itself.upgrade().ok_or(Error::PageClosed {})
    }

    /// Changes the options, and applies them to all pages. Fails without a change if this uses a feature that the browser lacks.
    async fn change_options(
        &self,
        feature: Feature,
        is_used: bool,
        change: impl FnOnce(&mut ContextOptions) + Send,
    ) -> Result<()> {
        CAPABILITIES.require_if(is_used, feature)?;
        change(&mut self.parts.options());
        for page in self.pages.open() {
            page.apply_options();
            page.flush_events().await?;
        }
        Ok(())
    }
}

/// Reports each file when it is complete.
async fn follow_downloads(context: Weak<WebKitContext>, downloads: Arc<Downloads>) {
    loop {
        let then = async {
            let Some(context) = context.upgrade() else {
                return;
            };
            // The response was reported before the file was written, but the event may not be handled yet.
            let last = context.parts.last_used();
            if let Some(page) = last.as_ref().and_then(|last| context.pages.get(last)) {
                let flushed =
                    tokio::time::timeout(DOWNLOAD_REPORT_TIMEOUT, page.flush_events()).await;
                tracing::debug!(?flushed, "a file has arrived");
            }
            downloads.poll(context.parts.last_used().as_ref());
        };
        downloads.wait(then).await;
    }
}

/// Closes a context when its browser or its driver exits.
async fn on_process_exited(context: Weak<WebKitContext>, process: Arc<Process>) {
    let reason = process.exit().await;
    if let Some(context) = context.upgrade() {
        context.on_browser_closed(&reason);
    }
}

#[async_trait]
impl ContextBackend for WebKitContext {
    async fn new_page(&self) -> Result<PageId> {
        if let Some(reason) = self.closed_reason() {
            return Err(Error::BrowserClosed { reason });
        }
        let _creating = self.creating.lock().await;
        let window = self.blank_window().await?;
        let page = self.adopt(&window, None).await?;
        page.poll_frames().await?;
        let viewport = self.parts.options().viewport.clone();
        if let Some(viewport) = viewport {
            page.fit(viewport.size).await?;
        }
        Ok(page.id.clone())
    }

    async fn documents(&self) -> Result<Box<dyn OriginDocuments>> {
        Ok(Box::new(UtilityPage::open(self.itself()?).await?))
    }

    async fn set_offline(&self, offline: bool) -> Result<()> {
        let change = |options: &mut ContextOptions| options.offline = offline;
        self.change_options(Feature::Offline, offline, change).await
    }

    async fn set_throttling(&self, throttling: Throttling) -> Result<()> {
        CAPABILITIES.require_if(throttling != Throttling::default(), Feature::Throttling)
    }

    async fn set_cpu_throttling(&self, rate: Option<f64>) -> Result<()> {
        CAPABILITIES.require_if(rate.is_some(), Feature::CpuThrottling)
    }

    async fn set_routes(&self, routes: Routes) -> Result<()> {
        let is_used = !routes.is_empty();
        let change = |options: &mut ContextOptions| options.routes = routes;
        self.change_options(Feature::Interception, is_used, change)
            .await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        let is_used = !headers.is_empty();
        let change = |options: &mut ContextOptions| options.extra_headers.clone_from(headers);
        self.change_options(Feature::ExtraHeaders, is_used, change)
            .await
    }

    async fn set_geolocation(&self, geolocation: Option<Geolocation>) -> Result<()> {
        CAPABILITIES.require_if(geolocation.is_some(), Feature::Geolocation)
    }

    async fn emulate(&self, wanted: &ContextOptions, changed: &[EmulatedOption]) -> Result<()> {
        let is_granted =
            changed.contains(&EmulatedOption::Permissions) && !wanted.permissions.is_empty();
        CAPABILITIES.require_if(is_granted, Feature::Permission)?;
        self.parts.options().copy_from(wanted, changed);
        if changed.contains(&EmulatedOption::UserAgent) {
            for page in self.pages.open() {
                page.apply_user_agent();
                page.flush_events().await?;
            }
        }
        Ok(())
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        let change = |options: &mut ContextOptions| options.init_scripts.push(source.to_owned());
        self.change_options(Feature::InitScripts, true, change)
            .await
    }

    fn closed_reason(&self) -> Option<String> {
        self.closed.borrow().clone()
    }

    async fn close(&self) -> Result<()> {
        let ending = async {
            // WebKitWebDriver crashes when its session is deleted while a script is running.
            let _idle = tokio::time::timeout(IDLE_TIMEOUT, self.parts.driver.wait_idle()).await;
            self.session.delete().await
        };
        // A browser that is gone already does not answer.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, ending).await;
        for source in &self.sources {
            source.end(Duration::ZERO, async {}).await;
        }
        for page in self.pages.open() {
            self.remove_window(&page);
        }
        Ok(())
    }
}
