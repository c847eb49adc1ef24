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
        let session = Arc::new(Session::new(settings, browsers));
        let metrics = tokio::runtime::Handle::current().metrics();
        let before = metrics.num_alive_tasks();
        let control = session.take_control();
        session.rest();
        // In paused time, all tasks that can run do so first.
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(session.holder(), Holder::User);
        assert_eq!(metrics.num_alive_tasks(), before + 1, "the timeout waits");
        drop(control);
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(metrics.num_alive_tasks(), before, "the browser was closed");
    }
}
