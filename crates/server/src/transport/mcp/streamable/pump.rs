//! A stream to a client that may stop reading: notifications are dropped then, so that other clients do not wait.

use futures_util::{Stream, StreamExt as _};
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::common::server_side_http::ServerSseMessage;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The largest number of messages that wait for a client; of more, the oldest notification is dropped.
const MAX_WAITING: usize = 256;

#[derive(Default)]
struct Waiting {
    messages: Mutex<(VecDeque<ServerSseMessage>, Ended)>,
    changed: Notify,
}

/// The stream has ended.
#[derive(Default, Clone, Copy)]
struct Ended(bool);

impl Waiting {
    fn messages(&self) -> MutexGuard<'_, (VecDeque<ServerSseMessage>, Ended)> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, message: ServerSseMessage) {
        let mut messages = self.messages();
        let (waiting, _) = &mut *messages;
        if waiting.len() >= MAX_WAITING
            && let Some(oldest) = waiting.iter().position(is_notification)
        {
            waiting.remove(oldest);
        }
        waiting.push_back(message);
        drop(messages);
        self.changed.notify_one();
    }

    async fn next(&self) -> Option<ServerSseMessage> {
        loop {
            let changed = self.changed.notified();
            {
                let (waiting, ended) = &mut *self.messages();
                if let Some(message) = waiting.pop_front() {
                    return Some(message);
                }
                if ended.0 {
                    return None;
                }
            }
            changed.await;
        }
    }
}

fn is_notification(message: &ServerSseMessage) -> bool {
    matches!(
        message.message.as_deref(),
        Some(ServerJsonRpcMessage::Notification(_))
    )
}

/// Reads messages from `stream` as they arrive, independently of the client, until the result is dropped.
pub(super) fn pump(
    stream: impl Stream<Item = ServerSseMessage> + Send + 'static,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
    let waiting = Arc::new(Waiting::default());
    let pump = task::spawn("event stream", {
        let waiting = waiting.clone();
        async move {
            let mut stream = pin!(stream);
            while let Some(message) = stream.next().await {
                waiting.add(message);
            }
            waiting.messages().1 = Ended(true);
            waiting.changed.notify_one();
        }
    });
    futures_util::stream::unfold((waiting, pump), |(waiting, pump)| async move {
        let message = waiting.next().await?;
        Some((message, (waiting, pump)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{RequestId, ServerNotification, ServerResult};

    fn notification() -> ServerSseMessage {
        let changed = rmcp::model::ToolListChangedNotification::default();
        ServerSseMessage::from_message(ServerJsonRpcMessage::notification(
            ServerNotification::ToolListChangedNotification(changed),
        ))
    }

    #[tokio::test]
    async fn a_slow_reader_affects_only_itself() {
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        let source = futures_util::stream::unfold(receiver, |mut receiver| async move {
            Some((receiver.recv().await?, receiver))
        });
        let pump = pump(source);
        for _ in 0..10 * MAX_WAITING {
            sender.send(notification()).await.unwrap();
        }
        let answer = ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(1));
        sender
            .send(ServerSseMessage::from_message(answer))
            .await
            .unwrap();
        drop(sender);
        let heard: Vec<_> = pump.collect().await;
        // One may have been in transit when the last arrived.
        assert!((MAX_WAITING..=MAX_WAITING + 1).contains(&heard.len()));
        assert!(!is_notification(heard.last().unwrap()));
    }
}
