//! How a context gets a browser of its own.

use crate::backend::ContextOptions;
use crate::error::Result;
use crate::launch::process::Process;
use async_trait::async_trait;
use std::path::PathBuf;
use tokio::sync::mpsc;
use wire::webkit::{Automation, Event};

/// Starts browsers.
#[async_trait]
pub(crate) trait Starter: Send + Sync {
    /// Starts the browser of one context. Options that exist only at the start of a browser are set here.
    async fn start(&self, options: &ContextOptions) -> Result<Started>;

    /// Returns the folder of the profile, in which the engine keeps the state of the default context.
    fn profile(&self) -> Option<PathBuf>;

    /// Releases what the browsers shared. No browser is started afterwards, and those that were started have ended.
    async fn end(&self);
}

/// A browser that runs.
pub(crate) struct Started {
    pub(crate) automation: Automation,
    pub(crate) events: mpsc::Receiver<Event>,
    /// It ends with the context, and the context with it.
    pub(crate) process: Process,
    /// The folder for the browser's downloads.
    pub(crate) downloads: PathBuf,
}
