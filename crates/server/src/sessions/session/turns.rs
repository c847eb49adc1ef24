//! The turns of the calls of a session: one call at a time uses the browser.

use crate::calls::Turn;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The turns of a session.
#[derive(Default)]
pub(super) struct Turns {
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Cancelled and replaced when a call closes the session: cancels the earlier calls.
    closing: Arc<Mutex<CancellationToken>>,
}

impl Turns {
    /// Returns whether a call has its turn.
    pub(super) fn is_taken(&self) -> bool {
        self.turn.try_lock().is_err()
    }

    /// Waits for the earlier calls.
    pub(super) fn next(&self) -> impl Future<Output = Turn> + Send + use<> {
        let (turn, closing) = (self.turn.clone(), self.closing.clone());
        async move {
            let closed = closing
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            Turn::on(turn, closed).await
        }
    }

    /// Like [`Self::next`], for a call that closes the session: earlier calls are cancelled.
    pub(super) fn last(&self) -> impl Future<Output = Turn> + Send + use<> {
        let (turn, closing) = (self.turn.clone(), self.closing.clone());
        async move {
            let before =
                std::mem::take(&mut *closing.lock().unwrap_or_else(PoisonError::into_inner));
            before.cancel();
            Turn::on(turn, CancellationToken::new()).await
        }
    }
}
