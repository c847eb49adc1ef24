//! A page of Firefox: a top-level browsing context and its descendants.

use super::parts::ContextParts;
use crate::backend::gesture::Devices;
use crate::backend::screencast::Polling;
use crate::backend::{
    FailureReason, FrameId, LoaderId, PageBackend, PageEvent, PageId, PageObserver, Profiling,
    Reporter, Styles, Unresponsive, Viewport,
};
use crate::changes::Changes;
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;
use wire::Session;
use wire::bidi::script::SharedReference;
use wire::bidi::{browsing_context, script};

use evaluation::sandbox_target;
use frames::FrameInfo;
use input::ActionsOrigin;

mod dialogs;
pub(super) mod emulation;
pub(crate) mod evaluation;
mod frames;
mod input;
pub(super) mod interception;
mod navigation;
mod requests;
mod screencast;
mod screenshot;
mod unresponsive;
mod workers;

/// The number of scripts to run before all requests of a document are reported: the browser process reports a request some turns after it
/// was sent. With two cores and a load of 14, one request in 12 was later than one script, one in 100 later than five.
const SCRIPTS_BEFORE_REPORT: usize = 5;

pub(crate) struct BidiPage {
    id: PageId,
    main: FrameId,
    parts: Arc<ContextParts>,
    state: Mutex<State>,
    /// Notifies of changes of documents.
    documents: Changes,
    reporter: Reporter,
    devices: Devices,
    /// The type of the events with which the sandboxes of the page's documents find each other. Pages must not learn it.
    discovery_event: String,
    /// The origin of the last input actions.
    origin: Mutex<Option<ActionsOrigin>>,
    polling: Polling,
}

#[derive(Default)]
struct State {
    frames: HashMap<FrameId, FrameInfo>,
    closed: bool,
    /// The number of navigations of the main frame.
    navigations: u64,
    /// The number of calls of `navigate`.
    navigate_calls: u64,
    /// The last navigation of the main frame.
    newest: Option<LoaderId>,
    /// The last navigation of the main frame that failed, and why.
    failure: Option<(LoaderId, NetError)>,
    /// The open file chooser: the frame and its input.
    chooser: Option<(String, SharedReference)>,
    intercepts: bool,
    viewport: Option<Viewport>,
    /// Why a request was aborted, until the browser reports its end.
    abort_reasons: HashMap<String, NetError>,
    /// Requests for which credentials were sent.
    answered: HashSet<String>,
}

impl BidiPage {
    pub(super) fn new(
        parts: Arc<ContextParts>,
        viewport: Option<Viewport>,
        context: &str,
    ) -> Arc<Self> {
        let main = FrameId::from(context);
        let mut state = State {
            viewport,
            ..State::default()
        };
        state.frames.insert(main.clone(), FrameInfo::new(None));
        Arc::new(Self {
            id: context.into(),
            main,
            parts,
            state: Mutex::new(state),
            documents: Changes::default(),
            reporter: Reporter::default(),
            devices: Devices::default(),
            discovery_event: Uuid::new_v4().to_string(),
            origin: Mutex::default(),
            polling: Polling::default(),
        })
    }

    /// Returns the identifier of the page's user context.
    pub(super) fn user_context(&self) -> &str {
        &self.parts.id
    }

    fn root(&self) -> &Session {
        &self.parts.root
    }

    /// Returns the identifier of the page for commands.
    fn name(&self) -> String {
        self.id.as_str().to_owned()
    }

    /// Sets the observer of all further events.
    pub(super) fn set_observer(&self, observer: Arc<dyn PageObserver>) {
        self.reporter.set_observer(observer);
    }

    pub(super) fn report(&self, event: PageEvent) {
        self.reporter.report(event);
    }

    /// Records and reports that the page was closed. Calls that wait for a document return.
    pub(super) fn on_closed(&self) {
        self.state().closed = true;
        self.parts.interception.remove(self.id.as_str());
        self.document_changed();
        self.report(PageEvent::Closed);
    }

    /// Records why a request is aborted.
    fn set_abort_reason(&self, request: &str, reason: FailureReason) {
        self.state()
            .abort_reasons
            .insert(request.to_owned(), reason.net_error());
    }

    pub(super) fn abort_reason(&self, request: &str) -> Option<NetError> {
        self.state().abort_reasons.remove(request)
    }

    /// Records a challenge of a request. Returns whether it is the first one.
    pub(super) fn first_challenge(&self, request: &str) -> bool {
        self.state().answered.insert(request.to_owned())
    }

    fn device_scale_factor(&self) -> f64 {
        let state = self.state();
        let viewport = state.viewport.as_ref();
        viewport.map_or(1.0, |viewport| viewport.device_scale_factor)
    }

    fn document_changed(&self) {
        self.documents.notify();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a script in the main world without waiting for its result.
    fn run_in_background(&self, expression: &str, frame: &FrameId) {
        self.root().post(&script::Evaluate {
            expression: expression.to_owned(),
            await_promise: false,
            target: sandbox_target(frame),
        });
    }
}

impl Profiling for BidiPage {}

impl Styles for BidiPage {}

#[async_trait]
impl PageBackend for BidiPage {
    fn id(&self) -> &PageId {
        &self.id
    }

    fn main_frame(&self) -> FrameId {
        self.main.clone()
    }

    async fn flush(&self) -> Result<()> {
        if self.state().closed {
            return Err(Error::PageClosed {});
        }
        Ok(self.root().flush().await?)
    }

    async fn flush_requests(&self) -> Result<()> {
        for _ in 0..SCRIPTS_BEFORE_REPORT {
            // A document that is being replaced runs no script, and its requests do not matter any more.
            let _ = self.check_responsive(&self.main).await;
        }
        self.flush().await
    }

    async fn activate(&self) -> Result<()> {
        self.root()
            .call(&browsing_context::Activate {
                context: self.name(),
            })
            .await?;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        let closed = self
            .root()
            .call(&browsing_context::Close {
                context: self.name(),
                prompt_unload: Some(false),
            })
            .await;
        match closed {
            // The page does not exist any more.
            Err(wire::Error::Refused { .. }) => Err(Error::PageClosed {}),
            other => Ok(other.map(drop)?),
        }
    }
}
