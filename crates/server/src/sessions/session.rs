//! A session: a browser context with its tabs, its folders, and the turn that only one call at a time has.

pub(crate) mod app;
mod assertions;
pub(crate) mod changes;
mod console_file;
mod contexts;
pub(crate) mod control;
pub(crate) mod document_tools;
pub(crate) mod har;
mod idle;
mod init_pages;
mod journal;
mod nearest;
pub(crate) mod overlays;
mod report;
mod script_access;
pub(crate) mod statements;
mod tab;
mod tabs;
mod traces;
mod uploads;
pub(crate) mod video;

use crate::access::policy::Approvals;
use crate::access::principal::Permission;
use crate::answers::reply::Event;
use crate::apps::Reason;
use crate::calls::{Call, Client, Turn};
use crate::config::{AnswerStyle, Capability, Risk, Settings};
use crate::error::{Error, Result};
use crate::files::artifacts::Artifacts;
use crate::files::{self, FileAccess, Output, Workspace};
use crate::sessions::browsers::Browsers;
use crate::sessions::call_log::CallLog;
use crate::sessions::observers::Observers;
use crate::sessions::trace::Trace;
use app::App;
use control::Control;
use engine::{Page, Progress, Recorded, Recording, Throttling};
use journal::Journal;
use script::{Pause, Script, ScriptContext, ScriptRegistry};
use script_access::ScriptAccess;
use serde_json::Value;
use statements::Statements;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};
use task::Task;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use video::Video;

pub(crate) use console_file::{
    level as console_level, line as console_line, lines as console_lines,
};
pub(crate) use contexts::DEFAULT_NAME as DEFAULT_CONTEXT;
pub(crate) use journal::Answered;
pub(crate) use tab::{TITLE_TIMEOUT, Tab};
pub(crate) use tabs::{TabSummary, Tabs};

/// The name of the default session.
pub(crate) const DEFAULT_NAME: &str = "default";

/// The state that the calls of one client share.
pub(crate) struct Session {
    settings: Arc<Settings>,
    browsers: Arc<Browsers>,
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Cancelled and replaced when a call closes the session: cancels the earlier calls.
    closing: Arc<Mutex<CancellationToken>>,
    /// Set at most once.
    id: OnceLock<String>,
    output: OnceLock<Output>,
    /// The artifacts of the session.
    artifacts: Artifacts,
    /// The running client code, for its own access.
    registry: ScriptRegistry,
    /// The folders of a call whose client did not report its roots in time.
    fallback_output: OnceLock<Output>,
    journal: Journal,
    approvals: Approvals,
    /// The last calls, for the dashboard.
    call_log: Arc<CallLog>,
    /// Who uses the browser: calls, or a user at the dashboard.
    control: Arc<Control>,
    /// The observers of calls, which all contexts share.
    observers: Arc<Observers>,
    trace: Mutex<Option<Trace>>,
    /// The videos of a call.
    video: Mutex<Option<Arc<Video>>>,
    /// The videos that the settings request.
    automatic_videos: Mutex<Vec<Arc<Video>>>,
    /// What is drawn over pages.
    overlays: overlays::Overlays,
    statements: Statements,
    uploads: uploads::Uploads,
    idle: Mutex<Option<Task>>,
    contexts: Mutex<contexts::Contexts>,
    /// The app under test, if there is one. Set once.
    app: OnceLock<Arc<App>>,
    /// Set once; the session opens nothing afterwards.
    ended: OnceLock<Ended>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tabs: Option<Arc<Tabs>>,
    /// Events that no tab reports.
    events: Vec<Event>,
    /// Whether the client was informed that the profile is not used.
    profile_notice_sent: bool,
    /// Client code with listeners on pages, oldest first.
    scripts: Vec<Script>,
    /// The recording of the user's actions, if one is running.
    recording: Option<Arc<Recording>>,
}

/// Returns the workspace of a client: its roots, or otherwise the server's folder. `None`: the client did not respond in time.
pub(crate) async fn workspace(client: &dyn Client, settings: &Settings) -> Option<Workspace> {
    let roots = client.roots().await?;
    let roots = roots.iter().filter_map(|uri| files::file_uri(uri));
    Some(Workspace::of(roots.collect(), &settings.files))
}

/// Why a session has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ended {
    /// A call closed it.
    Closed(Uuid),
    /// It expired.
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

