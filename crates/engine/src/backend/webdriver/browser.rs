//! WebKit as a whole: it starts a browser for each context.

use super::context::{ContextExtension, WebDriverContext};
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
pub(crate) struct WebDriverBrowser<E: ContextExtension> {
    starter: Box<dyn Starter<E::Channel>>,
    product: String,
    /// The browser that is running already, for the first context without special options.
    first: Mutex<Option<Started<E::Channel>>>,
    contexts: Mutex<Vec<Weak<WebDriverContext<E>>>>,
    closed: watch::Sender<Option<String>>,
}

impl<E: ContextExtension> WebDriverBrowser<E> {
    /// Starts the browser of the first context, which shows whether it can be started, and its version.
    pub(crate) async fn start(
        starter: impl Starter<E::Channel> + 'static,
    ) -> Result<Arc<dyn BrowserBackend>> {
        let first = starter.start(&ContextOptions::default()).await?;
        Ok(Arc::new(Self {
            starter: Box::new(starter),
            product: first.product.clone(),
            first: Mutex::new(Some(first)),
            contexts: Mutex::default(),
            closed: watch::Sender::new(None),
        }))
    }

    async fn started(&self, options: &ContextOptions) -> Result<Started<E::Channel>> {
        if !is_special(options) {
            let first = self.first().take();
            if let Some(first) = first {
                return Ok(first);
            }
        }
        self.starter.start(options).await
    }

    fn first(&self) -> MutexGuard<'_, Option<Started<E::Channel>>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn contexts(&self) -> MutexGuard<'_, Vec<Weak<WebDriverContext<E>>>> {
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
impl<E: ContextExtension> BrowserBackend for WebDriverBrowser<E> {
    fn product(&self) -> &str {
        &self.product
    }

    fn capabilities(&self) -> &'static Capabilities {
        E::CAPABILITIES
    }

    fn has_browser_per_context(&self) -> bool {
        true
    }

    async fn new_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>> {
        let uses_permissions = !options.permissions.is_empty();
        E::CAPABILITIES.require_if(uses_permissions, Feature::Permission)?;
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
        // A browser that a driver starts keeps no profile, so all contexts are alike.
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
