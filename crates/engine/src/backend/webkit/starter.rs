//! How a context gets a driver and a browser of its own.

use super::InspectorChannel;
use crate::backend::ContextOptions;
use crate::error::Result;
use crate::launch::source::Source;
use async_trait::async_trait;
use std::path::PathBuf;
use wire::webdriver::WebDriverSession;

/// Starts drivers and their browsers.
#[async_trait]
pub(crate) trait Starter: Send + Sync {
    /// Starts the browser of one context. Options that exist only at the start of a browser are set here.
    async fn start(&self, options: &ContextOptions) -> Result<Started>;

    /// Releases what the browsers shared. No browser is started afterwards, and those that were started have ended.
    async fn end(&self) {}
}

/// A driver and a browser that run.
pub(crate) struct Started {
    pub(crate) session: WebDriverSession,
    pub(crate) channel: InspectorChannel,
    /// The processes of the browser. They end with the context, and the context with any of them.
    pub(crate) sources: Vec<Source>,
    /// The folder for the browser's downloads.
    pub(crate) downloads: PathBuf,
    /// Name and version.
    pub(crate) product: String,
}