/// The largest number of scripts with listeners; the oldest is stopped first.
const MAX_SCRIPTS: usize = 16;

/// How long to wait for the document that a page navigates to immediately.
const REDIRECT_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a document may take to start its recorder before an action.
const RECORDER_TIMEOUT: Duration = Duration::from_secs(2);

impl Session {
    /// Creates a session without a browser.
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
            call_log: Arc::default(),
            control: Arc::default(),
            observers: Arc::default(),
            trace: Mutex::default(),
            video: Mutex::default(),
            automatic_videos: Mutex::default(),
            overlays: overlays::Overlays::default(),
            statements: Statements::default(),
            uploads: uploads::Uploads::default(),
            idle: Mutex::default(),
            contexts: Mutex::default(),
            app: OnceLock::new(),
            ended: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// Returns the id for clients.
    pub(crate) fn id(&self) -> &str {
        self.id.get().map_or(DEFAULT_NAME, String::as_str)
    }

    /// Sets the id for clients of a session that is not the default session.
    pub(crate) fn set_id(&self, id: String) {
        // Only its creator sets it, once.
        let _ = self.id.set(id);
    }

    /// Returns the settings of the session.
    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// Sets the app under test.
    pub(crate) fn set_app(&self, app: App) {
        // Only its creator sets it, once.
        let _ = self.app.set(Arc::new(app));
    }

    /// Returns the app under test, if there is one.
    pub(crate) fn app(&self) -> Option<&App> {
        self.app.get().map(Arc::as_ref)
    }

    /// Returns an error with the reason if the session has ended.
    pub(crate) fn ensure_open(&self) -> Result<()> {
        match self.ended.get() {
            Some(ended) => Err((*ended).into()),
            None => Ok(()),
        }
    }

    /// Returns whether a call has its turn.
    pub(crate) fn is_busy(&self) -> bool {
        self.turn.try_lock().is_err()
    }

    /// Waits for the earlier calls; the session belongs to the caller until the guard is dropped.
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

    /// Like [`Self::turn`], for a call that closes the session: earlier calls are cancelled.
    pub(crate) fn last_turn(&self) -> impl Future<Output = Turn> + Send + use<> {
        let (turn, closing) = (self.turn.clone(), self.closing.clone());
        async move {
            let before =
                std::mem::take(&mut *closing.lock().unwrap_or_else(PoisonError::into_inner));
            before.cancel();
            Turn::on(turn, CancellationToken::new()).await
        }
    }

