//! A page of Chromium: one session for itself and one for each frame that lives in another process.

use super::browser::Shared;
use super::emulation;
use super::worlds::Worlds;
use crate::backend::{
    ContextOptions, Fetched, FrameId, Handle, Headers, InputStep, LoaderId, MediaFeatures,
    PageBackend, PageEvent, PageId, PageObserver, PdfOptions, RequestId, Screenshot, Verdict,
    Viewport,
};
use crate::error::{Error, Result};
use crate::routes::Routes;
use crate::task::Task;
use async_trait::async_trait;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio::sync::oneshot;
use wire::Session;
use wire::cdp::browser::GetVersion;
use wire::cdp::fetch::RequestPaused;
use wire::cdp::{page, target};

use dialogs::Chooser;
pub(super) use frames::Child;
use frames::FrameInfo;
use requests::RequestRecord;

mod dialogs;
mod frames;
mod navigation;
mod requests;
mod termination;

pub(crate) struct CdpPage {
    id: PageId,
    main: FrameId,
    browser: Weak<Shared>,
    session: Session,
    state: Mutex<State>,
    worlds: Mutex<Worlds>,
    pub(super) drag: super::input::Drag,
    observer: OnceLock<Arc<dyn PageObserver>>,
    pub(super) reader: OnceLock<Task>,
}

/// What the sessions of a page share.
struct State {
    options: ContextOptions,
    /// Init scripts and headers of this page alone, beside those of its context.
    own_scripts: Vec<String>,
    own_headers: Headers,
    viewport: Option<Viewport>,
    media: MediaFeatures,
    user_agent: String,
    /// All frames but the main one.
    frames: HashMap<FrameId, FrameInfo>,
    /// All sessions but the page's own.
    children: HashMap<Arc<str>, Child>,
    /// The newest requests.
    requests: HashMap<RequestId, RequestRecord>,
    /// The newest navigation of the main frame.
    newest: Option<LoaderId>,
    dialog: Option<Session>,
    chooser: Option<Chooser>,
    /// Requests whose server has asked who we are.
    challenged: HashSet<String>,
    /// Requests wait until somebody has decided about them.
    intercepts: bool,
    /// Requests whose answers somebody waits for.
    fetching: HashMap<String, oneshot::Sender<RequestPaused>>,
}

impl CdpPage {
    pub(super) fn new(
        session: Session,
        target: &str,
        browser: Weak<Shared>,
        options: ContextOptions,
        user_agent: String,
    ) -> Self {
        Self {
            id: target.into(),
            browser,
            main: target.into(),
            session,
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
            }),
            worlds: Mutex::default(),
            drag: super::input::Drag::default(),
            observer: OnceLock::new(),
            reader: OnceLock::new(),
        }
    }

    pub(super) fn page_id(&self) -> &PageId {
        &self.id
    }

    pub(super) fn browser(&self) -> Result<Arc<Shared>> {
        self.browser.upgrade().ok_or(Error::PageClosed {})
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn is_session(&self, id: &str) -> bool {
        self.session.id().is_some_and(|own| &**own == id)
    }

    /// Everything from here on is reported to `observer`.
    pub(super) fn set_observer(&self, observer: Arc<dyn PageObserver>) {
        // Set once, by the one task that prepares the page.
        let _ = self.observer.set(observer);
    }

    pub(super) fn report(&self, event: PageEvent) {
        if let Some(observer) = self.observer.get() {
            observer.event(event);
        }
    }

    pub(super) fn observer(&self) -> Option<&Arc<dyn PageObserver>> {
        self.observer.get()
    }

    pub(super) fn intercepts(&self) -> bool {
        self.state().intercepts
    }

    pub(super) fn routes(&self) -> Routes {
        self.state().options.routes.clone()
    }

    pub(super) fn set_intercepts(&self, on: bool) {
        self.state().intercepts = on;
    }

    pub(super) fn worlds(&self) -> MutexGuard<'_, Worlds> {
        self.worlds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn emulation(&self) -> emulation::Emulation {
        let state = self.state();
        emulation::Emulation {
            options: state.options(),
            viewport: state.viewport.clone(),
            media: state.media.clone(),
            user_agent: state.user_agent.clone(),
        }
    }

    pub(super) fn options(&self) -> ContextOptions {
        self.state().options()
    }

    pub(super) fn own_script(&self, source: &str) {
        self.state().own_scripts.push(source.to_owned());
    }

    pub(super) fn set_own_headers(&self, headers: &Headers) {
        self.state().own_headers = headers.clone();
    }

    pub(super) fn set_context_options(&self, options: ContextOptions) {
        self.state().options = options;
    }

    pub(super) async fn flush_events(&self) -> Result<()> {
        Ok(self.session.flush().await?)
    }
}

