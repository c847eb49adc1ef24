//! Input sequences, and the release of their keys and buttons when they are interrupted.

use crate::backend::InputStep;
use crate::error::{Error, Result};
use crate::input::Pressed;
use crate::page::Page;
use std::time::Duration;
use task::spawn;

/// An input sequence in progress. Dropped before its end, it releases the keys and buttons that it holds.
///
/// The release is a separate task that starts at once: otherwise a button would stay pressed until a later action, which may never occur.
pub(super) struct Gesture<'a> {
    page: &'a Page,
    before: Pressed,
    ended: bool,
}

/// How long the release may take in an unresponsive page.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

impl<'a> Gesture<'a> {
    pub(super) fn on(page: &'a Page) -> Self {
        let before = page.state().pressed.clone();
        Self {
            page,
            before,
            ended: false,
        }
    }

    /// Returns what is pressed after everything that was sent.
    pub(super) fn held(&self) -> Pressed {
        self.page.state().pressed.clone()
    }

    /// Sends a part of the gesture at once. Returns false after a dialog, a navigation or the end of the page interrupted it.
    pub(super) async fn send(&mut self, steps: &[InputStep]) -> Result<bool> {
        self.page.alive()?;
        {
            let mut state = self.page.state();
            if state.is_blocked_by_dialog() {
                return Err(Error::DialogOpen {});
            }
            // Recorded before the step is sent, because a sent step cannot be cancelled.
            for step in steps {
                state.pressed.apply(step);
            }
        }
        match self.page.input(steps).await {
            Ok(()) => Ok(true),
            Err(Error::DialogOpen {} | Error::DocumentGone {} | Error::PageClosed {}) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Completes the gesture; what it still holds stays pressed.
    pub(super) fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Gesture<'_> {
    fn drop(&mut self) {
        if !self.ended {
            release(self.page, &self.before);
        }
    }
}

/// The keys and buttons that a page holds at a time.
#[derive(Debug, Clone, Default)]
pub struct HeldInput(Pressed);

impl Page {
    /// Returns the keys and buttons that are pressed.
    pub fn held_input(&self) -> HeldInput {
        HeldInput(self.state().pressed.clone())
    }

    /// Releases, in the background, what has been pressed since `before`.
    pub fn release_since(&self, before: &HeldInput) {
        release(self, &before.0);
    }
}

fn release(page: &Page, before: &Pressed) {
    let steps = {
        let mut state = page.state();
        let steps = state.pressed.back_to(before);
        for step in &steps {
            state.pressed.apply(step);
        }
        steps
    };
    if steps.is_empty() || page.is_closed() || tokio::runtime::Handle::try_current().is_err() {
        return;
    }
    let backend = page.backend.clone();
    spawn("release", async move {
        // Errors cannot be reported here.
        let _ = tokio::time::timeout(RELEASE_TIMEOUT, backend.input(&steps)).await;
    })
    .detach();
}

/// Sends a complete gesture. An interruption is a consequence of the gesture, not an error.
pub(super) async fn perform(page: &Page, steps: &[InputStep]) -> Result<()> {
    let mut gesture = Gesture::on(page);
    let sent = gesture.send(steps).await;
    gesture.end();
    sent.map(drop)
}
