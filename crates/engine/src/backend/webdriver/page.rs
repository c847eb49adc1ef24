//! A page of WebKit: a window of a session, and the frames in it.

use super::context::WebDriverContext;
use super::driver::{Driver, FrameTarget, page_error};
use crate::backend::gesture::Devices;
use crate::backend::{Feature, FrameId, PageBackend, PageEvent, PageId, PageObserver, Reporter};
use crate::error::{Error, Result};
use crate::task;
use async_trait::async_trait;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;
use wire::webdriver::WebDriverCommand;
use wire::webdriver::window::SwitchToWindow;

pub(super) use state::InspectorTarget;
use state::{FrameState, State};

mod dialogs;
mod emulation;
mod evaluation;
mod events;
mod frames;
mod input;
mod interception;
mod navigation;
mod requests;
mod screenshot;
mod state;
mod unresponsive;

pub(crate) struct WebDriverPage {
    itself: Weak<Self>,
    id: PageId,
    main: FrameId,
    window: String,
    driver: Arc<Driver>,
    owner: Weak<WebDriverContext>,
    state: Mutex<State>,
    /// Counts up whenever a document comes or goes.
    changes: watch::Sender<u64>,
    reporter: Reporter,
    devices: Devices,
    /// Held by whoever looks for frames.
    looking: tokio::sync::Mutex<()>,
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
            reporter: Reporter::default(),
            devices: Devices::default(),
            looking: tokio::sync::Mutex::default(),
        })
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
        self.reporter.set_observer(observer);
    }

    pub(super) fn report(&self, event: PageEvent) {
        self.reporter.report(event);
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
        self.context()?.close_window(self).await
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
}
