//! A session: a browser context with its tabs, its folders, and the turn that only one call at a time has.

pub(crate) mod app;
pub(crate) mod changes;
mod console_file;
mod contexts;
pub(crate) mod control;
pub(crate) mod document_tools;
mod end;
pub(crate) mod feature;
mod folders;
mod init_pages;
mod report;
mod script_access;
mod scripts;
mod tab;
mod tabs;
mod turns;

use crate::access::policy::Approvals;
use crate::access::principal::Permission;
use crate::answers::reply::{Event, Reply};
use crate::apps::Reason;
use crate::calls::{Call, Client, Turn};
use crate::config::{AnswerStyle, Capability, Settings};
use crate::error::{Error, Result};
use crate::files::{self, FileAccess, Output, Workspace};
use crate::sessions::browsers::Browsers;
use crate::sessions::observers::Observers;
use app::App;
use control::Control;
use end::End;
use engine::{Page, Throttling};
use feature::{Answered, Features, NewFeatures, SessionFeature};
use folders::Folders;
use script::ScriptContext;
use script_access::ScriptAccess;
use scripts::Scripts;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;
use turns::Turns;

pub(crate) use console_file::{
    level as console_level, line as console_line, lines as console_lines,
};
pub(crate) use contexts::DEFAULT_NAME as DEFAULT_CONTEXT;
pub(crate) use end::Ended;
pub(crate) use tab::{TITLE_TIMEOUT, Tab};
pub(crate) use tabs::{TabSummary, Tabs};

/// The name of the default session.
pub(crate) const DEFAULT_NAME: &str = "default";

/// The state that the calls of one client share.
pub(crate) struct Session {
    settings: Arc<Settings>,
    browsers: Arc<Browsers>,
    turns: Turns,
    /// Set at most once.
    id: OnceLock<String>,
    folders: Folders,
    scripts: Scripts,
    approvals: Approvals,
    /// Who uses the browser: calls, or a user at the dashboard.
    control: Arc<Control>,
    /// The observers of calls, which all contexts share.
    observers: Arc<Observers>,
    features: Features,
    contexts: Mutex<contexts::Contexts>,
    /// The app under test, if there is one. Set once.
    app: OnceLock<Arc<App>>,
    end: End,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tabs: Option<Arc<Tabs>>,
    /// Events that no tab reports.
    events: Vec<Event>,
    /// Whether the client was informed that the profile is not used.
    profile_notice_sent: bool,
}

/// Returns the workspace of a client: its roots, or otherwise the server's folder. `None`: the client did not respond in time.
pub(crate) async fn workspace(client: &dyn Client, settings: &Settings) -> Option<Workspace> {
    let roots = client.roots().await?;
    let roots = roots.iter().filter_map(|uri| files::file_uri(uri));
    Some(Workspace::of(roots.collect(), &settings.files))
}

impl Session {
    /// Creates a session without a browser.
    pub(crate) fn new(
        settings: Arc<Settings>,
        browsers: Arc<Browsers>,
        features: NewFeatures,
    ) -> Self {
        Self {
            settings,
            browsers,
            turns: Turns::default(),
            id: OnceLock::new(),
            folders: Folders::default(),
            scripts: Scripts::default(),
            approvals: Approvals::default(),
            control: Arc::default(),
            observers: Arc::default(),
            features: Features::new(features),
            contexts: Mutex::default(),
            app: OnceLock::new(),
            end: End::default(),
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
        match self.end.reached() {
            Some(ended) => Err(ended.into()),
            None => Ok(()),
        }
    }

    /// Returns whether a call has its turn.
    pub(crate) fn is_busy(&self) -> bool {
        self.turns.is_taken()
    }

    /// Waits for the earlier calls; the session belongs to the caller until the guard is dropped.
    pub(crate) fn turn(&self) -> impl Future<Output = Turn> + Send + use<> {
        self.turns.next()
    }

    /// Like [`Self::turn`], for a call that closes the session: earlier calls are cancelled.
    pub(crate) fn last_turn(&self) -> impl Future<Output = Turn> + Send + use<> {
        self.turns.last()
    }

    /// Returns the folders of the session. The first call requests the client's roots.
    pub(crate) async fn output(&self, call: &Call) -> &Output {
        let id = self.id.get().map(String::as_str);
        self.folders.of(call, &self.settings, id).await
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

    /// Returns the folders of the session, once they are known.
    pub(crate) fn known_output(&self) -> Option<&Output> {
        self.folders.get()
    }

    /// Completes a call that still has its turn, and trims files. `arguments` are for a record of calls, `began` is the time of arrival.
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
            for feature in self.features.all() {
                feature.after_call(output, call.tool.name, &arguments, answer);
            }
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
            drop(self.forget());
            self.report_event(Event::BrowserReplaced { reason });
        }
        for feature in self.features.all() {
            feature.before_open(self).await?;
        }
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
            self.scripts.registry(),
            &self.settings,
            observers,
        );
        // A call that is cancelled meanwhile leaves no context that its features do not know.
        let opened = self.open_features(&tabs).await;
        {
            let mut state = self.state();
            state.tabs = Some(tabs.clone());
            if let Some(dir) = profile
                && !std::mem::replace(&mut state.profile_notice_sent, true)
            {
                state.events.push(Event::ProfileInUse { dir });
            }
        }
        opened?;
        Ok(tabs)
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

