//! A context: one driver, one browser, and the windows in it as they come and go.

use super::downloads::Downloads;
use super::driver::Driver;
use super::inspector::InspectorLink;
use super::page::WebDriverPage;
use super::parts::ContextParts;
use super::starter::Started;
use crate::backend::registry::PageRegistry;
use crate::backend::{
    ContextBackend, ContextObserver, ContextOptions, Feature, Geolocation, Headers,
    OriginDocuments, PageBackend, PageId, Throttling,
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
mod events;
mod permissions;
mod utility_page;
mod windows;

/// How long a browser may take to close by itself before it is killed.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);
/// How long it may take before that to answer what it was asked.
const IDLE_TIMEOUT: Duration = Duration::from_millis(200);
/// How long what a page says of its download is waited for, once the file is there.
const DOWNLOAD_REPORT_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) struct WebDriverContext {
    itself: Weak<Self>,
    session: WebDriverSession,
    parts: Arc<ContextParts>,
    observer: Arc<dyn ContextObserver>,
    pages: PageRegistry<WebDriverPage>,
    windows: Mutex<Windows>,
    sources: Vec<Arc<Source>>,
    /// Why the browser is gone, once it is.
    closed: watch::Sender<Option<String>>,
    /// Held while a window is opened or closed: until its name is known, it cannot be told from another.
    creating: tokio::sync::Mutex<()>,
    tasks: OnceLock<Vec<Task>>,
}

impl WebDriverContext {
    pub(super) async fn start(
        started: Started,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<Self>> {
        let session = started.session;
        let (inspector, events) = started.inspector_channel.map(InspectorLink::new).unzip();
        let sources: Vec<_> = started.sources.into_iter().map(Arc::new).collect();
        let granted = |source: &&Arc<Source>| matches!(***source, Source::Granted(_));
        let files = sources.iter().find(granted).or(sources.first());
        let token = format!("playhouse:{}:", session.id());
        let parts = ContextParts {
            driver: Driver::new(session.clone()),
            inspector,
            options: Mutex::new(options.clone()),
            files: files.map(FileStager::new).unwrap_or_default(),
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
        let mut tasks = Vec::new();
        if let Some(events) = events {
            let listening = events::listen(Arc::downgrade(&context), events);
            tasks.push(task::spawn("pages' events", listening));
        }
        for source in &context.sources {
            if let Source::Started(process) = &**source {
                let ended = on_process_exited(Arc::downgrade(&context), process.clone());
                tasks.push(task::spawn("browser's end", ended));
            }
        }
        if let Some(inspector) = &context.parts.inspector {
            let over = on_inspector_closed(Arc::downgrade(&context), inspector.closed());
            tasks.push(task::spawn("inspector's end", over));
        }
        if let Some(window) = context.parts.window_handles().await?.into_iter().next() {
            let target = context.new_target().await?;
            let mut windows = context.windows();
            windows.handles.insert(window.clone());
            windows.targets.extend(target);
            windows.spare = Some((window, target));
        }
        let following = windows::follow(Arc::downgrade(&context));
        tasks.push(task::spawn("windows", following));
        let downloads = context.parts.downloads.clone();
        let following = follow_downloads(Arc::downgrade(&context), downloads);
        tasks.push(task::spawn("downloads", following));
        // Set once, here.
        let _ = context.tasks.set(tasks);
        Ok(context)
    }

    fn windows(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn itself(&self) -> Result<Arc<Self>> {
        self.itself.upgrade().ok_or(Error::PageClosed {})
    }

    /// The browser has gone, and everything of it.
    fn on_closed(&self, reason: &str) {
        self.closed.send_if_modified(|known| {
            let first = known.is_none();
            if first {
                *known = Some(reason.to_owned());
            }
            first
        });
        for page in self.pages.open() {
            self.remove_window(&page);
        }
    }

    /// Pauses requests in all pages where that is wanted.
    async fn apply_interception(&self) -> Result<()> {
        for page in self.pages.open() {
            page.apply_interception();
            page.flush_events().await?;
        }
        Ok(())
    }
}

/// Reports each file when it is there.
async fn follow_downloads(context: Weak<WebDriverContext>, downloads: Arc<Downloads>) {
    loop {
        let then = async {
            let Some(context) = context.upgrade() else {
                return;
            };
            // Whose file it is was said before it was written; it may not be heard yet.
            let last = context.parts.last_used();
            if let Some(page) = last.as_ref().and_then(|last| context.pages.get(last)) {
                let heard =
                    tokio::time::timeout(DOWNLOAD_REPORT_TIMEOUT, page.flush_events()).await;
                tracing::debug!(?heard, "a file has arrived");
            }
            downloads.poll(context.parts.last_used().as_ref());
        };
        downloads.wait(then).await;
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
        context.on_closed(&reason.unwrap_or_default());
    }
}

/// A browser or a driver that ends takes everything with it.
async fn on_process_exited(context: Weak<WebDriverContext>, process: Arc<Process>) {
    let reason = process.exit().await;
    if let Some(context) = context.upgrade() {
        context.on_closed(&reason);
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
        Ok(Box::new(UtilityPage::open(self.itself()?).await?))
    }

    async fn set_offline(&self, offline: bool) -> Result<()> {
        if offline {
            self.parts.capabilities().require(Feature::Offline)?;
        }
        self.parts.options().offline = offline;
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
            self.parts.capabilities().require(Feature::Interception)?;
        }
        self.parts.options().routes = routes;
        self.apply_interception().await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        if !headers.is_empty() {
            self.parts.capabilities().require(Feature::ExtraHeaders)?;
        }
        self.parts.options().extra_headers.clone_from(headers);
        for page in self.pages.open() {
            page.apply_headers();
            page.flush_events().await?;
        }
        Ok(())
    }

    async fn set_geolocation(&self, geolocation: Option<Geolocation>) -> Result<()> {
        match geolocation {
            None => Ok(()),
            Some(_) => self.parts.capabilities().require(Feature::Geolocation),
        }
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.parts.capabilities().require(Feature::InitScripts)?;
        self.parts.options().init_scripts.push(source.to_owned());
        for page in self.pages.open() {
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
            let _resting = tokio::time::timeout(IDLE_TIMEOUT, self.parts.driver.wait_idle()).await;
            self.session.delete().await
        };
        // It may be gone already; then there is nothing to ask.
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
