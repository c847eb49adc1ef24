//! WebKit as a whole: it starts a browser for each context.

use super::CAPABILITIES;
use super::context::WebKitContext;
use super::starter::{Started, Starter};
use crate::backend::{
    BrowserBackend, Capabilities, ContextBackend, ContextObserver, ContextOptions, Feature,
};
use crate::error::Result;
use async_trait::async_trait;
use futures_util::future::join_all;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;

/// WebKit, of which each context is a process of its own.
pub(crate) struct WebKitBrowser {
    starter: Box<dyn Starter>,
    product: String,
    /// The browser that is running already, for the first context without special options.
    first: Mutex<Option<Started>>,
    contexts: Mutex<Vec<Weak<WebKitContext>>>,
    closed: watch::Sender<Option<String>>,
}

impl WebKitBrowser {
    /// Starts the browser of the first context, which shows whether it can be started, and its version.
    pub(crate) async fn start(starter: impl Starter + 'static) -> Result<Arc<dyn BrowserBackend>> {
        let first = starter.start(&ContextOptions::default()).await?;
        Ok(Arc::new(Self {
            starter: Box::new(starter),
            product: format!("WebKit/{}", first.automation.version()),
            first: Mutex::new(Some(first)),
            contexts: Mutex::default(),
            closed: watch::Sender::new(None),
        }))
    }

    async fn started(&self, options: &ContextOptions) -> Result<Started> {
        if !is_special(options) {
            let first = self.first().take();
            if let Some(first) = first {
                return Ok(first);
            }
        }
        self.starter.start(options).await
    }

    fn first(&self) -> MutexGuard<'_, Option<Started>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn contexts(&self) -> MutexGuard<'_, Vec<Weak<WebKitContext>>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a context has options that are set when its browser starts.
fn is_special(options: &ContextOptions) -> bool {
    options.locale.is_some()
        || options.timezone.is_some()
        || options.proxy.is_some()
        || options.ignore_https_errors
}

#[async_trait]
impl BrowserBackend for WebKitBrowser {
    fn product(&self) -> &str {
        &self.product
    }

    fn capabilities(&self) -> &'static Capabilities {
        &CAPABILITIES
    }

    fn has_browser_per_context(&self) -> bool {
        true
    }

    fn state_folder(&self) -> Option<PathBuf> {
        self.starter.profile()
    }

    async fn new_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>> {
        let uses_permissions = !options.permissions.is_empty();
        CAPABILITIES.require_if(uses_permissions, Feature::Permission)?;
        let started = self.started(options).await?;
        let context = WebKitContext::start(started, options, observer).await?;
        let mut contexts = self.contexts();
        contexts.retain(|known| known.strong_count() > 0);
        contexts.push(Arc::downgrade(&context));
        Ok(context)
    }

    async fn default_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>> {
        // A browser under automation keeps no profile: the engine keeps one.
        self.new_context(options, observer).await
    }

    fn closed(&self) -> watch::Receiver<Option<String>> {
        self.closed.subscribe()
    }

    async fn close(&self) -> Result<()> {
        drop(self.first().take());
        let contexts = std::mem::take(&mut *self.contexts());
        let contexts = contexts.iter().filter_map(Weak::upgrade);
        let closing = contexts.map(|context| async move {
            let closed = context.close().await;
            tracing::debug!(?closed, "closed a context with its browser");
        });
        join_all(closing).await;
        self.starter.end().await;
        self.closed.send_replace(Some(String::new()));
        Ok(())
    }
}
