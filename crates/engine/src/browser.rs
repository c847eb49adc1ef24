//! A browser: started by us or reached elsewhere.

mod network;

use crate::backend::{BrowserBackend, Capabilities, ContextBackend, ContextOptions};
use crate::context::{self, BrowserContext};
use crate::error::{Error, Result};
use crate::launch::{self, ConnectOptions, LaunchOptions};
use crate::progress::Progress;
use network::{ContextKind, Network};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How much longer than its caller a context that is being made may take, to be closed again.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// A running browser. Cheap to clone; when the last clone goes, a browser that we started is killed.
#[derive(Clone)]
pub struct Browser {
    backend: Arc<dyn BrowserBackend>,
    network: Arc<Network>,
}

impl std::fmt::Debug for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Browser").field(&self.product()).finish()
    }
}

impl Browser {
    /// Starts a browser. Fails with `LaunchFailed` (with the browser's last words) or `ProfileInUse`.
    pub async fn launch(progress: &Progress, options: &LaunchOptions) -> Result<Self> {
        let (network, options) = Network::of_launch(options).await?;
        let backend = launch::launch(progress, &options).await?;
        Ok(Self {
            backend,
            network: Arc::new(network),
        })
    }

    /// Reaches a browser that runs elsewhere, or has one made there. Fails with `ConnectFailed`.
    pub async fn connect(progress: &Progress, options: &ConnectOptions) -> Result<Self> {
        let backend = launch::connect(progress, options).await?;
        Ok(Self {
            backend,
            network: Arc::new(Network::remote()),
        })
    }

    /// Name and version, e.g. `Chrome/156.0.8078.79`.
    pub fn product(&self) -> &str {
        self.backend.product()
    }

    /// What it can do.
    pub fn capabilities(&self) -> &'static Capabilities {
        self.backend.capabilities()
    }

    /// Opens an isolated context. If the caller does not wait for it, nothing of it stays.
    pub async fn new_context(
        &self,
        progress: &Progress,
        options: ContextOptions,
    ) -> Result<BrowserContext> {
        let which = match self.backend.has_browser_per_context() {
            true => ContextKind::WithBrowser,
            false => ContextKind::New,
        };
        let (options, shared) = self.routed(which, options).await?;
        let (maker, made) = oneshot::channel();
        let making = {
            let (backend, shared) = (self.backend.clone(), shared.clone());
            async move {
                backend
                    .new_context(&options, shared)
                    .await
                    .map(UnclaimedContext::new)
            }
        };
        let limit = progress.deadline() + CLOSE_TIMEOUT;
        // The browser makes it whether or not somebody still waits: who gives up must not leave it behind.
        task::spawn("new context", async move {
            if let Ok(context) = tokio::time::timeout_at(limit, making).await {
                // Dropped, and so closed, if nobody takes it.
                let _ = maker.send(context);
            }
        })
        .detach();
        let backend = progress
            .run(async {
                let gone = |_| Error::BrowserClosed {
                    reason: String::new(),
                };
                made.await.map_err(gone)?
            })
            .await?;
        Ok(BrowserContext::new(backend.claim(), shared))
    }

    /// Takes over the context that the browser began with: a persistent profile, or that of a browser that runs elsewhere.
    pub async fn default_context(
        &self,
        progress: &Progress,
        options: ContextOptions,
    ) -> Result<BrowserContext> {
        let which = match self.backend.has_browser_per_context() {
            true => ContextKind::WithBrowser,
            false => ContextKind::Initial,
        };
        let (options, shared) = self.routed(which, options).await?;
        let backend = progress
            .run(self.backend.default_context(&options, shared.clone()))
            .await?;
        Ok(BrowserContext::new(backend, shared))
    }

    /// The options of a context as its backend is to have them, and what the context shares.
    async fn routed(
        &self,
        which: ContextKind,
        mut options: ContextOptions,
    ) -> Result<(ContextOptions, Arc<context::Shared>)> {
        let capabilities = self.capabilities();
        capabilities.require_for(&options)?;
        let asked = options.clone();
        let egress = self
            .network
            .route(which, capabilities, &mut options)
            .await?;
        let shared = context::Shared::new(asked, egress, capabilities);
        Ok((options, shared))
    }

    /// Why the browser is gone, once it is.
    pub fn closed_reason(&self) -> Option<String> {
        self.backend.closed().borrow().clone()
    }

    /// Waits until the browser is gone, and tells why.
    pub async fn closed(&self) -> String {
        let mut closed = self.backend.closed();
        let reason = match closed.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone(),
            Err(_) => None,
        };
        reason.unwrap_or_default()
    }

    /// Ends the browser and waits until nothing of it is left; one that somebody else started is only left.
    pub async fn close(&self, progress: &Progress) -> Result<()> {
        match progress.run(self.backend.close()).await {
            Err(Error::BrowserClosed { .. }) => Ok(()),
            done => done,
        }
    }
}

/// A context that nobody has yet: closed when dropped.
struct UnclaimedContext {
    context: Arc<dyn ContextBackend>,
    claimed: bool,
}

impl UnclaimedContext {
    fn new(context: Arc<dyn ContextBackend>) -> Self {
        Self {
            context,
            claimed: false,
        }
    }

    fn claim(mut self) -> Arc<dyn ContextBackend> {
        self.claimed = true;
        self.context.clone()
    }
}

impl Drop for UnclaimedContext {
    fn drop(&mut self) {
        if !self.claimed {
            let context = self.context.clone();
            task::spawn("closing context", async move {
                let closed = tokio::time::timeout(CLOSE_TIMEOUT, context.close()).await;
                tracing::debug!(?closed, "closed a context that has no owner");
            })
            .detach();
        }
    }
}

#[cfg(test)]
mod tests;
