//! How a context gets a driver and a browser of its own.

use crate::backend::ContextOptions;
use crate::error::Result;
use crate::launch::source::Source;
use async_trait::async_trait;
use std::path::PathBuf;
use tokio::sync::mpsc;
use wire::inspector::{Inspector, InspectorEvent, Relay};
use wire::webdriver::WebDriverSession;

/// Starts a driver and its browser.
#[async_trait]
pub(crate) trait Starter: Send + Sync {
    /// One that is a context of its own. What can only be said at its start is said then.
    async fn start(&self, options: &ContextOptions) -> Result<Started>;

    /// No more will be started, and those that were have ended.
    async fn end(&self) {}
}

/// A driver and a browser that run.
pub(crate) struct Started {
    pub(crate) session: WebDriverSession,
    /// What hears of its pages, where there is such a thing.
    pub(crate) inspector_channel: Option<InspectorChannel>,
    /// Where they come from. They end with the context, and it with them.
    pub(crate) sources: Vec<Source>,
    /// Where the browser puts what it downloads.
    pub(crate) downloads: Option<PathBuf>,
    /// Name and version.
    pub(crate) product: String,
}

/// A way to hear of a browser's pages.
pub(crate) struct InspectorChannel {
    pub(crate) inspector: Inspector,
    pub(crate) events: mpsc::Receiver<InspectorEvent>,
    pub(crate) relay: Relay,
}
