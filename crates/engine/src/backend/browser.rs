//! What a browser must be able to do.

use super::{Capabilities, ContextBackend, ContextObserver, ContextOptions};
use crate::error::Result;
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::watch;

/// A browser process or a connection to one.
#[async_trait]
pub trait BrowserBackend: Send + Sync {
    /// Name and version, e.g. `Chrome/156.0.8078.79`.
    fn product(&self) -> &str;

    /// What the browser can do. A context that requires anything else is refused before it is created; a later request is refused with
    /// the same error before it has any effect.
    fn capabilities(&self) -> &'static Capabilities;

    /// Whether each context has a browser of its own; the first one is the one that was started.
    fn has_browser_per_context(&self) -> bool {
        false
    }

    /// Opens an isolated context; its pages are reported to `observer`.
    async fn new_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>>;

    /// Takes over the context that the browser began with (a persistent profile, a browser that runs elsewhere).
    async fn default_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>>;

    /// Holds the reason once the browser is gone.
    fn closed(&self) -> watch::Receiver<Option<String>>;

    /// Ends the browser (or, for one that runs elsewhere, leaves it) and waits until nothing of it is left.
    async fn close(&self) -> Result<()>;
}
