//! The browsers that a server has running: started or reached when a session first needs one.

use crate::config::{Settings, StorageStateSource};
use crate::error::{Error, Result};
use crate::output::{self, Output};
use engine::{Browser, BrowserContext, Progress};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    shared: tokio::sync::Mutex<Option<Shared>>,
    /// All that run, to be ended with the server.
    running: Mutex<Vec<Browser>>,
}

/// A browser and how many contexts there are in it.
#[derive(Clone)]
struct Shared {
    browser: Browser,
    contexts: Arc<AtomicUsize>,
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
        wanted: &Settings,
        progress: &Progress,
        output: &Output,
    ) -> Result<OpenContext> {
        let downloads = output.downloads()?;
        let settings = &wanted.browser;
        if settings.isolated {
            return self.isolated(wanted, progress, downloads).await;
        }
        if let Some(options) = settings.connect_options() {
            let browser = Browser::connect(progress, &options).await?;
            return self.sole(wanted, progress, downloads, browser).await;
        }
        let profile = wanted.profile_dir(output.workspace());
        let options = settings.launch_options(settings.find()?, Some(profile));
        match Browser::launch(progress, &options).await {
            Ok(browser) => self.sole(wanted, progress, downloads, browser).await,
            // Nobody asked for that profile by name; work can go on without it.
            Err(engine::Error::ProfileInUse { dir }) if settings.user_data_dir.is_none() => {
                let open = self.isolated(wanted, progress, downloads).await?;
                Ok(OpenContext {
                    instead_of: Some(dir),
                    ..open
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A context of its own in the browser that such contexts share.
    async fn isolated(
        &self,
        wanted: &Settings,
        progress: &Progress,
        downloads: PathBuf,
    ) -> Result<OpenContext> {
        let (shared, seat) = self.shared(progress).await?;
        let context = self
            .open(wanted, progress, downloads, &shared.browser, true)
            .await?;
        seat.keep();
        Ok(OpenContext {
            browser: shared.browser,
            context,
            among: Some(shared.contexts),
            instead_of: None,
        })
    }

    /// The context that a browser began with; the browser is nobody else's.
    async fn sole(
        &self,
        wanted: &Settings,
        progress: &Progress,
        downloads: PathBuf,
        browser: Browser,
    ) -> Result<OpenContext> {
        let mut unfinished = Unfinished(Some(browser.clone()));
        match self
            .open(wanted, progress, downloads, &browser, false)
            .await
        {
            Ok(context) => {
                unfinished.0 = None;
                Ok(OpenContext {
                    browser: self.keep(browser),
                    context,
                    among: None,
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
        wanted: &Settings,
        progress: &Progress,
        downloads: PathBuf,
        browser: &Browser,
        isolated: bool,
    ) -> Result<BrowserContext> {
        let options = wanted
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
        let filled = fill(wanted, progress, &context, isolated).await;
        if filled.is_err() && isolated {
            let closed = context.close(&Progress::new(CLOSING)).await;
            tracing::debug!(?closed, "closed the context");
        }
        filled.map(|()| context)
    }

    /// The browser that isolated sessions share, started anew if it has gone, with room for one more.
    async fn shared(&self, progress: &Progress) -> Result<(Shared, Seat)> {
        let mut shared = self.shared.lock().await;
        if let Some(shared) = shared.as_ref()
            && shared.browser.closed_reason().is_none()
        {
            return Ok((shared.clone(), Seat::among(&shared.contexts)));
        }
        let settings = &self.settings.browser;
        let browser = match settings.connect_options() {
            Some(options) => Browser::connect(progress, &options).await?,
            None => {
                let options = settings.launch_options(settings.find()?, None);
                Browser::launch(progress, &options).await?
            }
        };
        let fresh = Shared {
            browser: self.keep(browser),
            contexts: Arc::default(),
        };
        *shared = Some(fresh.clone());
        let seat = Seat::among(&fresh.contexts);
        Ok((fresh, seat))
    }

    /// Gives a session's context back, and goes on with that when the caller does not wait for it; its browser ends with
    /// the last one that needed it.
    pub(crate) async fn release(self: &Arc<Self>, open: OpenContext) {
        let browsers = self.clone();
        to_the_end(async move { browsers.end(open, Afterwards::Ends).await }).await;
    }

    /// The same, but the browser stays for the next session that comes.
    pub(crate) async fn vacate(self: &Arc<Self>, open: OpenContext) {
        let browsers = self.clone();
        to_the_end(async move { browsers.end(open, Afterwards::Stays).await }).await;
    }

    async fn end(&self, open: OpenContext, afterwards: Afterwards) {
        if let Some(contexts) = &open.among {
            let ends = {
                let mut shared = self.shared.lock().await;
                let last = contexts.fetch_sub(1, Ordering::AcqRel) == 1;
                let ends = last && afterwards == Afterwards::Ends;
                if ends {
                    // Nobody is to get one that is about to end.
                    shared.take_if(|shared| Arc::ptr_eq(&shared.contexts, contexts));
                }
                ends
            };
            // The session's own data goes at once, whatever becomes of the browser.
            let closed = open.context.close(&Progress::new(CLOSING_CONTEXT)).await;
            tracing::debug!(?closed, "closed the context");
            if !ends {
                return;
            }
        }
        close(open.browser).await;
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

/// What becomes of a browser that has no contexts any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Afterwards {
    Ends,
    Stays,
}

/// One more among the contexts of a browser; one less again when dropped.
struct Seat(Option<Arc<AtomicUsize>>);

impl Seat {
    fn among(contexts: &Arc<AtomicUsize>) -> Self {
        contexts.fetch_add(1, Ordering::AcqRel);
        Self(Some(contexts.clone()))
    }

    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(contexts) = &self.0 {
            contexts.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Gives a context the storage state of the settings.
async fn fill(
    wanted: &Settings,
    progress: &Progress,
    context: &BrowserContext,
    isolated: bool,
) -> Result<()> {
    let Some(source) = &wanted.context.storage_state else {
        return Ok(());
    };
    let state = match source {
        StorageStateSource::File(path) => output::storage_state(path).await?,
        StorageStateSource::Inline(state) => {
            serde_json::from_value(state.clone()).map_err(|error| Error::File {
                path: "browser.contextOptions.storageState".to_owned(),
                reason: format!("Error reading storage state:\n{error}"),
            })?
        }
    };
    if isolated {
        context.restore(progress, &state).await?;
    } else {
        // What the user's profile remembers stays.
        context.merge(progress, &state).await?;
    }
    Ok(())
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
    /// The contexts of its browser, where it is one of several.
    among: Option<Arc<AtomicUsize>>,
    /// The profile that it would have, were that not in use.
    pub(crate) instead_of: Option<String>,
}
