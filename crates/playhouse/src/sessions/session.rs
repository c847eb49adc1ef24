//! A session: a browser context with its tabs, the folders its files go to, and the turn that lets one call at a time
//! touch them.

pub(crate) mod app;
mod console_file;
mod contexts;
mod idle;
mod init_pages;
mod journal;
mod report;
mod script_access;
mod tab;
mod tabs;

use crate::access::policy::Approvals;
use crate::answers::reply::Event;
use crate::apps::Reason;
use crate::calls::{Call, Client, Turn};
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::files::artifacts::Artifacts;
use crate::files::{self, FileAccess, Output, Workspace};
use crate::sessions::browsers::Browsers;
use app::App;
use engine::{Page, Throttling};
use journal::Journal;
use script::{Script, ScriptContext, ScriptRegistry};
use script_access::ScriptAccess;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};
use task::Task;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(crate) use console_file::{level as console_level, line as console_line};
pub(crate) use contexts::DEFAULT_NAME as DEFAULT_CONTEXT;
pub(crate) use journal::Answered;
pub(crate) use tab::{TITLE_TIMEOUT, Tab};
pub(crate) use tabs::Tabs;

/// What a session is called that nobody created.
pub(crate) const DEFAULT_NAME: &str = "default";

/// What the calls of one client share.
pub(crate) struct Session {
    settings: Arc<Settings>,
    browsers: Arc<Browsers>,
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Cancelled, and replaced, when a call closes the session: it ends the calls that came before.
    closing: Arc<Mutex<CancellationToken>>,
    /// Set once, if ever.
    id: OnceLock<String>,
    output: OnceLock<Output>,
    /// What its tools wrote.
    artifacts: Artifacts,
    /// Code that runs or listens, as it sees itself.
    registry: ScriptRegistry,
    /// The folders of a call whose client did not tell its own in time.
    fallback_output: OnceLock<Output>,
    journal: Journal,
    approvals: Approvals,
    idle: Mutex<Option<Task>>,
    contexts: Mutex<contexts::Contexts>,
    /// The app that it tests, if it does. Set once.
    app: OnceLock<Arc<App>>,
    /// Set once; nothing is opened in it any more.
    ended: OnceLock<Ended>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tabs: Option<Arc<Tabs>>,
    /// What happened that no tab can tell.
    events: Vec<Event>,
    /// The client knows that it works without the profile.
    profile_notice_sent: bool,
    /// Code that still listens to pages, oldest first.
    scripts: Vec<Script>,
}

/// Where a client works: the folders that it names, or else the server's own. `None`: it did not answer in time.
pub(crate) async fn workspace(client: &dyn Client, settings: &Settings) -> Option<Workspace> {
    let roots = client.roots().await?;
    let roots = roots.iter().filter_map(|uri| files::file_uri(uri));
    Some(Workspace::of(roots.collect(), &settings.files))
}

/// Why a session is over.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ended {
    /// Somebody closed it.
    Closed(Uuid),
    /// Nobody used it for too long.
    Expired(Uuid),
}

impl From<Ended> for Error {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Closed(id) => Self::SessionNotFound {
                session_id: id.to_string(),
            },
            Ended::Expired(id) => Self::SessionExpired {
                session_id: id.to_string(),
            },
        }
    }
}

/// Scripts that may listen at once; the oldest goes first.
const MAX_SCRIPTS: usize = 16;

/// How long the document that a page leads to at once may take to come.
const REDIRECT_TIMEOUT: Duration = Duration::from_millis(500);

