//! A page of WebKit: a window of a session, and the frames in it.

use super::context::WebDriverContext;
use super::driver::{Driver, FrameTarget, page_error};
use crate::backend::gesture::Devices;
use crate::backend::{
    Feature, Fetched, FrameId, Handle, Headers, InputStep, LoaderId, MediaFeatures, PageBackend,
    PageEvent, PageId, PageObserver, PdfOptions, RequestId, Screenshot, Verdict, Viewport,
};
use crate::error::{Error, Result};
use crate::task;
use async_trait::async_trait;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio::sync::watch;
use wire::webdriver::WebDriverCommand;
use wire::webdriver::window::SwitchToWindow;

pub(super) use state::{FrameState, InspectorTarget, Outcome, Pending, RequestRecord, State};

mod state;

pub(crate) struct WebDriverPage {
    itself: Weak<Self>,
    id: PageId,
    main: FrameId,
    window: String,
    pub(super) driver: Arc<Driver>,
    owner: Weak<WebDriverContext>,
    state: Mutex<State>,
    /// Counts up whenever a document comes or goes.
    changes: watch::Sender<u64>,
    observer: OnceLock<Arc<dyn PageObserver>>,
    pub(super) devices: Devices,
    /// Held by whoever looks for frames.
    pub(super) looking: tokio::sync::Mutex<()>,
}

impl WebDriverPage {
    pub(super) fn new(
        owner: &Arc<WebDriverContext>,
        driver: Arc<Driver>,
        window: &str,
    ) -> Arc<Self> {
        let main = FrameId::from(window);
        let mut state = State {
            viewport: owner.options().viewport.clone(),
            ..State::default()
        };
        state.frames.insert(main.clone(), FrameState::default());
        Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            id: window.trim_start_matches("page-").into(),
            main,
            window: window.to_owned(),
            driver,
            owner: Arc::downgrade(owner),
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
            observer: OnceLock::new(),
            devices: Devices::default(),
            looking: tokio::sync::Mutex::default(),
        })
    }

    pub(super) fn page_id(&self) -> &PageId {
        &self.id
    }

    pub(super) fn main(&self) -> &FrameId {
        &self.main
    }

    pub(super) fn window(&self) -> &str {
        &self.window
    }

    pub(super) fn itself(&self) -> Option<Arc<Self>> {
        self.itself.upgrade()
    }

    pub(super) fn context(&self) -> Result<Arc<WebDriverContext>> {
        self.owner.upgrade().ok_or(Error::PageClosed {})
    }

    /// The window, whatever it shows.
    pub(super) fn frame_target(&self) -> FrameTarget {
        FrameTarget {
            window: self.window.clone(),
            path: Vec::new(),
        }
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

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn notify_changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The window has gone.
    pub(super) fn on_window_closed(&self) {
        tracing::debug!(window = self.window, "the driver does not know a window");
        if let Ok(context) = self.context() {
            context.remove_window(self);
        } else {
            self.on_closed();
        }
    }

    /// It is gone; whoever waits for one of its documents is told.
    pub(super) fn on_closed(&self) {
        if std::mem::replace(&mut self.state().closed, true) {
            return;
        }
        self.notify_changed();
        self.report(PageEvent::Closed);
    }

    /// Sends a command to the window's main frame.
    pub(super) async fn send_to_main<C: WebDriverCommand>(
        &self,
        command: &C,
    ) -> Result<C::Response> {
        if self.state().closed {
            return Err(Error::PageClosed {});
        }
        let asked = self.driver.at(&self.frame_target(), command).await;
        self.map_answer(asked).await
    }

    /// Sends a command to the frame that has the focus.
    pub(super) async fn send_to_focused<C: WebDriverCommand>(
        &self,
        command: &C,
    ) -> Result<C::Response> {
        let asked = self.driver.in_window(&self.window, command).await;
        self.map_answer(asked).await
    }

    async fn map_answer<T>(&self, answer: wire::Result<T>) -> Result<T> {
        match answer.map_err(page_error) {
            Err(Error::DialogOpen {}) => Err(self.on_dialog_noticed().await),
            Err(Error::PageClosed {}) => {
                self.on_window_closed();
                Err(Error::PageClosed {})
            }
            Err(Error::BrowserClosed { reason }) => Err(self.browser_closed_error(reason)),
            answer => answer,
        }
    }

    /// The driver says that its session is over.
    pub(super) fn browser_closed_error(&self, reason: String) -> Error {
        if let Ok(context) = self.context() {
            context.on_browser_closed(&reason);
        }
        Error::BrowserClosed { reason }
    }

    /// Tells the page through its inspector, if there is one.
    pub(super) fn send_to_inspector(&self, method: &'static str, params: &Value) {
        let inspector_target = self.state().inspector_target.clone();
        if let (Ok(context), Some(inspector_target)) = (self.context(), inspector_target)
            && let Some(inspector) = context.inspector()
        {
            inspector.send_command(
                inspector_target.target,
                &inspector_target.part,
                method,
                params,
            );
        }
    }

    /// Asks the page through its inspector.
    pub(super) async fn call_inspector<T: serde::de::DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<T> {
        let inspector_target = self
            .state()
            .inspector_target
            .clone()
            .ok_or(Error::PageClosed {})?;
        let context = self.context()?;
        let inspector = context.inspector().ok_or(Error::PageClosed {})?;
        let answer = inspector
            .call(
                inspector_target.target,
                &inspector_target.part,
                method,
                params,
            )
            .await?;
        serde_json::from_str(answer.get()).map_err(|error| Error::Protocol {
            method: method.to_owned(),
            message: error.to_string(),
        })
    }

    /// What happens in the page is heard, not looked for.
    pub(super) fn has_inspector(&self) -> bool {
        self.state().inspector_target.is_some()
    }

    /// Fails if the context's browser cannot do it.
    pub(super) fn require(&self, feature: Feature) -> Result<()> {
        self.context()?.capabilities().require(feature)
    }
}

