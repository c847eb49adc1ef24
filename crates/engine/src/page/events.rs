//! Complete, ordered events of a page for a subscriber, and handlers of all dialogs.

use super::Page;
use crate::backend::PageEvent;
use std::sync::PoisonError;
use tokio::sync::mpsc;

/// The largest number of events that a subscriber has not read.
const MAX_QUEUED_EVENTS: usize = 4_096;

/// The events of a page since the subscription. The stream ends with the page, or when its reader falls too far behind.
#[derive(Debug)]
pub struct Events(mpsc::Receiver<PageEvent>);

/// Declares that a handler exists for every dialog of a page, until dropped: waits then continue while a dialog is open.
#[must_use = "dialogs are attended to for as long as this lives"]
#[derive(Debug)]
pub struct DialogHandlerGuard(Page);

impl Events {
    /// Returns the next event, which the page's state includes already; `None` at the end.
    pub async fn next(&mut self) -> Option<PageEvent> {
        self.0.recv().await
    }
}

impl Page {
    /// Subscribes to all events from now on.
    pub fn events(&self) -> Events {
        let (tap, events) = mpsc::channel(MAX_QUEUED_EVENTS);
        self.state().taps.push(tap);
        Events(events)
    }

    /// Returns when every event that the browser has sent is in [`Page::events`].
    pub async fn flush(&self) {
        // A closed page has no further events.
        let _ = self.backend.flush().await;
    }

    /// Declares that the caller handles every dialog from now on.
    pub fn handle_dialogs(&self) -> DialogHandlerGuard {
        self.state().attended += 1;
        DialogHandlerGuard(self.clone())
    }
}

impl Drop for DialogHandlerGuard {
    fn drop(&mut self) {
        {
            let shared = &self.0.shared;
            let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.attended -= 1;
        }
        // An open dialog blocks the page.
        self.0.shared.changes.send_modify(|count| *count += 1);
    }
}
