//! The browsers that a server has running: started or reached when a session first needs one.

use crate::config::{Settings, StorageStateSource};
use crate::error::{Error, Result};
use crate::output::{self, Output};
use engine::{Browser, BrowserContext, Progress};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a browser may take to end.
const CLOSING: Duration = Duration::from_secs(10);

/// The part of it that a context may take, whose browser is about to end.
const CLOSING_CONTEXT: Duration = Duration::from_secs(2);

/// Starts browsers when they are needed.
pub(crate) struct Browsers {
    settings: Arc<Settings>,
    /// All isolated contexts share this one.
    shared: tokio::sync::Mutex<Option<Browser>>,
    /// All that run, to be ended with the server.
    running: Mutex<Vec<Browser>>,
}

impl Browsers {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        Self {
            settings,
            shared: tokio::sync::Mutex::default(),
            running: Mutex::default(),
        }
    }

    /// A context for a session, in a browser that was started for it where need be.
    pub(crate) async fn context(
        &self,
        progress: &Progress,
        output: &Output,
    ) -> Result<OpenContext> {
        let downloads = output.downloads()?;
        let settings = &self.settings.browser;
        if let Some(options) = settings.connect_options() {
            let browser = Browser::connect(progress, &options).await?;
            return self.sole(progress, downloads, browser).await;
        }
        if settings.isolated {
            return self.isolated(progress, downloads).await;
        }
        let profile = self.settings.profile_dir(output.workspace());
        let options = settings.launch_options(settings.find()?, Some(profile));
        match Browser::launch(progress, &options).await {
            Ok(browser) => self.sole(progress, downloads, browser).await,
            // Nobody asked for that profile by name; work can go on without it.
            Err(engine::Error::ProfileInUse { dir }) if settings.user_data_dir.is_none() => {
                let open = self.isolated(progress, downloads).await?;
                Ok(OpenContext {
                    instead_of: Some(dir),
                    ..open
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A context of its own in the browser that such contexts share.
    async fn isolated(&self, progress: &Progress, downloads: PathBuf) -> Result<OpenContext> {
        let browser = self.shared(progress).await?;
        let context = self.open(progress, downloads, &browser, true).await?;
        Ok(OpenContext {
            browser,
            context,
            isolated: true,
            instead_of: None,
        })
    }

    /// The context that a browser began with; the browser is nobody else's.
    async fn sole(
        &self,
        progress: &Progress,
        downloads: PathBuf,
        browser: Browser,
    ) -> Result<OpenContext> {
        let mut unfinished = Unfinished(Some(browser.clone()));
        let isolated = self.settings.browser.isolated;
        match self.open(progress, downloads, &browser, isolated).await {
            Ok(context) => {
                unfinished.0 = None;
                Ok(OpenContext {
                    browser: self.keep(browser),
                    context,
                    isolated,
                    instead_of: None,
                })
            }
            Err(error) => {
                unfinished.close().await;
                Err(error)
            }
        }
    }

    /// A context as the settings want it.
    async fn open(
        &self,
        progress: &Progress,
        downloads: PathBuf,
        browser: &Browser,
        isolated: bool,
    ) -> Result<BrowserContext> {
        let options = self
            .settings
            .context
            .options(browser.product(), downloads)
            .map_err(|error| Error::File {
                path: String::new(),
                reason: error.to_string(),
            })?;
        let context = if isolated {
            browser.new_context(progress, options).await?
        } else {
            browser.default_context(progress, options).await?
        };
        let filled = self.fill(progress, &context, isolated).await;
        if filled.is_err() && isolated {
            let closed = context.close(&Progress::new(CLOSING)).await;
            tracing::debug!(?closed, "closed the context");
        }
        filled.map(|()| context)
    }

    /// Gives a context the storage state of the settings.
    async fn fill(
        &self,
        progress: &Progress,
        context: &BrowserContext,
        isolated: bool,
    ) -> Result<()> {
        if let Some(source) = &self.settings.context.storage_state {
            let state = match source {
                StorageStateSource::File(path) => output::storage_state(path).await?,
                StorageStateSource::Inline(state) => serde_json::from_value(state.clone())
                    .map_err(|error| Error::File {
                        path: "browser.contextOptions.storageState".to_owned(),
                        reason: format!("Error reading storage state:\n{error}"),
                    })?,
            };
            if isolated {
                context.restore(progress, &state).await?;
            } else {
                // What the user's profile remembers stays.
                context.merge(progress, &state).await?;
            }
        }
        Ok(())
    }

    /// The browser that isolated sessions share, started anew if it has gone.
    async fn shared(&self, progress: &Progress) -> Result<Browser> {
        let mut shared = self.shared.lock().await;
        if let Some(browser) = shared.as_ref()
            && browser.closed_reason().is_none()
        {
            return Ok(browser.clone());
        }
        let settings = &self.settings.browser;
        let options = settings.launch_options(settings.find()?, None);
        let browser = self.keep(Browser::launch(progress, &options).await?);
        *shared = Some(browser.clone());
        Ok(browser)
    }

    /// Gives a session's context back, and goes on with that when the caller does not wait for it; its browser ends with
    /// the last one that needed it.
    pub(crate) async fn release(self: &Arc<Self>, open: OpenContext) {
        let browsers = self.clone();
        to_the_end(async move { browsers.end(open).await }).await;
    }

    async fn end(&self, open: OpenContext) {
        let closing = || Progress::new(CLOSING);
        let closed = if open.isolated {
            // Nobody is to get one that is about to end.
            *self.shared.lock().await = None;
            // The session's own data goes at once, whatever becomes of the browser.
            let closed = open.context.close(&Progress::new(CLOSING_CONTEXT)).await;
            tracing::debug!(?closed, "closed the context");
            open.browser.close(&closing()).await
        } else {
            open.browser.close(&closing()).await
        };
        tracing::debug!(?closed, "closed the browser");
        self.running()
            .retain(|browser| browser.closed_reason().is_none());
    }

    /// Ends all of them.
    pub(crate) async fn close(&self) {
        let running = std::mem::take(&mut *self.running());
        let progress = Progress::new(CLOSING);
        let closing = running
            .iter()
            .filter(|browser| browser.closed_reason().is_none())
            .map(|browser| browser.close(&progress));
        futures_util::future::join_all(closing).await;
    }

    fn keep(&self, browser: Browser) -> Browser {
        let mut running = self.running();
        running.retain(|browser| browser.closed_reason().is_none());
        running.push(browser.clone());
        browser
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Vec<Browser>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A browser that has no context yet: ends when dropped.
struct Unfinished(Option<Browser>);

impl Unfinished {
    async fn close(mut self) {
        if let Some(browser) = self.0.take() {
            to_the_end(close(browser)).await;
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(browser) = self.0.take() {
            engine::spawn("closing browser", close(browser)).detach();
        }
    }
}

async fn close(browser: Browser) {
    let closed = browser.close(&Progress::new(CLOSING)).await;
    tracing::debug!(?closed, "closed the browser");
}

/// Waits for `work`, which comes to its end even when the caller stops waiting.
async fn to_the_end(work: impl Future<Output = ()> + Send + 'static) {
    let (working, ended) = tokio::sync::oneshot::channel::<()>();
    engine::spawn("closing browser", async move {
        work.await;
        drop(working);
    })
    .detach();
    // Nothing is ever sent.
    let _ = ended.await;
}

/// A context and the browser it lives in.
#[derive(Clone)]
pub(crate) struct OpenContext {
    /// The browser.
    pub(crate) browser: Browser,
    /// The context.
    pub(crate) context: BrowserContext,
    isolated: bool,
    /// The profile that it would have, were that not in use.
    pub(crate) instead_of: Option<String>,
}
