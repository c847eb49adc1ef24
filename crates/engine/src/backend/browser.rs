//! The interface of a browser.

use super::{Capabilities, ContextBackend, ContextObserver, ContextOptions};
use crate::error::Result;
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// A browser process or a connection to one.
#[async_trait]
pub trait BrowserBackend: Send + Sync {
    /// Returns the name and version, e.g. `Chrome/156.0.8078.79`.
    fn product(&self) -> &str;

    /// Returns the supported features. Creating a context that requires another feature fails before it has any effect, and so does a later
    /// request for one.
    fn capabilities(&self) -> &'static Capabilities;

    /// Whether each context has a browser process of its own. The first context has the one that was started.
    fn has_browser_per_context(&self) -> bool {
        false
    }

    /// Returns the folder in which the engine keeps cookies and storage of the default context, because the browser keeps none itself.
    fn state_folder(&self) -> Option<PathBuf> {
        None
    }

    /// Opens an isolated context. Its pages are reported to `observer`.
    async fn new_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>>;

    /// Returns the context that the browser started with (a persistent profile, a running browser).
    async fn default_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>>;

    /// Returns a receiver of the reason for which the browser was closed.
    fn closed(&self) -> watch::Receiver<Option<String>>;

    /// Closes the browser, or disconnects from one that Playhouse did not start. Returns after all processes have ended.
    async fn close(&self) -> Result<()>;
}
