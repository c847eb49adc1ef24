//! Progress notifications of calls that take long.

use crate::calls::Status;
use rmcp::RoleServer;
use rmcp::model::{
    GetExtensions, ProgressNotificationParam, ProgressToken, RequestMetaObject,
    ServerJsonRpcMessage,
};
use rmcp::service::{Peer, RequestContext, TxJsonRpcMessage};
use std::future::pending;
use std::time::Duration;

/// How long a call runs before the first notification, and the interval between notifications.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Returns the message without the progress token that rmcp adds to each request: the server handles no progress of clients.
pub(super) fn without_progress_token(
    mut message: TxJsonRpcMessage<RoleServer>,
) -> TxJsonRpcMessage<RoleServer> {
    if let ServerJsonRpcMessage::Request(request) = &mut message {
        let extensions = request.request.extensions_mut();
        let mut meta = extensions.remove::<RequestMetaObject>().unwrap_or_default();
        meta.remove("progressToken");
        if !meta.is_empty() {
            extensions.insert(meta);
        }
    }
    message
}

/// Notifies a client that requested it of the duration of its call, and of what the call waits for.
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

    /// Awaits `work` and sends notifications meanwhile with `what`, and with the status of the call if known.
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
