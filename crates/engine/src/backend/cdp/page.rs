//! A page of Chromium, with a session for itself and one for each out-of-process frame.

use crate::backend::{
    ContextOptions, FrameId, Headers, LoaderId, MediaFeatures, PageBackend, PageEvent, PageId,
    Reporter, RequestId, RunningWorker, ScreencastSender, Viewport,
};
use crate::changes::Changes;
use crate::error::{Error, Result};
use crate::launch::source::FileStager;
use crate::routes::Routes;
use async_trait::async_trait;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use task::Task;
use tokio::sync::oneshot;
use wire::Session;
use wire::cdp::fetch::RequestPaused;
use wire::cdp::{page, target};

use dialogs::Chooser;
use document_tools::ToolResponses;
use frames::{Child, FrameInfo};
use input::Drag;
use listeners::KnownListeners;
use profiling::ProfilingState;
use requests::RequestRecord;
use workers::ContextWorkers;
use worlds::Worlds;

mod authentication;
mod dialogs;
mod document_tools;
mod emulation;
mod evaluation;
mod events;
mod frames;
mod input;
mod interception;
mod listeners;
mod navigation;
mod profiling;
mod requests;
mod screencast;
mod screenshot;
pub(super) mod setup;
mod styles;
mod unresponsive;
pub(super) mod workers;
mod worlds;

pub(crate) struct CdpPage {
    id: PageId,
    main: FrameId,
    files: FileStager,
    session: Session,
    /// The shared or service worker whose session it is, instead of that of a page.
    worker: Option<RunningWorker>,
    context_workers: Weak<ContextWorkers>,
    state: Mutex<State>,
    worlds: Mutex<Worlds>,
    listeners: Mutex<HashMap<FrameId, KnownListeners>>,
    /// Notifies of new execution contexts.
    new_worlds: Changes,
    drag: Drag,
    tool_responses: ToolResponses,
    /// Where frames go while a screencast runs.
    screencast: Mutex<Option<ScreencastSender>>,
    reporter: Reporter,
    reader: OnceLock<Task>,
}

/// What a page has from its context.
#[derive(Clone)]
pub(super) struct ContextParts {
    pub(super) files: FileStager,
    pub(super) options: ContextOptions,
    /// The user agent of the browser itself.
    pub(super) user_agent: String,
    pub(super) workers: Weak<ContextWorkers>,
}

/// The state that the sessions of a page share.
struct State {
    options: ContextOptions,
    /// Init scripts and headers of this page, in addition to those of its context.
    own_scripts: Vec<String>,
    own_headers: Headers,
    viewport: Option<Viewport>,
    media: MediaFeatures,
    user_agent: String,
    /// All frames except the main frame.
    frames: HashMap<FrameId, FrameInfo>,
    /// All sessions except that of the page.
    children: HashMap<Arc<str>, Child>,
    /// The newest requests.
    requests: HashMap<RequestId, RequestRecord>,
    /// The newest navigation of the main frame.
    newest: Option<LoaderId>,
    dialog: Option<Session>,
    chooser: Option<Chooser>,
    /// Requests whose server has sent a challenge.
    challenged: HashSet<String>,
    /// Whether requests are paused until a decision.
    intercepts: bool,
    /// Requests whose response a call waits for.
    fetching: HashMap<String, oneshot::Sender<RequestPaused>>,
    profiling: ProfilingState,
}

impl CdpPage {
    pub(super) fn new(
        session: Session,
        target: &str,
        parts: ContextParts,
        worker: Option<RunningWorker>,
    ) -> Self {
        let ContextParts {
            files,
            options,
            user_agent,
            workers,
        } = parts;
        Self {
            id: target.into(),
            files,
            main: target.into(),
            session,
            worker,
            context_workers: workers,
            state: Mutex::new(State {
                viewport: options.viewport.clone(),
                media: options.media.clone(),
                options,
                own_scripts: Vec::new(),
                own_headers: Headers::new(),
                user_agent,
                frames: HashMap::new(),
                children: HashMap::new(),
                requests: HashMap::new(),
                newest: None,
                dialog: None,
                chooser: None,
                challenged: HashSet::new(),
                intercepts: false,
                fetching: HashMap::new(),
                profiling: ProfilingState::default(),
            }),
            worlds: Mutex::default(),
            listeners: Mutex::default(),
            new_worlds: Changes::default(),
            drag: Drag::default(),
            tool_responses: ToolResponses::default(),
            screencast: Mutex::default(),
            reporter: Reporter::default(),
            reader: OnceLock::new(),
        }
    }

    pub(super) fn is_session(&self, id: &str) -> bool {
        self.session.id().is_some_and(|own| &**own == id)
    }

    pub(super) fn report(&self, event: PageEvent) {
        self.reporter.report(event);
    }

    fn routes(&self) -> Routes {
        self.state().options.routes.clone()
    }

    fn worlds(&self) -> MutexGuard<'_, Worlds> {
        self.worlds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listeners(&self) -> MutexGuard<'_, HashMap<FrameId, KnownListeners>> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn options(&self) -> ContextOptions {
        self.state().options()
    }

    pub(super) fn set_context_options(&self, options: ContextOptions) {
        self.state().options = options;
    }
}

impl State {
    /// Returns the options of the context and of the page itself.
    fn options(&self) -> ContextOptions {
        let mut options = self.options.clone();
        options.init_scripts.extend_from_slice(&self.own_scripts);
        options.extra_headers.retain(|(name, _)| {
            let own = |(own, _): &(String, String)| own.eq_ignore_ascii_case(name);
            !self.own_headers.iter().any(own)
        });
        options.extra_headers.extend_from_slice(&self.own_headers);
        options
    }
}

#[async_trait]
impl PageBackend for CdpPage {
    fn id(&self) -> &PageId {
        &self.id
    }

    fn main_frame(&self) -> FrameId {
        self.main.clone()
    }

    async fn flush(&self) -> Result<()> {
        Ok(self.session.flush().await?)
    }

    async fn activate(&self) -> Result<()> {
        self.session.call(&page::BringToFront {}).await?;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        let closed = self
            .session
            .connection()
            .root()
            .call(&target::CloseTarget {
                target_id: self.id.as_str().to_owned(),
            })
            .await;
        match closed {
            // The page does not exist any more.
            Err(wire::Error::Protocol { .. }) => Err(Error::PageClosed {}),
            other => Ok(other.map(drop)?),
        }
    }
}
