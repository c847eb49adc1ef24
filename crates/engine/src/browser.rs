//! A browser that Playhouse launched or connected to.

mod kept_state;
mod network;

use crate::backend::{BrowserBackend, Capabilities, ContextBackend, ContextOptions};
use crate::context::{self, BrowserContext};
use crate::error::{Error, Result};
use crate::launch::{self, ConnectOptions, LaunchOptions};
use crate::progress::Progress;
use kept_state::KeptState;
use network::{ContextKind, Network};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::oneshot;

/// How much longer than its caller the creation of a context may take, before the context is closed again.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// A running browser. Cheap to clone; a launched browser is killed when the last clone is dropped.
#[derive(Clone)]
pub struct Browser {
    backend: Arc<dyn BrowserBackend>,
    network: Arc<Network>,
    /// The state of the default context, if the browser keeps no profile.
    kept_state: Arc<OnceLock<Arc<KeptState>>>,
}

impl std::fmt::Debug for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Browser").field(&self.product()).finish()
    }
}

impl Browser {
    /// Launches a browser. Fails with `LaunchFailed` (with the browser's last output) or `ProfileInUse`.
    pub async fn launch(progress: &Progress, options: &LaunchOptions) -> Result<Self> {
        let (network, options) = Network::of_launch(options).await?;
        // Every call that may start a browser contains this future, and each of them is on the stack of a worker thread.
        let backend = Box::pin(launch::launch(progress, &options)).await?;
        Ok(Self {
            backend,
            network: Arc::new(network),
            kept_state: Arc::default(),
        })
    }

    /// Connects to a remote browser, or creates one there. Fails with `ConnectFailed`.
    pub async fn connect(progress: &Progress, options: &ConnectOptions) -> Result<Self> {
        let backend = Box::pin(launch::connect(progress, options)).await?;
        Ok(Self {
            backend,
            network: Arc::new(Network::remote()),
            kept_state: Arc::default(),
        })
    }

    /// Returns name and version, e.g. `Chrome/156.0.8078.79`.
    pub fn product(&self) -> &str {
        self.backend.product()
    }

    /// Returns the supported features.
    pub fn capabilities(&self) -> &'static Capabilities {
        self.backend.capabilities()
    }

    /// Creates an isolated context, which is closed if the caller is cancelled.
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
        // The browser creates it even if the caller is cancelled, so the task completes and closes it.
        task::spawn("new context", async move {
            if let Ok(context) = tokio::time::timeout_at(limit, making).await {
                // If the receiver is dropped, so is the context, which closes it.
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

    /// Returns the default context of the browser: a persistent profile, or that of a remote browser. Fails with `File` if the profile is a
    /// file that is damaged.
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
        let context = BrowserContext::new(backend, shared);
        if let Some(folder) = self.backend.state_folder() {
            let kept = KeptState::open(progress, &folder, &context).await?;
            // A browser has one default context.
            let _ = self.kept_state.set(kept);
        }
        Ok(context)
    }

    /// Returns the options of a context for its backend, and its shared state.
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

    /// Returns why the browser has closed, if it has.
    pub fn closed_reason(&self) -> Option<String> {
        self.backend.closed().borrow().clone()
    }

    /// Waits until the browser has closed, and returns the reason.
    pub async fn closed(&self) -> String {
        let mut closed = self.backend.closed();
        let reason = match closed.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone(),
            Err(_) => None,
        };
        reason.unwrap_or_default()
    }

    /// Closes the browser and waits until its processes have ended; a remote browser is only disconnected.
    pub async fn close(&self, progress: &Progress) -> Result<()> {
        if let Some(kept) = self.kept_state.get() {
            let saved = progress.run(kept.save()).await;
            if let Err(error) = saved {
                tracing::warn!(%error, "the last changes of cookies and storage are not kept");
            }
        }
        match progress.run(self.backend.close()).await {
            Err(Error::BrowserClosed { .. }) => Ok(()),
            done => done,
        }
    }
}

/// A context without an owner: closed when dropped.
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
