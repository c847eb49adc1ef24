//! A page of Firefox: a top-level browsing context and those inside it.

use super::context::BidiContext;
use crate::backend::gesture::Devices;
use crate::backend::{
    FailureReason, Feature, Fetched, FrameId, Handle, Headers, InputStep, LoaderId, MediaFeatures,
    PageBackend, PageEvent, PageId, PageObserver, PdfOptions, RequestId, Screenshot, Verdict,
    Viewport,
};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio::sync::watch;
use uuid::Uuid;
use wire::Session;
use wire::bidi::script::SharedReference;
use wire::bidi::session::Status;
use wire::bidi::{browsing_context, network, script};

use frames::FrameInfo;

mod dialogs;
mod frames;
mod navigation;

/// A request is reported some turns of the browser process after the document sent it: after so many scripts that run one after the
/// other. With two cores and a load of 14, one request in 12 was reported later than one script, one in 100 later than five.
const REPORTED: usize = 5;

pub(crate) struct BidiPage {
    id: PageId,
    main: FrameId,
    pub(super) root: Session,
    owner: Weak<BidiContext>,
    state: Mutex<State>,
    /// Counts up whenever a document comes or goes.
    documents: watch::Sender<u64>,
    observer: OnceLock<Arc<dyn PageObserver>>,
    pub(super) devices: Devices,
    /// The type of the events by which our sandboxes of its documents find each other. No page may learn it.
    pub(super) meeting: String,
    /// Where the last gesture went.
    pub(super) ground: Mutex<Option<super::input::ActionsOrigin>>,
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
    failure: Option<String>,
    /// A file dialog that waits: the frame, and its field.
    chooser: Option<(String, SharedReference)>,
    intercepts: bool,
    viewport: Option<Viewport>,
    /// Why we refused a request, until the browser tells of its end.
    refused: HashMap<String, &'static str>,
    /// Requests that were told who we are.
    answered: HashSet<String>,
}

impl BidiPage {
    pub(super) fn new(owner: Weak<BidiContext>, root: Session, context: &str) -> Arc<Self> {
        let main = FrameId::from(context);
        let mut state = State {
            viewport: owner
                .upgrade()
                .and_then(|owner| owner.options().viewport.clone()),
            ..State::default()
        };
        state.frames.insert(main.clone(), FrameInfo::new(None));
        Arc::new(Self {
            id: context.into(),
            main,
            root,
            owner,
            state: Mutex::new(state),
            documents: watch::Sender::new(0),
            observer: OnceLock::new(),
            devices: Devices::default(),
            meeting: Uuid::new_v4().to_string(),
            ground: Mutex::default(),
        })
    }

    pub(super) fn page_id(&self) -> &PageId {
        &self.id
    }

    pub(super) fn context(&self) -> Option<Arc<BidiContext>> {
        self.owner.upgrade()
    }

    /// The page as commands name it.
    pub(super) fn name(&self) -> String {
        self.id.as_str().to_owned()
    }

    /// Everything from here on is reported to `observer`.
    pub(super) fn set_observer(&self, observer: Arc<dyn PageObserver>) {
        // Set once, where the page is made.
        let _ = self.observer.set(observer);
    }

    pub(super) fn observer(&self) -> Option<&Arc<dyn PageObserver>> {
        self.observer.get()
    }

    pub(super) fn report(&self, event: PageEvent) {
        if let Some(observer) = self.observer.get() {
            observer.event(event);
        }
    }

    pub(super) fn intercepts(&self) -> bool {
        self.state().intercepts
    }

    /// It is gone; whoever waits for one of its documents is told.
    pub(super) fn on_closed(&self) {
        self.state().closed = true;
        self.document_changed();
        self.report(PageEvent::Closed);
    }

    /// Remembers why a request is refused.
    pub(super) fn set_abort_reason(&self, request: &str, reason: FailureReason) {
        self.state()
            .refused
            .insert(request.to_owned(), reason.net_error());
    }

