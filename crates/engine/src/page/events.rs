//! Events of a page for whoever follows it closely: every one of them in order, and the answering of every dialog.

use super::Page;
use crate::backend::PageEvent;
use std::sync::PoisonError;
use tokio::sync::mpsc;

/// Events that a follower may be behind.
const MAX_QUEUED_EVENTS: usize = 4_096;

/// Events of a page from the moment it was asked for. Ends with the page, or when its reader falls too far behind.
#[derive(Debug)]
pub struct Events(mpsc::Receiver<PageEvent>);

/// Says that somebody answers every dialog of a page, until dropped: an open dialog then ends no waiting, it only prolongs it.
#[must_use = "dialogs are attended to for as long as this lives"]
#[derive(Debug)]
pub struct DialogHandlerGuard(Page);

impl Events {
    /// The next one, which the page's state shows already; `None` when there will be no more.
    pub async fn next(&mut self) -> Option<PageEvent> {
        self.0.recv().await
    }
}

impl Page {
    /// Every event from now on.
    pub fn events(&self) -> Events {
        let (tap, events) = mpsc::channel(MAX_QUEUED_EVENTS);
        self.state().taps.push(tap);
        Events(events)
    }

    /// Returns once every event that the browser sent so far is in [`Page::events`].
    pub async fn flush(&self) {
        // A page that is gone has no more of them.
        let _ = self.backend.flush().await;
    }

    /// The caller answers every dialog from now on.
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
        // A dialog that is open now holds the page.
        self.0.shared.changes.send_modify(|count| *count += 1);
    }
}
