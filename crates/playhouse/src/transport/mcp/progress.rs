//! Progress of calls that take long.

use crate::calls::Status;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use std::future::pending;
use std::time::Duration;

/// How long a call may take before its client hears of it, and how often then.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Tells a client that asked for it how long its call has been under way, and what it waits for.
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

    /// The outcome of `work`; meanwhile the client hears of `what`, and of its status where that is known.
    pub(super) async fn of_work<T>(
        self,
        what: &str,
        status: &Status,
        work: impl Future<Output = T>,
    ) -> T {
        tokio::select! {
            outcome = work => outcome,
            () = self.send_updates(what, status) => pending().await,
        }
    }

    async fn send_updates(self, what: &str, status: &Status) {
        let Some(token) = self.token else {
            return pending().await;
        };
        for seconds in 1_u32.. {
            tokio::time::sleep(PROGRESS_INTERVAL).await;
            let message = match status.text() {
                Some(text) => format!("{what}: {seconds} s, {text}"),
                None => format!("{what}: {seconds} s"),
            };
            let progress = ProgressNotificationParam::new(token.clone(), f64::from(seconds))
                .with_message(message);
            if self.peer.notify_progress(progress).await.is_err() {
                break;
            }
        }
        pending().await
    }
}
