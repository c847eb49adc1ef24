//! The running browsers of a server: launched or connected to when a session first needs one.

mod pool;

use crate::config::{
    BrowserSettings, PoolSettings, Settings, StorageStateSource, WebDriverSettings,
};
use crate::error::{Error, Result};
use crate::files::{self, Output};
use crate::telemetry::BrowserSpan;
use engine::{Browser, BrowserContext, Feature, Progress, StorageState};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use pool::{EmptyPolicy, FillState, IdleBrowser, Member, Pool, ReleaseOutcome};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// How long a browser may take to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// The part of it that closing a context may take, if its browser is closed next.
const CONTEXT_CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The interval before an ended browser is replaced, and before a failed launch is retried.
const REPLACE_INTERVAL: Duration = Duration::from_millis(200);

/// The longest interval between launches.
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// Launches browsers when they are needed.
pub(crate) struct Browsers {
    settings: Arc<Settings>,
    /// The browsers with the settings of the server.
    own: Arc<BrowserGroup>,
    /// Browsers with settings of sessions.
    others: Mutex<Vec<Arc<BrowserGroup>>>,
    /// The number of browsers that were ever launched for isolated contexts, in all pools.
    started: Arc<AtomicU64>,
    /// All running browsers, which are closed with the server.
    running: Mutex<Vec<Browser>>,
}

/// The browsers with the same settings, which isolated contexts share.
struct BrowserGroup {
    /// The launch settings.
    settings: BrowserSettings,
    pool: Pool,
}

