//! A page of WebKit: a window of a session, and the frames in it.

use super::driver::{FrameTarget, page_error};
use super::inspector::InspectorLink;
use super::parts::ContextParts;
use crate::backend::gesture::Devices;
use crate::backend::{Feature, FrameId, PageBackend, PageEvent, PageId, PageObserver, Reporter};
use crate::changes::Changes;
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use wire::webdriver::WebDriverCommand;
use wire::webdriver::window::SwitchToWindow;

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

/// The context, which owns the windows of its pages.
#[async_trait]
pub(super) trait WindowOwner: Send + Sync {
    /// The window of a page is gone.
    fn on_window_closed(&self, page: &PageId);
    /// The browser is gone.
    fn on_browser_closed(&self, reason: &str);
    /// Closes the window of a page.
    async fn close_window(&self, page: &PageId) -> Result<()>;
    /// Closes the window of a page that does not respond.
    async fn end_window(&self, page: &PageId) -> Result<()>;
}

/// The page that a window shows.
pub(super) fn page_id(window: &str) -> PageId {
    window.trim_start_matches("page-").into()
}

pub(crate) struct WebDriverPage {
    itself: Weak<Self>,
    id: PageId,
    main: FrameId,
    window: String,
    parts: Arc<ContextParts>,
    owner: Weak<dyn WindowOwner>,
    state: Mutex<State>,
    /// Counts up whenever a document comes or goes.
    changes: Changes,
    reporter: Reporter,
    devices: Devices,
    /// Held by whoever looks for frames.
    looking: tokio::sync::Mutex<()>,
}

impl WebDriverPage {
    pub(super) fn new(
        parts: Arc<ContextParts>,
        owner: Weak<dyn WindowOwner>,
        window: &str,
    ) -> Arc<Self> {
        let main = FrameId::from(window);
        let mut state = State {
            viewport: parts.options().viewport.clone(),
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
            looking: tokio::sync::Mutex::default(),
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

    /// The window, whatever it shows.
    fn frame_target(&self) -> FrameTarget {
        FrameTarget::window(&*self.window)
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

    fn notify_changed(&self) {
        self.changes.notify();
    }

    /// The window has gone.
    fn on_window_closed(&self) {
        tracing::debug!(window = self.window, "the driver does not know a window");
        match self.owner.upgrade() {
            Some(owner) => owner.on_window_closed(&self.id),
            None => self.on_closed(),
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
        let asked = self.parts.driver.at(&self.frame_target(), command).await;
        self.map_answer(asked).await
    }

    /// Sends a command to the frame that has the focus.
    async fn send_to_focused<C: WebDriverCommand>(&self, command: &C) -> Result<C::Response> {
        let asked = self.parts.driver.in_window(&self.window, command).await;
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
    fn browser_closed_error(&self, reason: String) -> Error {
        if let Some(owner) = self.owner.upgrade() {
            owner.on_browser_closed(&reason);
        }
        Error::BrowserClosed { reason }
    }

    /// Tells the page through its inspector, if there is one.
    fn send_to_inspector(&self, method: &'static str, params: &Value) {
        let target = self.state().inspector_target.clone();
        if let (Some(target), Some(inspector)) = (target, &self.parts.inspector) {
            inspector.send(&target, method, params);
        }
    }

    /// Asks the page through its inspector.
    async fn call_inspector<T: serde::de::DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<T> {
        let target = self.state().inspector_target.clone();
        let target = target.ok_or(Error::PageClosed {})?;
        self.parts.inspector()?.call(&target, method, params).await
    }

    /// What happens in the page is heard, not looked for.
    fn has_inspector(&self) -> bool {
        self.state().inspector_target.is_some()
    }

    /// Fails if the context's browser cannot do it.
    fn require(&self, feature: Feature) -> Result<()> {
        self.parts.capabilities().require(feature)
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
        self.parts.downloads.poll(self.parts.last_used().as_ref());
        Ok(())
    }

    async fn activate(&self) -> Result<()> {
        // A driver has no command for more: its windows are all visible.
        self.parts
            .driver
            .call(&SwitchToWindow {
                handle: self.window.clone(),
            })
            .await
            .map_err(page_error)?;
        self.parts.driver.forget().await;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        if self.state().closed {
            return Err(Error::PageClosed {});
        }
        self.owner()?.close_window(&self.id).await
    }
}

impl WebDriverPage {
    /// Returns once all that the browser has said of the page so far was reported.
    pub(super) async fn flush_events(&self) -> Result<()> {
        match self.inspected() {
            Some((inspector, target)) => inspector.flush(target).await,
            None => Ok(()),
        }
    }

    /// The same for what it had said before the driver's last answer, at less cost.
    async fn drain_events(&self) -> Result<()> {
        match self.inspected() {
            Some((inspector, target)) => inspector.drain(target).await,
            None => Ok(()),
        }
    }

    fn inspected(&self) -> Option<(&InspectorLink, u64)> {
        let target = self.state().inspector_target.as_ref()?.target;
        Some((self.parts.inspector.as_ref()?, target))
    }

    /// What opens next is likely the page's.
    fn mark_last_used(&self) {
        self.parts.set_last_used(&self.id);
    }

    /// Runs a script whose answer nobody waits for.
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
