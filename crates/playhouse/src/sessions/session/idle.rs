//! Closing a browser after the idle timeout; the next call that needs one launches another.

use super::Session;
use super::control::Holder;
use std::sync::{Arc, PoisonError};

impl Session {
    /// Restarts the idle timeout.
    pub(super) fn rest(self: &Arc<Self>) {
        let Some(limit) = self.settings.browser.idle_timeout else {
            return;
        };
        let session = Arc::downgrade(self);
        let waiting = task::spawn("idle browser", async move {
            loop {
                tokio::time::sleep(limit).await;
                let Some(session) = session.upgrade() else {
                    return;
                };
                // A call in progress restarts the timeout when it ends, which cancels this wait.
                let turn = session.turn().await;
                if session.holder() == Holder::Calls {
                    tracing::debug!("the browser was idle");
                    session.close().await;
                    return;
                }
                drop(turn);
                session.wait_for_hand_back().await;
            }
        });
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        *idle = Some(waiting);
    }
}
