//! A page of WebKit: a window of a session, and the frames in it.

use super::CAPABILITIES;
use super::driver::{FrameTarget, page_error};
use super::parts::ContextParts;
use crate::backend::gesture::Devices;
use crate::backend::screencast::Polling;
use crate::backend::{
    Feature, FrameId, PageBackend, PageEvent, PageId, PageObserver, Reporter, Styles,
};
use crate::changes::Changes;
use crate::error::{Error, Result};
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use wire::webdriver::WebDriverCommand;
use wire::webdriver::window::SwitchToWindow;

use state::{FrameState, State};

pub(crate) use screenshot::{CapturedPart, screenshot_error};
pub(crate) use state::Outcome;

mod dialogs;
mod emulation;
mod evaluation;
mod events;
mod frames;
mod input;
mod interception;
mod navigation;
mod profiling;
mod requests;
mod screencast;
mod screenshot;
mod state;
mod unresponsive;
mod web_socket;

/// The context, which owns the windows of its pages.
#[async_trait]
pub(crate) trait WindowOwner: Send + Sync {
    /// Removes a page whose window is gone.
    fn remove_window(&self, page: &WebKitPage);
    /// Removes all pages, because the browser is gone.
    fn on_browser_closed(&self, reason: &str);
    /// Closes the window of a page.
    async fn close_window(&self, page: &WebKitPage, is_responsive: bool) -> Result<()>;
}

/// Returns the identifier of the page in a window.
pub(super) fn page_id(window: &str) -> PageId {
    window.trim_start_matches("page-").into()
}

pub(crate) struct WebKitPage {
    itself: Weak<Self>,
    pub(super) id: PageId,
    main: FrameId,
    window: String,
    pub(super) parts: Arc<ContextParts>,
    owner: Weak<dyn WindowOwner>,
    state: Mutex<State>,
    /// Counts documents that come and go, and dialogs.
    pub(super) changes: Changes,
    reporter: Reporter,
    devices: Devices,
    /// Held while the frames are polled.
    polling: tokio::sync::Mutex<()>,
    screencast: Polling,
}

impl WebKitPage {
    pub(super) fn new(
        parts: Arc<ContextParts>,
        owner: Weak<dyn WindowOwner>,
        window: &str,
    ) -> Arc<Self> {
        let main = FrameId::from(window);
        let mut state = State {
            intercepting: parts.intercepts_all(),
            ..State::default()
        };
        state.frames.insert(main.clone(), FrameState::default());
        Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            id: page_id(window),
            main,
            window: window.to_owned(),
            parts,
            owner,
            state: Mutex::new(state),
            changes: Changes::default(),
            reporter: Reporter::default(),
            devices: Devices::default(),
            polling: tokio::sync::Mutex::default(),
            screencast: Polling::default(),
        })
    }

    pub(super) fn window(&self) -> &str {
        &self.window
    }

    fn itself(&self) -> Option<Arc<Self>> {
        self.itself.upgrade()
    }

    fn owner(&self) -> Result<Arc<dyn WindowOwner>> {
        self.owner.upgrade().ok_or(Error::PageClosed {})
    }

    /// Reports all events from here on to `observer`.
    pub(super) fn set_observer(&self, observer: Arc<dyn PageObserver>) {
        self.reporter.set_observer(observer);
    }

    pub(super) fn report(&self, event: PageEvent) {
        self.reporter.report(event);
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_changed(&self) {
        self.changes.notify();
    }

    /// Removes the page, because the driver has no such window.
    fn on_window_closed(&self) {
        tracing::debug!(window = self.window, "the driver has no such window");
        match self.owner.upgrade() {
            Some(owner) => owner.remove_window(self),
            None => self.on_closed(),
        }
    }

    /// Reports that the page is closed, and ends the waiting for its documents.
    pub(super) fn on_closed(&self) {
        if std::mem::replace(&mut self.state().closed, true) {
            return;
        }
        self.notify_changed();
        self.report(PageEvent::Closed);
    }

    /// Sends a command to the main frame, and returns the driver's answer as it is.
    pub(super) async fn send_to_window<C: WebDriverCommand>(
        &self,
        command: &C,
    ) -> wire::Result<C::Response> {
        let target = FrameTarget::window(&*self.window);
        self.parts.driver.at(&target, command).await
    }

    /// Sends a command to the main frame.
    pub(super) async fn send_to_main<C: WebDriverCommand>(
        &self,
        command: &C,
    ) -> Result<C::Response> {
        if self.state().closed {
            return Err(Error::PageClosed {});
        }
        let answer = self.send_to_window(command).await;
        self.map_answer(answer).await
    }

    /// Sends a command to the frame that has the focus.
    pub(super) async fn send_to_focused<C: WebDriverCommand>(
        &self,
        command: &C,
    ) -> Result<C::Response> {
        let answer = self.parts.driver.in_window(&self.window, command).await;
        self.map_answer(answer).await
    }

    async fn map_answer<T>(&self, answer: wire::Result<T>) -> Result<T> {
        match answer {
            Ok(value) => Ok(value),
            Err(error) => Err(self.map_error(error).await),
        }
    }

    /// Boxed, so that it is compiled once and not for each command.
    fn map_error(&self, error: wire::Error) -> BoxFuture<'_, Error> {
        Box::pin(async {
            match page_error(error) {
                Error::DialogOpen {} => self.on_dialog_noticed().await,
                Error::PageClosed {} => {
                    self.on_window_closed();
                    Error::PageClosed {}
                }
                Error::BrowserClosed { reason } => self.browser_closed_error(reason),
                error => error,
            }
        })
    }

    /// Closes the context, because the driver's session is gone.
    fn browser_closed_error(&self, reason: String) -> Error {
        if let Some(owner) = self.owner.upgrade() {
            owner.on_browser_closed(&reason);
        }
        Error::BrowserClosed { reason }
    }

    /// Fails, because the browser lacks a feature.
    fn refuse<T>(&self, feature: Feature) -> Result<T> {
        CAPABILITIES.require(feature)?;
        Err(Error::protocol("WebDriver", "there is no such command"))
    }

    /// Records the page as the likely opener of the next popup.
    fn mark_last_used(&self) {
        self.parts.set_last_used(&self.id);
    }

    /// Runs a script without waiting for its result.
    fn run_in_background(&self, script: impl Into<String>) {
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

impl Styles for WebKitPage {}

#[async_trait]
impl PageBackend for WebKitPage {
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
            // The event that explains the error is reported by then.
            Err(Error::DialogOpen {} | Error::DocumentGone {}) => self.flush_events().await?,
            Err(error) => return Err(error),
        }
        self.parts.downloads.poll(self.parts.last_used().as_ref());
        Ok(())
    }

    async fn activate(&self) -> Result<()> {
        // WebDriver has no command to raise a window; all windows are visible.
        let handle = self.window.clone();
        let switched = self.parts.driver.call(&SwitchToWindow { handle }).await;
        switched.map_err(page_error)?;
        self.parts.driver.reset().await;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        if self.state().closed {
            return Err(Error::PageClosed {});
        }
        self.owner()?.close_window(self, true).await
    }
}
