//! Input sequences, and what must be let go when one ends halfway.

use crate::backend::InputStep;
use crate::error::{Error, Result};
use crate::input::Pressed;
use crate::page::Page;
use std::time::Duration;
use task::spawn;

/// A sequence of input that is in progress. Dropped before its end, it lets go of what it holds down.
///
/// Letting go is a task of its own, started at once: the page must not stay with a button held until some later action, which may never come.
pub(super) struct Gesture<'a> {
    page: &'a Page,
    before: Pressed,
    ended: bool,
}

/// How long letting go may take; a page that hangs is left alone then.
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

    /// What is held after all that was sent.
    pub(super) fn held(&self) -> Pressed {
        self.page.state().pressed.clone()
    }

    /// Sends a part of the gesture in one go. False once a dialog, a navigation or the end of the page cut it short: the rest is pointless.
    pub(super) async fn send(&mut self, steps: &[InputStep]) -> Result<bool> {
        self.page.alive()?;
        {
            let mut state = self.page.state();
            if state.is_blocked_by_dialog() {
                return Err(Error::DialogOpen {});
            }
            // Before it is sent: what is on its way cannot be called back.
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

    /// The gesture is complete; what it still holds is meant to stay so.
    pub(super) fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for Gesture<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let steps = {
            let mut state = self.page.state();
            let steps = state.pressed.back_to(&self.before);
            for step in &steps {
                state.pressed.apply(step);
            }
            steps
        };
        if steps.is_empty()
            || self.page.is_closed()
            || tokio::runtime::Handle::try_current().is_err()
        {
            return;
        }
        let backend = self.page.backend.clone();
        spawn("let go", async move {
            // Nobody is left to hear of a failure.
            let _ = tokio::time::timeout(RELEASE_TIMEOUT, backend.input(&steps)).await;
        })
        .detach();
    }
}

/// Sends a gesture that is over when it is sent. Whatever cuts it short is its consequence, not its failure.
pub(super) async fn perform(page: &Page, steps: &[InputStep]) -> Result<()> {
    let mut gesture = Gesture::on(page);
    let sent = gesture.send(steps).await;
    gesture.end();
    sent.map(drop)
}