#[async_trait]
impl PageBackend for WebDriverPage {
    fn id(&self) -> &PageId {
        &self.id
    }

    fn main_frame(&self) -> FrameId {
        self.main.clone()
    }

    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>> {
        self.mark_last_used();
        self.go_to(url).await
    }

    async fn reload(&self, _ignore_cache: bool) -> Result<()> {
        self.mark_last_used();
        self.reload_document().await
    }

    async fn go(&self, delta: i32) -> Result<bool> {
        self.mark_last_used();
        self.go_by(delta).await
    }

    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<String> {
        self.call_core(frame, function, argument).await
    }

    fn prepare_frames(&self) {
        // One command at a time: where news come by themselves, what is asked next would only wait for this. Its answer tells the
        // address of the page.
        if !self.has_inspector() {
            self.schedule_poll();
        }
    }

    async fn evaluate(
        &self,
        frame: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>> {
        self.mark_last_used();
        self.evaluate_in(frame, expression, element).await
    }

    async fn parses(&self, frame: &FrameId, script: &str) -> Result<bool> {
        self.parses_in(frame, script).await
    }

    async fn evaluate_all(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>> {
        self.evaluate_all_in(frame, function, elements).await
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
        self.mark_last_used();
        self.dispatch(steps).await
    }

    async fn set_input_files(
        &self,
        frame: &FrameId,
        element: Handle,
        files: &[PathBuf],
    ) -> Result<()> {
        self.find_owners(frame).await?;
        let element = self.element(frame, element).await?;
        self.set_field_files(frame, element, files).await
    }

    async fn set_interception(&self, on: bool) -> Result<()> {
        if on {
            self.require(Feature::Interception)?;
        }
        self.state().intercepts = on;
        self.context()?.apply_interception().await
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.require(Feature::InitScripts)?;
        self.state().init_scripts.push(source.to_owned());
        self.apply_scripts();
        self.flush_events().await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        if !headers.is_empty() {
            self.require(Feature::ExtraHeaders)?;
        }
        self.state().extra_headers.clone_from(headers);
        self.apply_headers();
        self.flush_events().await
    }

    async fn decide(&self, key: &str, verdict: Verdict) -> Result<()> {
        self.decide_about(key, verdict).await
    }

    async fn fetch(&self, _key: &str, _changes: Verdict) -> Result<Fetched> {
        self.require(Feature::HoldResponse)?;
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

    async fn pdf(&self, _options: &PdfOptions) -> Result<Vec<u8>> {
        self.require(Feature::Pdf)?;
        Err(Error::PageClosed {})
    }

    async fn set_viewport(&self, viewport: &Viewport) -> Result<()> {
        if viewport.is_mobile {
            self.require(Feature::MobileViewport)?;
        }
        if viewport.has_touch {
            self.require(Feature::TouchScreen)?;
        }
        if viewport.device_scale_factor != 1.0 {
            self.require(Feature::ScaledViewport)?;
        }
        self.state().viewport = Some(viewport.clone());
        self.fit(viewport.size).await
    }

    async fn emulate_media(&self, features: &MediaFeatures) -> Result<()> {
        if *features != MediaFeatures::default() {
            self.require(Feature::MediaFeatures)?;
        }
        self.apply_media(features);
        self.flush_events().await
    }

    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>> {
        self.body_of_response(request).await
    }

    async fn request_body(&self, request: &RequestId) -> Result<Option<Vec<u8>>> {
        self.require(Feature::Bodies)?;
        let state = self.state();
        let sent = state.sent.get(request.as_str());
        Ok(sent.and_then(|sent| sent.body.clone().map(String::into_bytes)))
    }

    fn stop_loading(&self) {
        self.run_in_background("window.stop(); return 1");
    }

    async fn check_responsive(&self, frame: &FrameId) -> Result<()> {
        match self.run_raw(frame, "return 1".to_owned(), vec![]).await {
            Ok(_) | Err(Error::DocumentGone {} | Error::DialogOpen {} | Error::Script { .. }) => {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    async fn check_browser_responsive(&self) -> Result<()> {
        self.context()?.windows().await.map(drop)
    }

    /// Nothing ends a script of WebKit but the end of its page.
    fn terminate_execution(&self, _frame: &FrameId) {}

    async fn wait_for_termination(&self, frame: &FrameId) -> Result<()> {
        self.stop_loading();
        self.check_responsive(frame).await
    }

    fn stop_timers(&self, _frame: &FrameId) {
        self.run_in_background(
            "for (let last = setTimeout(String), id = last; id > Math.max(0, last - 1e5); id--) clearTimeout(id); return 1",
        );
    }

    fn end_renderer(&self) {
        if let Some(page) = self.itself() {
            task::spawn("ending a page", async move {
                let closed = match page.context() {
                    Ok(context) => context.end_window(&page).await,
                    Err(gone) => Err(gone),
                };
                tracing::debug!(?closed, "a page that did not answer");
            })
            .detach();
        }
        self.report(PageEvent::Crashed);
    }

    async fn flush(&self) -> Result<()> {
        if self.state().closed {
            return Err(Error::PageClosed {});
        }
        match self.poll_frames().await {
            Ok(()) => self.drain_events().await?,
            // It is told of, which is what was asked for.
            Err(Error::DialogOpen {} | Error::DocumentGone {}) => self.flush_events().await?,
            Err(error) => return Err(error),
        }
        self.context()?.poll_downloads();
        Ok(())
    }

    async fn activate(&self) -> Result<()> {
        // A driver has no command for more: its windows are all visible.
        self.driver
            .call(&SwitchToWindow {
                handle: self.window.clone(),
            })
            .await
            .map_err(page_error)?;
        self.driver.forget().await;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        if self.state().closed {
            return Err(Error::PageClosed {});
        }
        self.close_window().await
    }
}

impl WebDriverPage {
    /// Returns once all that the browser has said of the page so far was reported.
    pub(super) async fn flush_events(&self) -> Result<()> {
        let inspector_target = self.state().inspector_target.clone();
        let Some(inspector_target) = inspector_target else {
            return Ok(());
        };
        let context = self.context()?;
        context.flush_events(inspector_target.target).await
    }

    /// The same for what it had said before the driver's last answer, at less cost.
    pub(super) async fn drain_events(&self) -> Result<()> {
        let inspector_target = self.state().inspector_target.clone();
        let Some(inspector_target) = inspector_target else {
            return Ok(());
        };
        let context = self.context()?;
        context.drain_events(inspector_target.target).await
    }

    /// What opens next is likely the page's.
    fn mark_last_used(&self) {
        if let Ok(context) = self.context() {
            context.set_last_used(&self.id);
        }
    }

    /// Runs a script whose answer nobody waits for.
    pub(super) fn run_in_background(&self, script: impl Into<String>) {
        let script = script.into();
        if let Some(page) = self.itself() {
            task::spawn("script", async move {
                let main = page.main.clone();
                let answer = page.run_raw(&main, script, vec![]).await;
                tracing::trace!(?answer, "ran a script");
            })
            .detach();
        }
    }

    async fn close_window(&self) -> Result<()> {
        let context = self.context()?;
        context.close_window(self).await
    }
}
