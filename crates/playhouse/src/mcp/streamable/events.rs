//! What streams have sent, for a client that lost one and comes back with the last event it saw.

use async_trait::async_trait;
use futures_util::stream;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::{EventStore, EventStoreError, EventStream};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// What is kept in all; the oldest goes first.
const BYTES: usize = 8 * 1024 * 1024;

/// Events in the order in which they were sent, up to a number of bytes.
pub(super) struct Events {
    log: Arc<Mutex<Log>>,
    /// The number of the newest.
    newest: watch::Sender<u64>,
}

#[derive(Default)]
struct Log {
    events: VecDeque<Event>,
    bytes: usize,
}

struct Event {
    number: u64,
    stream: Box<str>,
    /// `None`: the stream ends here, without an answer.
    message: Option<ServerSseMessage>,
    bytes: usize,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            log: Arc::default(),
            newest: watch::Sender::new(0),
        }
    }
}

/// The event was never sent, or is too old.
#[derive(Debug, thiserror::Error)]
#[error("the event is not known any more")]
struct Forgotten;

impl Log {
    fn add(&mut self, event: Event) {
        self.bytes += event.bytes;
        self.events.push_back(event);
        while self.bytes > BYTES {
            let Some(oldest) = self.events.pop_front() else {
                return;
            };
            self.bytes -= oldest.bytes;
        }
    }

    /// The first event of the stream after that number.
    fn next(&self, stream: &str, after: u64) -> Option<(u64, Option<ServerSseMessage>)> {
        let first = self.events.partition_point(|event| event.number <= after);
        let mut later = self.events.range(first..);
        let event = later.find(|event| &*event.stream == stream)?;
        Some((event.number, event.message.clone()))
    }

    fn has(&self, number: u64) -> bool {
        self.events
            .binary_search_by_key(&number, |event| event.number)
            .is_ok()
    }
}

impl Events {
    /// Notes that the stream ends without an answer, for those who read it again.
    pub(super) fn end(&self, stream: &str) {
        self.add(stream, |_| (None, 0));
    }

    /// Adds an event, which is made for its id.
    fn add(
        &self,
        stream: &str,
        make: impl FnOnce(&str) -> (Option<ServerSseMessage>, usize),
    ) -> String {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *self.newest.borrow() + 1;
        let id = format!("{stream}/{number}");
        let (message, bytes) = make(&id);
        log.add(Event {
            number,
            stream: stream.into(),
            message,
            bytes: bytes + 2 * id.len(),
        });
        self.newest.send_replace(number);
        id
    }
}

/// The stream that an event is of.
pub(super) fn stream_of(event: &ServerSseMessage) -> Option<&str> {
    Some(event.event_id.as_deref()?.rsplit_once('/')?.0)
}

#[async_trait]
impl EventStore for Events {
    async fn store_event(
        &self,
        stream: &str,
        message: &ServerSseMessage,
    ) -> Result<String, EventStoreError> {
        let mut bytes = Counted(0);
        if let Some(message) = &message.message {
            serde_json::to_writer(&mut bytes, message)?;
        }
        let mut message = message.clone();
        Ok(self.add(stream, |id| {
            message.event_id = Some(id.to_owned());
            (Some(message), bytes.0)
        }))
    }

    /// What the stream sent after that event, and sends from now on: up to its answer, where it is a request's.
    async fn replay_events_after(&self, last: &str) -> Result<EventStream, EventStoreError> {
        let (stream, number) = last.rsplit_once('/').ok_or(Forgotten)?;
        let number: u64 = number.parse().map_err(|_| Forgotten)?;
        if !self
            .log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .has(number)
        {
            return Err(Box::new(Forgotten));
        }
        let resumed = Resumed {
            log: self.log.clone(),
            newest: self.newest.subscribe(),
            stream: stream.to_owned(),
            last: number,
            answered: false,
        };
        let rest = stream::unfold(resumed, |mut resumed| async move {
            let message = resumed.next().await?;
            Some((message, resumed))
        });
        Ok(Box::pin(rest))
    }
}

/// A stream that goes on where it broke off.
struct Resumed {
    log: Arc<Mutex<Log>>,
    newest: watch::Receiver<u64>,
    stream: String,
    last: u64,
    answered: bool,
}

impl Resumed {
    async fn next(&mut self) -> Option<ServerSseMessage> {
        while !self.answered {
            self.newest.borrow_and_update();
            let found = self
                .log
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .next(&self.stream, self.last);
            if let Some((number, message)) = found {
                let message = message?;
                self.last = number;
                self.answered = matches!(
                    message.message.as_deref(),
                    Some(ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
                );
                return Some(message);
            }
            self.newest.changed().await.ok()?;
        }
        None
    }
}

/// Counts what is written to it.
struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{FutureExt as _, StreamExt as _};
    use rmcp::model::{RequestId, ServerResult};

    fn answer(id: i64) -> ServerSseMessage {
        let result = ServerResult::empty(());
        ServerSseMessage::from_message(ServerJsonRpcMessage::response(
            result,
            RequestId::Number(id),
        ))
    }

    #[tokio::test]
    async fn a_stream_goes_on_where_it_broke_off_and_ends_with_its_answer() {
        let events = Events::default();
        let first = ServerSseMessage::retry(std::time::Duration::from_secs(1));
        let id = events.store_event("a", &first).await.unwrap();
        events.store_event("b", &answer(1)).await.unwrap();
        let mut rest = events.replay_events_after(&id).await.unwrap();
        assert!(rest.next().now_or_never().is_none());
        let last = events.store_event("a", &answer(2)).await.unwrap();
        assert_eq!(rest.next().await.unwrap().event_id, Some(last));
        assert!(rest.next().await.is_none());
    }

    #[tokio::test]
    async fn a_stream_that_gets_no_answer_ends_all_the_same() {
        let events = Events::default();
        let first = ServerSseMessage::retry(std::time::Duration::from_secs(1));
        let id = events.store_event("a", &first).await.unwrap();
        let mut before = events.replay_events_after(&id).await.unwrap();
        assert!(before.next().now_or_never().is_none());
        events.end("a");
        assert!(before.next().await.is_none());
        let mut after = events.replay_events_after(&id).await.unwrap();
        assert!(after.next().await.is_none());
    }

    #[tokio::test]
    async fn what_is_kept_is_bounded() {
        let events = Events::default();
        let first = events.store_event("a", &answer(1)).await.unwrap();
        for id in 0..200_000 {
            events.store_event("a", &answer(id)).await.unwrap();
        }
        {
            let log = events.log.lock().unwrap();
            assert!(log.bytes <= BYTES && log.events.len() > 1000);
        }
        assert!(events.replay_events_after(&first).await.is_err());
        assert!(events.replay_events_after("nonsense").await.is_err());
    }
}