impl State {
    /// What the page's context and the page itself want.
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

    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>> {
        self.go_to(url).await
    }

    async fn reload(&self, ignore_cache: bool) -> Result<()> {
        self.reload_document(ignore_cache).await
    }

    async fn go(&self, delta: i32) -> Result<bool> {
        self.go_by(delta).await
    }

    fn stop_loading(&self) {
        drop(self.session.send(&page::StopLoading {}));
    }

    async fn frame_owner(&self, frame: &FrameId) -> Result<Option<(FrameId, Handle)>> {
        self.owner_of(frame).await
    }

    async fn set_input_files(
        &self,
        frame: &FrameId,
        element: Handle,
        files: &[PathBuf],
    ) -> Result<()> {
        self.fill_file_input(frame, element, files).await
    }

    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()> {
        self.answer_open_dialog(accept, prompt_text).await
    }

    async fn answer_file_chooser(&self, files: Option<&[PathBuf]>) -> Result<()> {
        self.answer_open_chooser(files).await
    }

    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>> {
        self.body_of_response(request).await
    }

    async fn request_body(&self, request: &RequestId) -> Result<Option<Vec<u8>>> {
        self.body_of_request(request).await
    }

    async fn check_responsive(&self, frame: &FrameId) -> Result<()> {
        self.check_script_execution(frame).await
    }

    async fn check_browser_responsive(&self) -> Result<()> {
        let browser = self.session.connection().root();
        Ok(browser.call(&GetVersion {}).await.map(drop)?)
    }

    fn terminate_execution(&self, frame: &FrameId) {
        self.terminate(frame);
    }

    async fn wait_for_termination(&self, frame: &FrameId) -> Result<()> {
        self.terminated(frame).await
    }

    fn stop_timers(&self, frame: &FrameId) {
        self.clear_timers(frame);
    }

    fn end_renderer(&self) {
        self.crash();
    }

    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<String> {
        self.call_core(frame, function, argument).await
    }

    fn prepare_frames(&self) {
        self.inject_frames();
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

    async fn input(&self, steps: &[InputStep]) -> Result<()> {
        self.dispatch(steps).await
    }

    async fn set_interception(&self, on: bool) -> Result<()> {
        self.intercept(on).await
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.own_script(source);
        self.send_init_script(source).await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        self.set_own_headers(headers);
        self.apply_extra_headers().await
    }

    async fn decide(&self, key: &str, verdict: Verdict) -> Result<()> {
        self.decide_about(key, verdict).await
    }

    async fn fetch(&self, key: &str, changes: Verdict) -> Result<Fetched> {
        self.fetch_for(key, changes).await
    }

    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>> {
        self.capture_screenshot(options).await
    }

    async fn pdf(&self, options: &PdfOptions) -> Result<Vec<u8>> {
        self.print(options).await
    }

    async fn set_viewport(&self, viewport: &Viewport) -> Result<()> {
        self.state().viewport = Some(viewport.clone());
        self.apply_viewport().await
    }

    async fn emulate_media(&self, features: &MediaFeatures) -> Result<()> {
        self.state().media = features.clone();
        self.apply_media().await
    }

    async fn flush(&self) -> Result<()> {
        self.flush_events().await
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
            // It does not find the page: that one is gone already.
            Err(wire::Error::Protocol { .. }) => Err(Error::PageClosed {}),
            other => Ok(other.map(drop)?),
        }
    }
}
