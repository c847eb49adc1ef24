//! WebKit as a whole: it starts a browser for each context.

use super::capabilities;
use super::context::WebDriverContext;
use super::starter::{Started, Starter};
use crate::backend::{
    BrowserBackend, Capabilities, ContextBackend, ContextObserver, ContextOptions, Feature,
};
use crate::error::Result;
use async_trait::async_trait;
use futures_util::future::join_all;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;

/// WebKit, of which each context is a process of its own.
pub(crate) struct WebDriverBrowser {
    starter: Box<dyn Starter>,
    product: String,
    has_inspector: bool,
    /// One that runs already, for the first context that asks for nothing special.
    first: Mutex<Option<Started>>,
    contexts: Mutex<Vec<Weak<WebDriverContext>>>,
    closed: watch::Sender<Option<String>>,
}

impl WebDriverBrowser {
    /// Starts one, to see whether it can be had and what it is.
    pub(crate) async fn start(starter: Box<dyn Starter>) -> Result<Arc<dyn BrowserBackend>> {
        let first = starter.start(&ContextOptions::default()).await?;
        Ok(Arc::new(Self {
            starter,
            product: first.product.clone(),
            has_inspector: first.inspector_channel.is_some(),
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

    fn contexts(&self) -> MutexGuard<'_, Vec<Weak<WebDriverContext>>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a context has to be said something of when its browser starts.
fn is_special(options: &ContextOptions) -> bool {
    options.locale.is_some()
        || options.timezone.is_some()
        || options.proxy.is_some()
        || options.ignore_https_errors
}

#[async_trait]
impl BrowserBackend for WebDriverBrowser {
    fn product(&self) -> &str {
        &self.product
    }

    fn capabilities(&self) -> &'static Capabilities {
        capabilities(self.has_inspector)
    }

    fn has_browser_per_context(&self) -> bool {
        true
    }

    async fn new_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>> {
        if !options.permissions.is_empty() {
            self.capabilities().require(Feature::Permission)?;
        }
        let started = self.started(options).await?;
        let context = WebDriverContext::start(started, options, observer).await?;
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
        // What a driver starts keeps nothing: there is no other kind of context.
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
