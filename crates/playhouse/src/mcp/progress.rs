//! Signs of life for calls that take their time.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use std::future::pending;
use std::time::Duration;

/// How long a call may take before something is said, and how often then.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells a client that asked for it how long its call has been under way.
pub(super) struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
}

impl Progress {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
        }
    }

    /// The outcome of `work`; meanwhile the client hears of `what`.
    pub(super) async fn of_work<T>(self, what: &str, work: impl Future<Output = T>) -> T {
        tokio::select! {
            outcome = work => outcome,
            () = self.tell(what) => pending().await,
        }
    }

    async fn tell(self, what: &str) {
        let Some(token) = self.token else {
            return pending().await;
        };
        for seconds in 1_u32.. {
            tokio::time::sleep(PAUSE).await;
            let progress = ProgressNotificationParam::new(token.clone(), f64::from(seconds))
                .with_message(format!("{what}: {seconds} s"));
            if self.peer.notify_progress(progress).await.is_err() {
                break;
            }
        }
        pending().await
    }
}