    /// Returns the folders of the session. The first call requests the client's roots.
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
            // The client may be busy; the next call repeats the request.
            None if self.fallback_output.get().is_none() => {
                return self.fallback_output.get_or_init(|| below(cwd()));
            }
            None => cwd(),
        };
        // The call has the session's turn, so no other call was faster.
        self.output.get_or_init(|| below(workspace))
    }

    /// Writes a whole answer to a file; returns its link. Only callers that may call the tool may read it.
    pub(crate) async fn write_answer(
        &self,
        call: &Call,
        extension: &str,
        text: String,
    ) -> Result<String> {
        let output = self.output(call).await;
        let file = output.automatic("answer", extension).await?;
        match call.tool.permission {
            Permission::Admin => output.write_sensitive(&file, text).await?,
            Permission::Read | Permission::Act => output.write(&file, text).await?,
        }
        Ok(file.link)
    }

    /// Returns the files of the session with the permissions of the call.
    pub(crate) async fn files(&self, call: &Call) -> FileAccess {
        FileAccess::new(self.output(call).await.clone(), call.permission())
    }

    /// Returns whether the operator allows to upload files to pages.
    pub(crate) fn can_upload(&self) -> bool {
        !self.settings.tools.forbidden.contains(&Risk::Upload)
    }

    /// Returns the files that the user gave to pages.
    pub(crate) fn uploads(&self) -> &uploads::Uploads {
        &self.uploads
    }

    /// Returns the folders of the session, once they are known.
    pub(crate) fn known_output(&self) -> Option<&Output> {
        self.output.get().or_else(|| self.fallback_output.get())
    }

    /// Completes a call that still has its turn: writes the journal and trims files. `arguments` are shown in the journal, `text` is the
    /// answer, `began` the time of arrival.
    pub(crate) async fn call_ended(
        self: &Arc<Self>,
        call: &Call,
        arguments: Option<Value>,
        answer: &Answered<'_>,
        began: SystemTime,
    ) {
        self.rest();
        let Some(output) = self.known_output() else {
            return;
        };
        if let Some(arguments) = arguments {
            self.journal.add(output, call.tool.name, &arguments, answer);
        }
        if let Some(limit) = self.settings.files.output_max_size {
            output.trim(limit, began).await;
        }
    }

    /// Returns the tabs, in a browser that is launched if necessary, and replaced if it has closed.
    pub(crate) async fn tabs(&self, call: &Call) -> Result<Arc<Tabs>> {
        self.ensure_open()?;
        let output = self.output(call).await;
        if let Some(tabs) = self.open_tabs() {
            // Read once: a lost browser is reported before it is replaced.
            let closed = tabs.closed_reason();
            if call.tool.answers_with_object()
                && let Some(lost) = self.take_lost_state()
            {
                // Programs must be informed that the state is lost.
                return Err(lost);
            }
            let Some(reason) = closed else {
                return Ok(tabs);
            };
            let mut state = self.state();
            state.tabs = None;
            state.scripts.clear();
            state.recording = None;
            self.statements.close();
            state.events.push(Event::BrowserReplaced { reason });
        }
        // The trace of a lost context.
        Box::pin(self.end_trace()).await;
        let encoder = self.automatic_encoder().await?;
        let progress = call.within(self.settings.browser.launch_timeout);
        call.set_status("waiting for the browser to start");
        // A large future, which is part of those of most tools.
        let context = self.browsers.context(&self.settings, &progress, output);
        let open = Box::pin(context).await?;
        call.clear_status();
        let profile = open.instead_of.clone();
        let observers = self.observers.clone();
        let tabs = Tabs::over(
            open,
            output.clone(),
            &self.registry,
            &self.settings,
            observers,
        );
        Box::pin(self.start_automatic_trace(&tabs)).await;
        {
            let mut state = self.state();
            state.tabs = Some(tabs.clone());
            if let Some(dir) = profile
                && !std::mem::replace(&mut state.profile_notice_sent, true)
            {
                state.events.push(Event::ProfileInUse { dir });
            }
        }
        let context = &tabs.open().context;
        Box::pin(self.start_automatic_videos(encoder, context, output)).await?;
        Ok(tabs)
    }

    /// Returns the persistent profile that is open in its browser, if any.
    pub(crate) fn open_profile(&self) -> Option<PathBuf> {
        let tabs = self.open_tabs()?;
        if !tabs.open().has_profile() || tabs.closed_reason().is_some() {
            return None;
        }
        let project = self.known_output()?.project();
        Some(self.settings.profile_dir(project))
    }

    /// Returns what the session lost with its browser or its current page, once.
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

    /// Returns the tabs, if a browser is open.
    pub(crate) fn open_tabs(&self) -> Option<Arc<Tabs>> {
        self.state().tabs.clone()
    }

    /// Returns the confirmations that the user gave for the rest of the session.
    pub(crate) fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// Returns the last calls of the session; none without a dashboard.
    pub(crate) fn call_log(&self) -> &Arc<CallLog> {
        &self.call_log
    }

    /// Returns the observers of the session's calls.
    pub(crate) fn observers(&self) -> &Observers {
        &self.observers
    }

    /// Returns the current page of this context, if one is open.
    pub(crate) fn current_page(&self) -> Option<Page> {
        Some(self.open_tabs()?.current()?.page.clone())
    }

    /// Returns the current page of the call's context, if one is open.
    pub(crate) fn page(self: &Arc<Self>, call: &Call) -> Option<Page> {
        self.part(call).ok()?.current_page()
    }

    /// Returns whether the current page of the call's context shows a dialog.
    pub(crate) fn has_dialog(self: &Arc<Self>, call: &Call) -> bool {
        let page = self.page(call);
        page.is_some_and(|page| page.dialog().is_some())
    }

    /// Returns the known URL of the current page of the call's context, without a command to the page.
    pub(crate) fn page_url(self: &Arc<Self>, call: &Call) -> Option<String> {
        Some(self.page(call)?.url())
    }

    /// Adds an event to the next answer.
    pub(crate) fn report_event(&self, event: Event) {
        self.state().events.push(event);
    }

    /// Returns an error if a navigation led to no document of the site: the page crashed, or shows an error page.
    pub(crate) async fn check_loaded(&self, page: &Page) -> Result<()> {
        page.follow(REDIRECT_TIMEOUT).await;
        if let Some(crashed) = self.open_tabs().and_then(|tabs| tabs.take_crash()) {
            return Err(crashed);
        }
        page.failure_since(0)
            .map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// Returns the current tab; opens one if there is none.
    pub(crate) async fn current_tab(&self, call: &Call) -> Result<Arc<Tab>> {
        let tabs = self.tabs(call).await?;
        // Calls of `@playwright/mcp` act in the next tab.
        let is_pinned = self.settings.answers.style == AnswerStyle::Compact;
        if let Some(gone) = tabs.take_gone().filter(|_| is_pinned) {
            return Err(gone);
        }
        let tab = tabs.current_or_new(&call.navigation()).await?;
        tab.initialized().await?;
        self.prepare_recording(call, &tab.page).await;
        Ok(tab)
    }

    /// Returns the environment of client code for this call.
    pub(crate) fn setting(&self, call: &Call, page: Page) -> Result<ScriptContext> {
        let gone = || engine::Error::PageClosed {};
        let tabs = self.open_tabs().ok_or_else(gone)?;
        let output = self.known_output().ok_or_else(gone)?;
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
            can_pause: (self.settings.tools.capabilities).contains(&Capability::Devtools),
        })
    }

    /// Keeps client code for as long as it listens to pages.
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

    /// Returns where client code is paused, if it is.
    pub(crate) fn pause(&self) -> Option<Pause> {
        self.state().scripts.iter().rev().find_map(Script::pause)
    }

    /// Removes the client code that is paused and returns it.
    pub(crate) fn take_paused_script(&self) -> Option<Script> {
        let mut state = self.state();
        let index = state
            .scripts
            .iter()
            .rposition(|script| script.pause().is_some())?;
        Some(state.scripts.remove(index))
    }

    /// Returns whether the actions of the user are recorded.
    pub(crate) fn is_recording(&self) -> bool {
        self.state().recording.is_some()
    }

    /// Starts to record the actions of the user in the pages of the context.
    pub(crate) async fn start_recording(&self, progress: &Progress) -> Result<()> {
        let tabs = self.open_tabs().ok_or(engine::Error::PageClosed {})?;
        let recording = tabs.open().context.record(progress).await?;
        self.state().recording = Some(Arc::new(recording));
        Ok(())
    }

    /// Stops the recording and returns it; `None` without a recording.
    pub(crate) async fn stop_recording(&self) -> Option<Recorded> {
        let recording = self.state().recording.take()?;
        let tabs = self.open_tabs()?;
        Some(recording.stop(&tabs.open().context).await)
    }

    /// Waits until a running recording includes the documents of a page.
    async fn prepare_recording(&self, call: &Call, page: &Page) {
        let recording = self.state().recording.clone();
        if let Some(recording) = recording {
            // A page that does not respond is not recorded.
            let progress = call.within(RECORDER_TIMEOUT);
            let _ = recording.prepare(&progress, page).await;
        }
    }

    /// Closes the browser; the next call that needs one launches another.
    pub(crate) async fn close(self: &Arc<Self>) {
        let session = self.clone();
        task::run_to_completion("closing session", async move {
            session.close_contexts(None).await;
            session.end_trace().await;
            session.finish_videos().await;
            if let Some(tabs) = session.forget() {
                tabs.finish_har().await;
                session.browsers.release(tabs.open().clone()).await;
            }
        })
        .await;
    }

    /// Closes the session's part of a browser, which is kept for other sessions.
    pub(crate) async fn release_browser(self: &Arc<Self>) {
        let session = self.clone();
        task::run_to_completion("closing session", async move {
            session.close_contexts(session.ended.get().copied()).await;
            session.close_own_context().await;
        })
        .await;
    }

    /// Closes the session's own context; the browser is kept.
    async fn close_own_context(&self) {
        self.end_trace().await;
        self.finish_videos().await;
        if let Some(tabs) = self.forget() {
            tabs.finish_har().await;
            self.browsers.release_context(tabs.open().clone()).await;
        }
    }

    /// Ends the session: later calls get an error. The browser is kept for the next session.
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
            state.recording = None;
            (state.tabs.take(), std::mem::take(&mut state.scripts))
        };
        drop(scripts);
        self.statements.close();
        self.uploads.clear();
        tabs
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