impl Session {
    /// A session without a browser yet.
    pub(crate) fn new(settings: Arc<Settings>, browsers: Arc<Browsers>) -> Self {
        Self {
            settings,
            browsers,
            turn: Arc::default(),
            closing: Arc::default(),
            id: OnceLock::new(),
            output: OnceLock::new(),
            artifacts: Artifacts::default(),
            registry: ScriptRegistry::default(),
            fallback_output: OnceLock::new(),
            journal: Journal::default(),
            approvals: Approvals::default(),
            idle: Mutex::default(),
            contexts: Mutex::default(),
            app: OnceLock::new(),
            ended: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// What clients call it.
    pub(crate) fn id(&self) -> &str {
        self.id.get().map_or(DEFAULT_NAME, String::as_str)
    }

    /// Says what clients call it, if not the default session.
    pub(crate) fn set_id(&self, id: String) {
        // Whoever made it says so, once.
        let _ = self.id.set(id);
    }

    /// What holds in this session.
    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// Says which app it tests.
    pub(crate) fn set_app(&self, app: App) {
        // Whoever made it says so, once.
        let _ = self.app.set(Arc::new(app));
    }

    /// The app that it tests, if it does.
    pub(crate) fn app(&self) -> Option<&App> {
        self.app.get().map(Arc::as_ref)
    }

    /// Fails with why it is over, once it is for good.
    pub(crate) fn ensure_open(&self) -> Result<()> {
        match self.ended.get() {
            Some(ended) => Err((*ended).into()),
            None => Ok(()),
        }
    }

    /// Waits for the calls before this one; the session is the caller's until the guard drops.
    pub(crate) fn turn(&self) -> impl Future<Output = Turn> + Send + use<> {
        let (turn, closing) = (self.turn.clone(), self.closing.clone());
        async move {
            let closed = closing
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            Turn::on(turn, closed).await
        }
    }

    /// The same for a call that closes the session: calls before it are cancelled.
    pub(crate) fn last_turn(&self) -> impl Future<Output = Turn> + Send + use<> {
        let (turn, closing) = (self.turn.clone(), self.closing.clone());
        async move {
            let before =
                std::mem::take(&mut *closing.lock().unwrap_or_else(PoisonError::into_inner));
            before.cancel();
            Turn::on(turn, CancellationToken::new()).await
        }
    }

    /// The folders of the session. The first call asks the client where it works.
    pub(crate) async fn output(&self, call: &Call) -> &Output {
        if let Some(output) = self.output.get() {
            return output;
        }
        let cwd = || Workspace::of(Vec::new(), &self.settings.files);
        let below = |workspace| {
            let id = self.id.get().map(String::as_str);
            Output::new(&self.settings, &workspace, id, self.artifacts.clone())
        };
        let workspace = match workspace(&*call.client, &self.settings).await {
            Some(workspace) => workspace,
            // It may be busy; the next call asks once more.
            None if self.fallback_output.get().is_none() => {
                return self.fallback_output.get_or_init(|| below(cwd()));
            }
            None => cwd(),
        };
        // The call has the session's turn, so nobody else was quicker.
        self.output.get_or_init(|| below(workspace))
    }

    /// The files of the session, as the call may use them.
    pub(crate) async fn files(&self, call: &Call) -> FileAccess {
        FileAccess::new(self.output(call).await.clone(), call.permission())
    }

    /// The folders of the session, once they are known.
    pub(crate) fn known_output(&self) -> Option<&Output> {
        self.output.get().or_else(|| self.fallback_output.get())
    }

    /// A call is over, and is still the session's: what goes with each of them is done. `arguments` are what the
    /// journal shows of it, `text` its answer, `began` the time it came.
    pub(crate) async fn call_ended(
        self: &Arc<Self>,
        call: &Call,
        arguments: Option<Value>,
        answer: &Answered<'_>,
        began: SystemTime,
    ) {
        self.rest();
        let Some(output) = self.output.get().or(self.fallback_output.get()) else {
            return;
        };
        if let Some(arguments) = arguments {
            self.journal.add(output, call.tool.name, &arguments, answer);
        }
        if let Some(limit) = self.settings.files.output_max_size {
            output.trim(limit, began).await;
        }
    }

    /// The tabs, in a browser that is started where need be, and replaced when it has gone.
    pub(crate) async fn tabs(&self, call: &Call) -> Result<Arc<Tabs>> {
        self.ensure_open()?;
        let output = self.output(call).await;
        if let Some(tabs) = self.open_tabs() {
            // Looked at once: what is gone by now is told, and not just replaced.
            let closed = tabs.closed_reason();
            if call.tool.answers_with_object()
                && let Some(lost) = self.take_lost_state()
            {
                // Programs must not go on believing that all is there.
                return Err(lost);
            }
            let Some(reason) = closed else {
                return Ok(tabs);
            };
            let mut state = self.state();
            state.tabs = None;
            state.scripts.clear();
            state.events.push(Event::BrowserReplaced { reason });
        }
        let progress = call.within(self.settings.browser.launch_timeout);
        call.set_status("waiting for the browser to start");
        let open = self
            .browsers
            .context(&self.settings, &progress, output)
            .await?;
        call.clear_status();
        let profile = open.instead_of.clone();
        let tabs = Tabs::over(open, output.clone(), &self.registry, &self.settings);
        let mut state = self.state();
        state.tabs = Some(tabs.clone());
        if let Some(dir) = profile
            && !std::mem::replace(&mut state.profile_notice_sent, true)
        {
            state.events.push(Event::ProfileInUse { dir });
        }
        drop(state);
        Ok(tabs)
    }

    /// The profile that its browser has open, if it is one that lasts.
    pub(crate) fn open_profile(&self) -> Option<PathBuf> {
        let tabs = self.open_tabs()?;
        if !tabs.open().has_profile() || tabs.closed_reason().is_some() {
            return None;
        }
        let project = self.known_output()?.project();
        Some(self.settings.profile_dir(project))
    }

    /// What the session lost with its browser or its current page, once: it goes on without.
    pub(crate) fn take_lost_state(&self) -> Option<Error> {
        let tabs = self.open_tabs()?;
        let Some(reason) = tabs.closed_reason() else {
            return tabs.take_crash();
        };
        drop(self.forget());
        let context = &tabs.open().context;
        let rules = [
            ("offline", context.is_offline()),
            ("throttling", context.throttling() != Throttling::default()),
            ("rules", !context.routes().is_empty()),
        ];
        let rules = rules.into_iter().filter(|(_, had)| *had);
        let lost = ["cookies", "storage"].into_iter();
        Some(Error::BrowserCrashed {
            reason,
            lost_pages: tabs.last_seen(),
            lost: lost.chain(rules.map(|(name, _)| name)).collect(),
        })
    }

    /// The tabs, if a browser is open.
    pub(crate) fn open_tabs(&self) -> Option<Arc<Tabs>> {
        self.state().tabs.clone()
    }

    /// What its user has allowed until it ends.
    pub(crate) fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// Whether the current page of the context that a call is for shows a dialog.
    pub(crate) fn has_dialog(self: &Arc<Self>, call: &Call) -> bool {
        let part = self.part(call).ok();
        let tabs = part.as_ref().and_then(|part| part.open_tabs());
        let tab = tabs.and_then(|tabs| tabs.current());
        tab.is_some_and(|tab| tab.page.dialog().is_some())
    }

    /// The URL of the current page of the context that a call is for, as far as it is known: the page is not asked.
    pub(crate) fn page_url(self: &Arc<Self>, call: &Call) -> Option<String> {
        let tabs = self.part(call).ok()?.open_tabs()?;
        Some(tabs.current()?.page.url())
    }

    /// Has the next answer tell what happened.
    pub(crate) fn report_event(&self, event: Event) {
        self.state().events.push(event);
    }

    /// Fails where a navigation has led to no document of the site: the page crashed, or shows why the document could not be loaded.
    pub(crate) async fn check_loaded(&self, page: &Page) -> Result<()> {
        page.follow(REDIRECT_TIMEOUT).await;
        if let Some(crashed) = self.open_tabs().and_then(|tabs| tabs.take_crash()) {
            return Err(crashed);
        }
        page.failure_since(0)
            .map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// The current tab; opens one where there is none.
    pub(crate) async fn current_tab(&self, call: &Call) -> Result<Arc<Tab>> {
        let tabs = self.tabs(call).await?;
        let tab = tabs.current_or_new(&call.navigation()).await?;
        tab.initialized().await?;
        Ok(tab)
    }

    /// Where code of this call runs.
    pub(crate) fn setting(&self, call: &Call, page: Page) -> Result<ScriptContext> {
        let gone = || engine::Error::PageClosed {};
        let tabs = self.open_tabs().ok_or_else(gone)?;
        let output = self.output.get().or(self.fallback_output.get());
        let output = output.ok_or_else(gone)?;
        Ok(ScriptContext {
            context: tabs.open().context.clone(),
            page,
            access: Arc::new(ScriptAccess::new(
                FileAccess::new(output.clone(), call.permission()),
                tabs.downloads(),
            )),
            registry: self.registry.clone(),
            action: self.settings.timeouts.action,
            navigation: self.settings.timeouts.navigation,
            longest: self.settings.longest_call(),
        })
    }

    /// Keeps code for as long as it listens to pages.
    pub(crate) fn keep_script(&self, script: Script) {
        let ended: Vec<_> = {
            let mut state = self.state();
            state.scripts.push(script);
            let (over, mut listening): (Vec<_>, Vec<_>) =
                state.scripts.drain(..).partition(Script::is_over);
            let surplus = listening.len().saturating_sub(MAX_SCRIPTS);
            let oldest: Vec<_> = listening.drain(..surplus).collect();
            state.scripts = listening;
            over.into_iter().chain(oldest).collect()
        };
        drop(ended);
    }

    /// Closes the browser; the next call that needs one starts another.
    pub(crate) async fn close(self: &Arc<Self>) {
        let session = self.clone();
        task::run_to_completion("closing session", async move {
            session.close_contexts(None).await;
            if let Some(tabs) = session.forget() {
                session.browsers.release(tabs.open().clone()).await;
            }
        })
        .await;
    }

    /// Closes what it has of a browser, which stays for others.
    pub(crate) async fn release_browser(self: &Arc<Self>) {
        let session = self.clone();
        task::run_to_completion("closing session", async move {
            session.close_contexts(session.ended.get().copied()).await;
            session.close_own_context().await;
        })
        .await;
    }

    /// Closes what it has itself; the browser stays.
    async fn close_own_context(&self) {
        if let Some(tabs) = self.forget() {
            self.browsers.release_context(tabs.open().clone()).await;
        }
    }

    /// Closes what it has, for good: calls that still come find the session gone. The browser is the next one's.
    pub(crate) async fn end(self: &Arc<Self>, ended: Ended) {
        let _ = self.ended.set(ended);
        self.release_browser().await;
        let Some(app) = self.app() else { return };
        for (server, left) in app.release_servers(Reason::Over).await {
            if let Err(error) = left {
                tracing::warn!(%error, server = server.name(), "a server cannot be stopped");
            }
        }
    }

    fn forget(&self) -> Option<Arc<Tabs>> {
        let (tabs, scripts) = {
            let mut state = self.state();
            (state.tabs.take(), std::mem::take(&mut state.scripts))
        };
        drop(scripts);
        tabs
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