    pub(super) fn abort_reason(&self, request: &str) -> Option<&'static str> {
        self.state().refused.remove(request)
    }

    /// Whether a request asks who we are for the first time.
    pub(super) fn first_challenge(&self, request: &str) -> bool {
        self.state().answered.insert(request.to_owned())
    }

    pub(super) fn device_scale_factor(&self) -> f64 {
        let state = self.state();
        let viewport = state.viewport.as_ref();
        viewport.map_or(1.0, |viewport| viewport.device_scale_factor)
    }

    fn document_changed(&self) {
        self.documents.send_modify(|count| *count += 1);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a script to the page's own world, whose answer nobody waits for.
    fn run_in_background(&self, expression: &str, frame: &FrameId) {
        drop(self.root.send(&script::Evaluate {
            expression: expression.to_owned(),
            await_promise: false,
            target: super::evaluate::sandbox_target(frame),
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

    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>> {
        self.go_to(url).await
    }

    async fn reload(&self, ignore_cache: bool) -> Result<()> {
        self.reload_document(ignore_cache).await
    }

    async fn go(&self, delta: i32) -> Result<bool> {
        self.go_by(delta).await
    }

    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<String> {
        self.call_core(frame, function, argument).await
    }

    async fn evaluate(
        &self,
        frame: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>> {
        self.evaluate_in_main(frame, expression, element).await
    }

    async fn parses(&self, frame: &FrameId, script: &str) -> Result<bool> {
        self.parses_in_main(frame, script).await
    }

    async fn evaluate_all(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>> {
        self.evaluate_all_in_main(frame, function, elements).await
    }

    async fn content_frames(
        &self,
        frame: &FrameId,
        owners: &[Handle],
    ) -> Result<Vec<Option<FrameId>>> {
        self.frames_of(frame, owners).await
    }

    async fn frame_owner(&self, frame: &FrameId) -> Result<Option<(FrameId, Handle)>> {
        self.owner_of(frame).await
    }

    async fn input(&self, steps: &[InputStep]) -> Result<()> {
        self.dispatch(steps).await
    }

    async fn set_input_files(
        &self,
        frame: &FrameId,
        element: Handle,
        files: &[PathBuf],
    ) -> Result<()> {
        self.fill_file_input(frame, element, files).await
    }

    async fn set_interception(&self, on: bool) -> Result<()> {
        self.state().intercepts = on;
        let context = self.context().ok_or(Error::PageClosed {})?;
        context.browser()?.apply_interception().await
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.root
            .call(&script::AddPreloadScript {
                function_declaration: super::emulation::preload(source),
                contexts: Some(vec![self.name()]),
                ..Default::default()
            })
            .await?;
        Ok(())
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        self.root
            .call(&network::SetExtraHeaders {
                headers: super::emulation::entries(headers.clone()),
                contexts: Some(vec![self.name()]),
                user_contexts: None,
            })
            .await?;
        Ok(())
    }

    async fn decide(&self, key: &str, verdict: Verdict) -> Result<()> {
        self.decide_about(key, verdict).await
    }

    async fn fetch(&self, _key: &str, _changes: Verdict) -> Result<Fetched> {
        super::CAPABILITIES.require(Feature::HoldResponse)?;
        Err(Error::PageClosed {})
    }

    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()> {
        self.answer_open_dialog(accept, prompt_text).await
    }

    async fn answer_file_chooser(&self, files: Option<&[PathBuf]>) -> Result<()> {
        self.answer_open_chooser(files).await
    }

    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        self.capture_screenshot(options).await
    }

    async fn pdf(&self, options: &PdfOptions) -> Result<Vec<u8>> {
        self.print(options).await
    }

    async fn set_viewport(&self, viewport: &Viewport) -> Result<()> {
        if viewport.is_mobile {
            super::CAPABILITIES.require(Feature::MobileViewport)?;
        }
        if viewport.has_touch {
            super::CAPABILITIES.require(Feature::TouchScreen)?;
        }
        let command = browsing_context::SetViewport {
            context: Some(self.name()),
            ..super::emulation::viewport_command(viewport)
        };
        self.root.call(&command).await?;
        self.state().viewport = Some(viewport.clone());
        Ok(())
    }

    async fn emulate_media(&self, features: &MediaFeatures) -> Result<()> {
        if *features != MediaFeatures::default() {
            super::CAPABILITIES.require(Feature::MediaFeatures)?;
        }
        Ok(())
    }

    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>> {
        self.body(request, network::DataType::Response).await
    }

    async fn request_body(&self, request: &RequestId) -> Result<Option<Vec<u8>>> {
        match self.body(request, network::DataType::Request).await {
            Ok(body) => Ok(Some(body)),
            // Firefox refuses to answer for a request without one.
            Err(Error::Protocol { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn stop_loading(&self) {
        self.run_in_background("window.stop()", &self.main);
    }

    async fn check_responsive(&self, frame: &FrameId) -> Result<()> {
        self.check_script_execution(frame).await
    }

    async fn check_browser_responsive(&self) -> Result<()> {
        Ok(self.root.call(&Status {}).await.map(drop)?)
    }

    /// Nothing ends a script of Firefox but the end of its page.
    fn terminate_execution(&self, _frame: &FrameId) {}

    async fn wait_for_termination(&self, frame: &FrameId) -> Result<()> {
        self.stop_loading();
        self.check_script_execution(frame).await
    }

    fn stop_timers(&self, frame: &FrameId) {
        self.run_in_background(
            "for (let last = setTimeout(String), id = last; id > Math.max(0, last - 1e5); id--) clearTimeout(id)",
            frame,
        );
    }

    fn end_renderer(&self) {
        drop(self.root.send(&browsing_context::Close {
            context: self.name(),
            prompt_unload: Some(false),
        }));
        self.report(PageEvent::Crashed);
    }

    async fn flush(&self) -> Result<()> {
        if self.state().closed {
            return Err(Error::PageClosed {});
        }
        Ok(self.root.flush().await?)
    }

    async fn flush_requests(&self) -> Result<()> {
        for _ in 0..REPORTED {
            // A document that is being replaced runs none, and its requests do not count any more.
            let _ = self.check_script_execution(&self.main).await;
        }
        self.flush().await
    }

    async fn activate(&self) -> Result<()> {
        self.root
            .call(&browsing_context::Activate {
                context: self.name(),
            })
            .await?;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        let closed = self
            .root
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
