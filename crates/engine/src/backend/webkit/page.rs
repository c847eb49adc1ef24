//! A page of WebKit: a window, and the frames in it.

use super::CAPABILITIES;
use super::parts::ContextParts;
use super::targets::page_id;
use crate::backend::gesture::Devices;
use crate::backend::screencast::Polling;
use crate::backend::{
    Feature, FrameId, PageBackend, PageEvent, PageId, PageObserver, Profiling, Reporter, Styles,
    Workers,
};
use crate::changes::Changes;
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use frames::FrameState;
use state::State;

mod authentication;
mod dialogs;
mod emulation;
mod evaluation;
mod events;
mod frames;
mod input;
mod interception;
mod navigation;
mod requests;
mod screencast;
mod screenshot;
mod state;
mod unresponsive;
mod web_socket;

/// The context, which owns the windows of its pages.
#[async_trait]
pub(super) trait WindowOwner: Send + Sync {
    /// Removes a page whose window is gone.
    fn remove_window(&self, page: &WebKitPage);
    /// Closes the window of a page.
    async fn close_window(&self, page: &WebKitPage) -> Result<()>;
}

pub(crate) struct WebKitPage {
    itself: Weak<Self>,
    pub(super) id: PageId,
    main: FrameId,
    window: String,
    parts: Arc<ContextParts>,
    owner: Weak<dyn WindowOwner>,
    state: Mutex<State>,
    /// Counts documents that come and go, and dialogs.
    changes: Changes,
    /// Held while the browser performs input in this page.
    acting: Arc<tokio::sync::Mutex<()>>,
    reporter: Reporter,
    devices: Devices,
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
            acting: Arc::default(),
            reporter: Reporter::default(),
            devices: Devices::default(),
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

    fn report(&self, event: PageEvent) {
        self.reporter.report(event);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_changed(&self) {
        self.changes.notify();
    }

    /// Reports that the page is closed, and ends the waiting for its documents.
    pub(super) fn on_closed(&self) {
        if std::mem::replace(&mut self.state().closed, true) {
            return;
        }
        self.notify_changed();
        self.report(PageEvent::Closed);
    }

    /// Records that another page opened this one.
    pub(super) fn set_new_popup(&self) {
        self.state().is_new_popup = true;
    }

    /// Closes the window without waiting for it.
    fn close_in_background(&self) {
        if let Some(page) = self.itself() {
            task::spawn("closing a page", async move {
                let closed = match page.owner() {
                    Ok(owner) => owner.close_window(&page).await,
                    Err(gone) => Err(gone),
                };
                tracing::debug!(?closed, "closed a page");
            })
            .detach();
        }
    }

    /// Returns once the page is closed.
    async fn wait_until_closed(&self) {
        let is_closed = || self.state().closed.then_some(());
        self.changes.wait(is_closed).await;
    }

    /// Sends a command to the inspector without waiting for the answer.
    fn send_to_inspector(&self, method: &'static str, params: &Value) {
        self.parts.targets.send(&self.window, method, params);
    }

    /// Sends a command to the inspector.
    async fn call_inspector<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<T> {
        if self.state().closed {
            return Err(Error::PageClosed {});
        }
        self.parts.targets.call(&self.window, method, params).await
    }

    /// Sends a command of the `Automation` domain about the window, whose handle is the parameter with this name.
    async fn automate<T: DeserializeOwned>(
        &self,
        method: &'static str,
        handle: &str,
        mut params: Value,
    ) -> Result<T> {
        if self.state().closed {
            return Err(Error::PageClosed {});
        }
        params[handle] = self.window.as_str().into();
        self.parts.targets.automate(method, &params).await
    }

    /// Returns once every event that the browser process has sent so far was handled. The page need not respond.
    pub(super) async fn flush_events(&self) -> Result<()> {
        self.parts.targets.flush(&self.window).await
    }

    /// Fails, because the browser lacks a feature.
    fn refuse<T>(&self, feature: Feature) -> Result<T> {
        CAPABILITIES.require(feature)?;
        Err(Error::protocol("WebKit", "there is no such command"))
    }

    /// Records the page as the likely opener of the next popup.
    fn mark_last_used(&self) {
        self.parts.set_last_used(&self.id);
    }
}

impl Profiling for WebKitPage {}

impl Styles for WebKitPage {}

impl Workers for WebKitPage {}

#[async_trait]
impl PageBackend for WebKitPage {
    fn id(&self) -> &PageId {
        &self.id
    }

    fn main_frame(&self) -> FrameId {
        self.main.clone()
    }

    async fn flush(&self) -> Result<()> {
        match self.update_url().await {
            Ok(()) => self.parts.targets.handle_received().await,
            // The event that explains the error is reported by then.
            Err(Error::DialogOpen {} | Error::DocumentGone {}) => self.flush_events().await?,
            Err(error) => return Err(error),
        }
        self.parts.downloads.poll(self.parts.last_used().as_ref());
        Ok(())
    }

    async fn activate(&self) -> Result<()> {
        let method = "Automation.switchToBrowsingContext";
        tokio::select! {
            biased;
            switched = self.automate::<Value>(method, "browsingContextHandle", json!({})) => switched.map(drop),
            // The browser shows the window at once, and answers after the dialog is closed.
            () = self.wait_for_dialog() => Ok(()),
        }
    }

    async fn close(&self) -> Result<()> {
        if self.state().closed {
            return Err(Error::PageClosed {});
        }
        self.owner()?.close_window(self).await
    }
}
