//! The end of a session, and of its browser after the idle timeout.

use super::Session;
use super::control::Holder;
use crate::error::Error;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use task::Task;
use uuid::Uuid;

/// The end of a session.
#[derive(Default)]
pub(super) struct End {
    /// Closes the browser after the idle timeout; the next call that needs one launches another.
    idle: Mutex<Option<Task>>,
    /// Set once; the session opens nothing afterwards.
    ended: OnceLock<Ended>,
}

impl End {
    /// Returns why the session has ended, if it has.
    pub(super) fn reached(&self) -> Option<Ended> {
        self.ended.get().copied()
    }

    /// Ends the session. The first reason remains.
    pub(super) fn reach(&self, ended: Ended) {
        let _ = self.ended.set(ended);
    }
}

/// Why a session has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ended {
    /// A call closed it.
    Closed(Uuid),
    /// It expired.
    Expired(Uuid),
}

impl From<Ended> for Error {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Closed(id) => Self::SessionNotFound {
                session_id: id.to_string(),
            },
            Ended::Expired(id) => Self::SessionExpired {
                session_id: id.to_string(),
            },
        }
    }
}

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
                if session.control.holder() == Holder::Calls {
                    tracing::debug!("the browser was idle");
                    session.close().await;
                    return;
                }
                drop(turn);
                session.control.wait_for_hand_back().await;
            }
        });
        let mut idle = self.end.idle.lock().unwrap_or_else(PoisonError::into_inner);
        *idle = Some(waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::sessions::browsers::Browsers;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_browser_that_the_user_controls_is_not_idle() {
        let settings = Arc::new(Settings::of_flags(&["--headless", "--idle-timeout=1000"]));
        let browsers = Arc::new(Browsers::new(settings.clone()));
        let session = Arc::new(Session::new(settings, browsers, Vec::new));
        let metrics = tokio::runtime::Handle::current().metrics();
        let before = metrics.num_alive_tasks();
        let control = session.take_control();
        session.rest();
        // In paused time, all tasks that can run do so first.
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(session.control.holder(), Holder::User);
        assert_eq!(metrics.num_alive_tasks(), before + 1, "the timeout waits");
        drop(control);
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(metrics.num_alive_tasks(), before, "the browser was closed");
    }
}
