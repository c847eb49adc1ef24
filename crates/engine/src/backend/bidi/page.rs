//! A page of Firefox: a top-level browsing context and those inside it.

use super::parts::ContextParts;
use crate::backend::gesture::Devices;
use crate::backend::{
    FailureReason, FrameId, PageBackend, PageEvent, PageId, PageObserver, Reporter, Unresponsive,
    Viewport,
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
mod evaluation;
mod frames;
mod input;
pub(super) mod interception;
mod navigation;
mod requests;
mod screenshot;
mod unresponsive;

/// A request is reported some turns of the browser process after the document sent it: after so many scripts that run one after the
/// other. With two cores and a load of 14, one request in 12 was reported later than one script, one in 100 later than five.
const REPORTED: usize = 5;

pub(crate) struct BidiPage {
    id: PageId,
    main: FrameId,
    parts: Arc<ContextParts>,
    state: Mutex<State>,
    /// Documents that come and go.
    documents: Changes,
    reporter: Reporter,
    devices: Devices,
    /// The type of the events by which our sandboxes of its documents find each other. No page may learn it.
    meeting: String,
    /// Where the last gesture went.
    ground: Mutex<Option<ActionsOrigin>>,
}

#[derive(Default)]
struct State {
    frames: HashMap<FrameId, FrameInfo>,
    closed: bool,
    /// How often a navigation of the main frame began.
    navigations: u64,
    /// How often somebody asked for one by its address.
    asked: u64,
    /// Why the last one failed.
    failure: Option<NetError>,
    /// A file dialog that waits: the frame, and its field.
    chooser: Option<(String, SharedReference)>,
    intercepts: bool,
    viewport: Option<Viewport>,
    /// Why we refused a request, until the browser tells of its end.
    refused: HashMap<String, NetError>,
    /// Requests that were told who we are.
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
            meeting: Uuid::new_v4().to_string(),
            ground: Mutex::default(),
        })
    }

    /// The context that the page belongs to.
    pub(super) fn user_context(&self) -> &str {
        &self.parts.id
    }

    fn root(&self) -> &Session {
        &self.parts.root
    }

    /// The page as commands name it.
    fn name(&self) -> String {
        self.id.as_str().to_owned()
    }

    /// Everything from here on is reported to `observer`.
    pub(super) fn set_observer(&self, observer: Arc<dyn PageObserver>) {
        self.reporter.set_observer(observer);
    }

    pub(super) fn report(&self, event: PageEvent) {
        self.reporter.report(event);
    }

    /// It is gone; whoever waits for one of its documents is told.
    pub(super) fn on_closed(&self) {
        self.state().closed = true;
        self.parts.interception.remove(self.id.as_str());
        self.document_changed();
        self.report(PageEvent::Closed);
    }

    /// Remembers why a request is refused.
    fn set_abort_reason(&self, request: &str, reason: FailureReason) {
        self.state()
            .refused
            .insert(request.to_owned(), reason.net_error());
    }

    pub(super) fn abort_reason(&self, request: &str) -> Option<NetError> {
        self.state().refused.remove(request)
    }

    /// Whether a request asks who we are for the first time.
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

    /// Sends a script to the page's own world, whose answer nobody waits for.
    fn run_in_background(&self, expression: &str, frame: &FrameId) {
        drop(self.root().send(&script::Evaluate {
            expression: expression.to_owned(),
            await_promise: false,
            target: sandbox_target(frame),
        }));
    }
}

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
        for _ in 0..REPORTED {
            // A document that is being replaced runs none, and its requests do not count any more.
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
            // It does not find the page: that one is gone already.
            Err(wire::Error::Refused { .. }) => Err(Error::PageClosed {}),
            other => Ok(other.map(drop)?),
        }
    }
}