    /// Returns who uses the browser.
    pub(crate) fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// Returns the client code that listens to pages.
    pub(crate) fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    /// Returns the state of a feature.
    pub(crate) fn feature<T: SessionFeature + Default>(&self) -> Arc<T> {
        self.features.get()
    }

    /// Informs the features that a tool has run. `acts`: the tool changes something.
    pub(crate) fn tool_ended(&self, reply: &mut Reply, acts: bool) {
        for feature in self.features.all() {
            feature.after_tool(self, reply, acts);
        }
    }

    /// Returns the observers of the session's calls.
    pub(crate) fn observers(&self) -> &Arc<Observers> {
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

    /// Adds an event to the next answer.
    pub(crate) fn report_event(&self, event: Event) {
        self.state().events.push(event);
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
        for feature in self.features.all() {
            feature.before_use(call, &tab.page).await;
        }
        Ok(tab)
    }

    /// Returns the environment of client code for this call.
    pub(crate) fn script_context(&self, call: &Call, page: Page) -> Result<ScriptContext> {
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
            registry: self.scripts.registry().clone(),
            action: self.settings.timeouts.action,
            navigation: self.settings.timeouts.navigation,
            longest: self.settings.longest_call(),
            can_pause: (self.settings.tools.capabilities).contains(&Capability::Devtools),
        })
    }

    /// Closes the browser; the next call that needs one launches another.
    pub(crate) async fn close(self: &Arc<Self>) {
        let session = self.clone();
        task::run_to_completion("closing session", async move {
            session.close_contexts(None).await;
            session.close_features().await;
            if let Some(tabs) = session.forget() {
                session.browsers.release(tabs.open().clone()).await;
            }
        })
        .await;
    }

    /// Closes the session's part of a browser, which is kept for other sessions.
    pub(crate) async fn release_browser(self: &Arc<Self>) {
        let session = self.clone();
        task::run_to_completion("closing session", async move {
            session.close_contexts(session.end.reached()).await;
            session.close_own_context().await;
        })
        .await;
    }

    /// Closes the session's own context; the browser is kept.
    async fn close_own_context(&self) {
        self.close_features().await;
        if let Some(tabs) = self.forget() {
            self.browsers.release_context(tabs.open().clone()).await;
        }
    }

    /// Ends the session: later calls get an error. The browser is kept for the next session.
    pub(crate) async fn end(self: &Arc<Self>, ended: Ended) {
        self.end.reach(ended);
        self.release_browser().await;
        let Some(app) = self.app() else { return };
        for (server, left) in app.release_servers(Reason::Over).await {
            if let Err(error) = left {
                tracing::warn!(%error, server = server.name(), "a server cannot be stopped");
            }
        }
    }

    /// Informs the features that the browser context is open.
    async fn open_features(&self, tabs: &Arc<Tabs>) -> Result<()> {
        for feature in self.features.all() {
            feature.opened(self, tabs).await?;
        }
        Ok(())
    }

    /// Informs the features that the browser context closes.
    async fn close_features(&self) {
        for feature in self.features.all().into_iter().rev() {
            feature.closing(self).await;
        }
    }

    fn forget(&self) -> Option<Arc<Tabs>> {
        let tabs = self.state().tabs.take();
        self.scripts.stop();
        self.features.close();
        tabs
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