impl Browsers {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        let started = Arc::<AtomicU64>::default();
        let own = BrowserGroup {
            settings: settings.browser.clone(),
            pool: Pool::new(pool_of(&settings.browser, settings.pool), started.clone()),
        };
        Self {
            settings,
            own: Arc::new(own),
            others: Mutex::default(),
            started,
            running: Mutex::default(),
        }
    }

    /// Returns the group of browsers with these settings.
    fn group(&self, wanted: &BrowserSettings) -> Arc<BrowserGroup> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = std::iter::once(&self.own).chain(others.iter());
        if let Some(group) = all.find(|group| group.settings.is_same_browser(wanted)) {
            return group.clone();
        }
        // No browser is launched before it is needed.
        let settings = PoolSettings {
            min: 0,
            ..self.settings.pool
        };
        let group = Arc::new(BrowserGroup {
            settings: wanted.clone(),
            pool: Pool::new(pool_of(wanted, settings), self.started.clone()),
        });
        others.push(group.clone());
        group
    }

    /// Creates a context for a session, and launches a browser for it if necessary.
    pub(crate) async fn context(
        self: &Arc<Self>,
        settings: &Settings,
        progress: &Progress,
        output: &Output,
    ) -> Result<OpenContext> {
        let wanted = &Wanted {
            settings,
            downloads: output.downloads()?,
            // No browser is launched if the storage state file is missing.
            state: first_state(settings).await?,
        };
        let settings = &wanted.settings.browser;
        let kind = settings.kind;
        if settings.isolated {
            if settings.extension.is_some() {
                engine::extension_capabilities().require(Feature::IsolatedContext)?;
            }
            return self.isolated(wanted, progress).await;
        }
        if let Some(options) = settings.connect_options() {
            let browser = BrowserSpan::measure(kind, Browser::connect(progress, &options)).await?;
            return self.sole(wanted, progress, browser, false).await;
        }
        let profile = wanted.settings.profile_dir(output.project());
        let options = settings.launch_options(settings.find()?, Some(profile));
        match BrowserSpan::measure(kind, Browser::launch(progress, &options)).await {
            Ok(browser) => self.sole(wanted, progress, browser, true).await,
            // The profile is a default, so a temporary one can replace it.
            Err(engine::Error::ProfileInUse { dir }) if settings.user_data_dir.is_none() => {
                let open = self.isolated(wanted, progress).await?;
                Ok(OpenContext {
                    instead_of: Some(dir),
                    ..open
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Creates an isolated context in a shared browser.
    async fn isolated(
        self: &Arc<Self>,
        wanted: &Wanted<'_>,
        progress: &Progress,
    ) -> Result<OpenContext> {
        let group = self.group(&wanted.settings.browser);
        let (member, context) = match self.in_pool(&group, wanted, progress).await {
            // The browser had crashed, and no call had noticed yet.
            Err(Error::Engine(engine::Error::BrowserClosed { .. })) => {
                self.in_pool(&group, wanted, progress).await?
            }
            in_pool => in_pool?,
        };
        Ok(OpenContext {
            browser: member.browser.clone(),
            context,
            among: Some((group, member)),
            instead_of: None,
            has_profile: false,
        })
    }

    /// Creates a context in a browser of the pool.
    async fn in_pool(
        self: &Arc<Self>,
        group: &Arc<BrowserGroup>,
        wanted: &Wanted<'_>,
        progress: &Progress,
    ) -> Result<(Member, BrowserContext)> {
        let reservation = |member: &Member| Reservation::taken(self, group, member);
        let start = || self.start(group, progress);
        let mut reservation = group.pool.reserve(start, reservation).await?;
        let context = wanted
            .open(progress, &reservation.member.browser, true)
            .await?;
        reservation.kept = true;
        Ok((reservation.member.clone(), context))
    }

    /// Returns the default context of a browser that is not shared.
    async fn sole(
        &self,
        wanted: &Wanted<'_>,
        progress: &Progress,
        browser: Browser,
        has_profile: bool,
    ) -> Result<OpenContext> {
        let mut unfinished = PendingBrowser(Some(browser.clone()));
        match wanted.open(progress, &browser, false).await {
            Ok(context) => {
                unfinished.0 = None;
                Ok(OpenContext {
                    browser: self.keep(browser),
                    context,
                    among: None,
                    instead_of: None,
                    has_profile,
                })
            }
            Err(error) => {
                unfinished.close().await;
                Err(error)
            }
        }
    }

    /// Launches a browser for isolated contexts.
    async fn start(&self, group: &BrowserGroup, progress: &Progress) -> Result<Browser> {
        let settings = &group.settings;
        let kind = settings.kind;
        let browser = match settings.connect_options() {
            Some(options) => {
                BrowserSpan::measure(kind, Browser::connect(progress, &options)).await?
            }
            None => {
                let options = settings.launch_options(settings.find()?, None);
                BrowserSpan::measure(kind, Browser::launch(progress, &options)).await?
            }
        };
        Ok(self.keep(browser))
    }

    /// Launches the minimum number of browsers, and replaces them when they end.
    pub(crate) fn fill(self: &Arc<Self>) {
        if self.settings.pool.min > 0 {
            task::spawn("browser pool", keep_filled(Arc::downgrade(self))).detach();
        }
    }

    /// Releases a session's context, also if the caller is cancelled; its browser is closed with the last context that needs it.
    pub(crate) async fn release(self: &Arc<Self>, open: OpenContext) {
        let browsers = self.clone();
        task::run_to_completion("closing browser", async move {
            browsers.end(open, EmptyPolicy::Ends).await
        })
        .await;
    }

    /// Releases a session's context, but keeps its browser for the next session.
    pub(crate) async fn release_context(self: &Arc<Self>, open: OpenContext) {
        let browsers = self.clone();
        task::run_to_completion("closing browser", async move {
            browsers.end(open, EmptyPolicy::Stays).await
        })
        .await;
    }

    async fn end(self: &Arc<Self>, open: OpenContext, when_empty: EmptyPolicy) {
        if let Some((group, member)) = &open.among {
            let released = group.pool.release_context(member, when_empty);
            // The session's own data is deleted at once, independently of the browser.
            let closed = open
                .context
                .close(&Progress::new(CONTEXT_CLOSE_TIMEOUT))
                .await;
            tracing::debug!(?closed, "closed the context");
            if !self.schedule_close(group, released) {
                return;
            }
        }
        close(open.browser).await;
        self.running()
            .retain(|browser| browser.closed_reason().is_none());
    }

    /// Schedules the close of an idle browser; returns whether to close it at once.
    fn schedule_close(
        self: &Arc<Self>,
        group: &Arc<BrowserGroup>,
        released: ReleaseOutcome,
    ) -> bool {
        if let ReleaseOutcome::Waits(idle_browser) = released {
            let waiting = close_when_idle(Arc::downgrade(self), group.clone(), idle_browser);
            task::spawn("idle browser", waiting).detach();
            return false;
        }
        matches!(released, ReleaseOutcome::Ends)
    }

    /// Closes all browsers.
    pub(crate) async fn close(&self) {
        self.own.pool.close();
        let running = std::mem::take(&mut *self.running());
        let progress = Progress::new(CLOSE_TIMEOUT);
        let closing = running
            .iter()
            .filter(|browser| browser.closed_reason().is_none())
            .map(|browser| browser.close(&progress));
        futures_util::future::join_all(closing).await;
    }

    /// Returns the number of running browsers.
    pub(crate) fn len(&self) -> usize {
        let running = self.running();
        let alive = running
            .iter()
            .filter(|browser| browser.closed_reason().is_none());
        alive.count()
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

/// Returns the limits of the pool; there is one remote browser.
fn pool_of(browser: &BrowserSettings, pool: PoolSettings) -> PoolSettings {
    let listens = browser.webdriver.as_ref();
    let is_anothers = browser.cdp.is_some() || browser.extension.is_some();
    match is_anothers || listens.is_some_and(WebDriverSettings::is_one_browser) {
        true => PoolSettings {
            min: 0,
            max: 1,
            ..pool
        },
        false => pool,
    }
}

/// Closes a browser of the pool after the idle timeout.
async fn close_when_idle(
    browsers: Weak<Browsers>,
    group: Arc<BrowserGroup>,
    idle_browser: IdleBrowser,
) {
    tokio::time::sleep(idle_browser.after).await;
    // Otherwise all of them have been closed.
    let Some(_browsers) = browsers.upgrade() else {
        return;
    };
    if let Some(browser) = group.pool.take_idle(idle_browser) {
        tracing::debug!("a browser of the pool was idle");
        close(browser).await;
    }
}

/// Keeps the pool filled until it is dropped.
async fn keep_filled(browsers: Weak<Browsers>) {
    let mut pause = REPLACE_INTERVAL;
    loop {
        let filled = {
            let Some(browsers) = browsers.upgrade() else {
                return;
            };
            let progress = Progress::new(browsers.settings.browser.launch_timeout);
            let own = &browsers.own;
            own.pool.fill(|| browsers.start(own, &progress)).await
        };
        match filled {
            Ok(FillState::Started) => pause = REPLACE_INTERVAL,
            Ok(FillState::Enough(running, mut changes)) => {
                let mut gone: FuturesUnordered<_> = running.iter().map(Browser::closed).collect();
                tokio::select! {
                    Some(reason) = gone.next() => {
                        tracing::info!(reason, "a browser of the pool has terminated");
                        // A browser that ends at once must not cause a busy loop.
                        tokio::time::sleep(REPLACE_INTERVAL).await;
                    }
                    changed = changes.changed() => {
                        if changed.is_err() {
                            return;
                        }
                    }
                }
            }
            Ok(FillState::Closed) => return,
            // The first session meets the same error and reports it.
            Err(error) => {
                tracing::warn!(%error, "a browser of the pool does not start");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(MAX_RETRY_INTERVAL);
            }
        }
    }
}

/// The properties of a new context.
struct Wanted<'a> {
    settings: &'a Settings,
    downloads: PathBuf,
    /// The initial storage state.
    state: Option<StorageState>,
}

impl Wanted<'_> {
    /// Sets up a context. Existing data of a user's profile is preserved.
    async fn open(
        &self,
        progress: &Progress,
        browser: &Browser,
        isolated: bool,
    ) -> Result<BrowserContext> {
        let options = &self.settings.context;
        let mut options = options
            .options(browser.product(), self.downloads.clone())
            .map_err(|error| Error::File {
                path: String::new(),
                reason: error.to_string(),
            })?;
        options.timeouts = self.settings.timeouts.page;
        let context = if isolated {
            browser.new_context(progress, options).await?
        } else {
            browser.default_context(progress, options).await?
        };
        let mut unclaimed = PendingContext(isolated.then(|| context.clone()));
        if let Some(state) = &self.state {
            context.merge(progress, state).await?;
        }
        unclaimed.0 = None;
        Ok(context)
    }
}

/// A reservation in a browser of the pool, for a context that is being created: released when dropped.
struct Reservation<'a> {
    browsers: &'a Arc<Browsers>,
    group: &'a Arc<BrowserGroup>,
    member: Member,
    /// The context was created, and is released with it.
    kept: bool,
}

impl<'a> Reservation<'a> {
    fn taken(browsers: &'a Arc<Browsers>, group: &'a Arc<BrowserGroup>, member: &Member) -> Self {
        member.take();
        Self {
            browsers,
            group,
            member: member.clone(),
            kept: false,
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.kept {
            let released = self
                .group
                .pool
                .release_context(&self.member, EmptyPolicy::Stays);
            self.browsers.schedule_close(self.group, released);
        }
    }
}

/// Returns the initial storage state of contexts.
pub(crate) async fn first_state(wanted: &Settings) -> Result<Option<StorageState>> {
    let state = match &wanted.context.storage_state {
        None => return Ok(None),
        Some(StorageStateSource::File(path)) => {
            files::storage_state(path, wanted.files.state_key.as_ref()).await?
        }
        Some(StorageStateSource::Inline(state)) => {
            serde_json::from_value(state.clone()).map_err(|error| Error::File {
                path: "browser.contextOptions.storageState".to_owned(),
                reason: format!("Error reading storage state:\n{error}"),
            })?
        }
    };
    Ok(Some(state))
}

/// A context that is being set up: closed when dropped.
struct PendingContext(Option<BrowserContext>);

impl Drop for PendingContext {
    fn drop(&mut self) {
        if let Some(context) = self.0.take() {
            task::spawn("closing context", async move {
                let closed = context.close(&Progress::new(CLOSE_TIMEOUT)).await;
                tracing::debug!(?closed, "closed the context");
            })
            .detach();
        }
    }
}

/// A browser that has no context yet: closed when dropped.
struct PendingBrowser(Option<Browser>);

impl PendingBrowser {
    async fn close(mut self) {
        if let Some(browser) = self.0.take() {
            task::run_to_completion("closing browser", close(browser)).await;
        }
    }
}

impl Drop for PendingBrowser {
    fn drop(&mut self) {
        if let Some(browser) = self.0.take() {
            task::spawn("closing browser", close(browser)).detach();
        }
    }
}

async fn close(browser: Browser) {
    let closed = browser.close(&Progress::new(CLOSE_TIMEOUT)).await;
    tracing::debug!(?closed, "closed the browser");
}

/// A context and its browser.
#[derive(Clone)]
pub(crate) struct OpenContext {
    /// The browser.
    pub(crate) browser: Browser,
    /// The context.
    pub(crate) context: BrowserContext,
    /// The pool membership of the browser, if it is shared.
    among: Option<(Arc<BrowserGroup>, Member)>,
    /// The profile that the context would have used, if that were not in use.
    pub(crate) instead_of: Option<String>,
    /// Whether Playhouse launched the browser with a persistent profile.
    has_profile: bool,
}

impl OpenContext {
    /// Returns whether Playhouse launched the browser with a persistent profile.
    pub(crate) fn has_profile(&self) -> bool {
        self.has_profile
    }

    /// Returns the number of the browser, from 1 in launch order; `None` if the context does not share it.
    pub(crate) fn browser_number(&self) -> Option<u64> {
        self.among.as_ref().map(|(_, member)| member.number)
    }
}
