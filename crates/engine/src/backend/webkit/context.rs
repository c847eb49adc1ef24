//! A context: one browser, and its windows.

use super::CAPABILITIES;
use super::downloads::Downloads;
use super::page::{WebKitPage, WindowOwner};
use super::parts::ContextParts;
use super::starter::Started;
use super::targets::Targets;
use crate::backend::registry::PageRegistry;
use crate::backend::{
    ContextBackend, ContextObserver, ContextOptions, EmulatedOption, Feature, Geolocation, Headers,
    OriginDocuments, PageId, Throttling,
};
use crate::error::{Error, Result};
use crate::launch::process::Process;
use crate::routes::Routes;
use async_trait::async_trait;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;
use task::{self, Task};
use tokio::sync::watch;
use uuid::Uuid;

use utility_page::UtilityPage;
use windows::Windows;

mod cookies;
mod events;
mod permissions;
mod utility_page;
mod windows;

/// How long a page may take to report a download whose file is complete.
const DOWNLOAD_REPORT_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) struct WebKitContext {
    itself: Weak<Self>,
    pub(super) parts: Arc<ContextParts>,
    observer: Arc<dyn ContextObserver>,
    pages: PageRegistry<WebKitPage>,
    windows: Mutex<Windows>,
    process: Arc<Process>,
    /// Holds the reason once the browser is gone.
    closed: watch::Sender<Option<String>>,
    /// Held while a window is opened or closed: a new window is recognised by its handle being new.
    creating: tokio::sync::Mutex<()>,
    tasks: OnceLock<Vec<Task>>,
}

impl WebKitContext {
    pub(super) async fn start(
        started: Started,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<Self>> {
        let id = Uuid::new_v4();
        let browser_closed = started.automation.closed();
        let parts = ContextParts {
            targets: Targets::new(started.automation),
            options: Mutex::new(options.clone()),
            downloads: Arc::new(Downloads::new(
                &observer,
                started.downloads,
                options.downloads.clone(),
                format!("playhouse{id}"),
            )),
            token: format!("playhouse:{id}:"),
            usage: Mutex::default(),
            acting: Arc::default(),
            input: Mutex::default(),
        };
        let closed = watch::Sender::new(None);
        let process = Arc::new(started.process);
        let context = Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            parts: Arc::new(parts),
            observer,
            pages: PageRegistry::new(closed.subscribe()),
            windows: Mutex::default(),
            process: process.clone(),
            closed,
            creating: tokio::sync::Mutex::default(),
            tasks: OnceLock::new(),
        });
        let weak = || Arc::downgrade(&context);
        let creating = context.creating.lock().await;
        let downloads = context.parts.downloads.clone();
        let tasks = vec![
            task::spawn("pages' events", events::follow(weak(), started.events)),
            task::spawn(
                "connection's end",
                events::follow_end(weak(), browser_closed),
            ),
            task::spawn("browser's end", on_process_exited(weak(), process)),
            task::spawn("windows", windows::follow(weak())),
            task::spawn("downloads", follow_downloads(weak(), downloads)),
        ];
        // Set only here.
        let _ = context.tasks.set(tasks);
        context.open_spare_window().await?;
        drop(creating);
        Ok(context)
    }

    fn windows(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn itself(&self) -> Result<Arc<Self>> {
        self.itself.upgrade().ok_or(Error::PageClosed {})
    }

    /// Removes all pages, because the browser is gone.
    fn on_browser_closed(&self, reason: &str) {
        self.closed.send_if_modified(|known| {
            let is_first = known.is_none();
            known.get_or_insert_with(|| reason.to_owned());
            is_first
        });
        for page in self.pages.open() {
            self.remove_window(&page);
        }
    }

    /// Changes the options, and applies them to all pages.
    async fn change_options(&self, change: impl FnOnce(&mut ContextOptions) + Send) -> Result<()> {
        change(&mut self.parts.options());
        for page in self.pages.open() {
            page.apply_interception();
            page.apply_headers();
            page.apply_scripts();
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
                let flushed = tokio::time::timeout(DOWNLOAD_REPORT_TIMEOUT, page.flush_events());
                let flushed = flushed.await;
                tracing::debug!(?flushed, "a file has arrived");
            }
            downloads.poll(context.parts.last_used().as_ref());
        };
        downloads.wait(then).await;
    }
}

/// Closes a context when its browser exits.
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
        self.change_options(|options| options.offline = offline)
            .await?;
        for page in self.pages.open() {
            page.apply_offline().await;
        }
        Ok(())
    }

    async fn set_throttling(&self, throttling: Throttling) -> Result<()> {
        CAPABILITIES.require_if(throttling != Throttling::default(), Feature::Throttling)
    }

    async fn set_cpu_throttling(&self, rate: Option<f64>) -> Result<()> {
        CAPABILITIES.require_if(rate.is_some(), Feature::CpuThrottling)
    }

    async fn set_routes(&self, routes: Routes) -> Result<()> {
        self.change_options(|options| options.routes = routes).await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        self.change_options(|options| options.extra_headers.clone_from(headers))
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
        if changed.contains(&EmulatedOption::HttpCredentials) {
            for page in self.pages.open() {
                page.apply_interception();
                page.flush_events().await?;
            }
        }
        if changed.contains(&EmulatedOption::UserAgent) {
            for page in self.pages.open() {
                page.apply_user_agent();
                page.flush_events().await?;
            }
        }
        Ok(())
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.change_options(|options| options.init_scripts.push(source.to_owned()))
            .await
    }

    fn uses(&self) -> u64 {
        self.parts.uses()
    }

    fn closed_reason(&self) -> Option<String> {
        self.closed.borrow().clone()
    }

    async fn close(&self) -> Result<()> {
        self.process.end(Duration::ZERO).await;
        for page in self.pages.open() {
            self.remove_window(&page);
        }
        Ok(())
    }
}
