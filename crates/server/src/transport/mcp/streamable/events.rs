//! Stored events of the streams of an MCP session, for clients that resume a stream with `Last-Event-ID`.

use crate::transport::mcp::text::SERVER_ERROR;
use async_trait::async_trait;
use futures_util::stream;
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::{EventStore, EventStoreError, EventStream};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The limits of the stored events: the oldest messages are dropped. The newest one of a session is always kept.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// The size of a session's events, in bytes.
    session: usize,
    /// The size of all events, in bytes: messages of the largest session are dropped.
    all: usize,
    /// The number of a session's events.
    events: usize,
}

const LIMITS: Limits = Limits {
    session: 8 * 1024 * 1024,
    all: 128 * 1024 * 1024,
    events: 4096,
};

/// The events of all sessions.
#[derive(Clone)]
pub(super) struct EventLogs(Arc<Mutex<Logs>>);

struct Logs {
    limits: Limits,
    sessions: HashMap<u64, Log>,
    bytes: usize,
    /// The number of the next session.
    next: u64,
}

/// The events of one session in the order in which they were sent. They are deleted when this is dropped.
pub(super) struct Events {
    session: Arc<LoggedSession>,
    /// The number of the newest event.
    newest: watch::Sender<u64>,
}

struct LoggedSession {
    logs: EventLogs,
    number: u64,
}

#[derive(Default)]
struct Log {
    events: VecDeque<Event>,
    bytes: usize,
    /// The number of events from the front whose messages were dropped.
    dropped: usize,
}

struct Event {
    number: u64,
    stream: Box<str>,
    kept: StoredEvent,
    bytes: usize,
}

/// A stored event.
enum StoredEvent {
    Message(ServerSseMessage),
    /// The response to a request, which was dropped.
    LostAnswer(RequestId),
    /// Another message that was dropped.
    Lost,
    /// The stream ends here, without a response.
    End,
}

/// The next part of a stream.
enum Next {
    Message(u64, ServerSseMessage),
    End,
    Nothing,
}

/// The event was never sent, or was dropped.
#[derive(Debug, thiserror::Error)]
#[error("the event is not known any more")]
struct Forgotten;

impl Default for EventLogs {
    fn default() -> Self {
        Self::limited(LIMITS)
    }
}

impl EventLogs {
    fn limited(limits: Limits) -> Self {
        Self(Arc::new(Mutex::new(Logs {
            limits,
            sessions: HashMap::new(),
            bytes: 0,
            next: 0,
        })))
    }

    /// Creates the events of another session.
    pub(super) fn session(&self) -> Events {
        let mut logs = self.lock();
        let number = logs.next;
        logs.next += 1;
        logs.sessions.insert(number, Log::default());
        Events {
            session: Arc::new(LoggedSession {
                logs: self.clone(),
                number,
            }),
            newest: watch::Sender::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Logs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LoggedSession {
    fn drop(&mut self) {
        let mut logs = self.logs.lock();
        if let Some(log) = logs.sessions.remove(&self.number) {
            logs.bytes -= log.bytes;
        }
    }
}

impl LoggedSession {
    fn read<T>(&self, read: impl FnOnce(&Log) -> T) -> Option<T> {
        self.logs.lock().sessions.get(&self.number).map(read)
    }
}

impl Logs {
    fn add(&mut self, session: u64, event: Event) {
        let limits = self.limits;
        let Some(log) = self.sessions.get_mut(&session) else {
            return;
        };
        let (before, newest) = (log.bytes, event.bytes);
        log.bytes += newest;
        log.events.push_back(event);
        while log.events.len() > limits.events {
            log.forget_oldest();
        }
        while log.bytes - newest > limits.session {
            // Messages are dropped first: the remaining events show what is missing.
            match log.dropped + 1 < log.events.len() {
                true => log.drop_oldest_message(),
                false => log.forget_oldest(),
            }
        }
        self.bytes = self.bytes - before + log.bytes;
        while self.bytes > limits.all {
            let largest = self.sessions.values_mut().max_by_key(|log| log.bytes);
            let Some(largest) = largest.filter(|log| !log.events.is_empty()) else {
                return;
            };
            let before = largest.bytes;
            match largest.dropped < largest.events.len() {
                true => largest.drop_oldest_message(),
                false => largest.forget_oldest(),
            }
            self.bytes = self.bytes - before + largest.bytes;
        }
    }
}

impl Log {
    /// Drops the oldest remaining message, and keeps its kind.
    fn drop_oldest_message(&mut self) {
        let Some(event) = self.events.get_mut(self.dropped) else {
            return;
        };
        self.dropped += 1;
        let StoredEvent::Message(message) = &event.kept else {
            return;
        };
        let request = answered(message).cloned();
        let id = request.as_ref().map_or(0, |id| id.to_string().len());
        let left = size_of::<Event>() + event.stream.len() + id;
        self.bytes = self.bytes - event.bytes + left;
        event.bytes = left;
        event.kept = request.map_or(StoredEvent::Lost, StoredEvent::LostAnswer);
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.events.pop_front() {
            self.bytes -= oldest.bytes;
            self.dropped = self.dropped.saturating_sub(1);
        }
    }

    /// Returns the first part of the stream after that event.
    fn next(&self, stream: &str, after: u64) -> Next {
        let first = self.events.partition_point(|event| event.number <= after);
        let later = self.events.range(first..);
        for event in later.filter(|event| &*event.stream == stream) {
            return match &event.kept {
                StoredEvent::Message(message) => Next::Message(event.number, message.clone()),
                StoredEvent::LostAnswer(id) => {
                    let mut message = lost_answer(id);
                    message.event_id = Some(format!("{stream}/{}", event.number));
                    Next::Message(event.number, message)
                }
                StoredEvent::Lost => continue,
                StoredEvent::End => Next::End,
            };
        }
        Next::Nothing
    }

    /// Returns whether the stream has an event of that number or a later one.
    fn has(&self, stream: &str, number: u64) -> bool {
        let first = self.events.partition_point(|event| event.number < number);
        let mut later = self.events.range(first..);
        later.any(|event| &*event.stream == stream)
    }
}

/// Returns the request of a response.
fn answered(message: &ServerSseMessage) -> Option<&RequestId> {
    match message.message.as_deref()? {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// Returns the error that replaces a dropped response.
fn lost_answer(id: &RequestId) -> ServerSseMessage {
    let error = ErrorData::new(
        ErrorCode(SERVER_ERROR),
        "The answer was sent while the stream was broken, and is not kept any more. The call had its effect: read the state again before you repeat it.",
        None,
    );
    ServerSseMessage::from_message(ServerJsonRpcMessage::error(error, Some(id.clone())))
}

impl Events {
    /// Records that the stream ends without a response, for clients that resume it.
    pub(super) fn end(&self, stream: &str) {
        self.add(stream, |_| (StoredEvent::End, 0));
    }

    /// Adds an event, which `make` creates for its id.
    fn add(&self, stream: &str, make: impl FnOnce(&str) -> (StoredEvent, usize)) -> String {
        let mut logs = self.session.logs.lock();
        let number = *self.newest.borrow() + 1;
        let id = format!("{stream}/{number}");
        let (kept, bytes) = make(&id);
        let event = Event {
            number,
            stream: stream.into(),
            kept,
            bytes: bytes + size_of::<Event>() + 2 * id.len(),
        };
        logs.add(self.session.number, event);
        self.newest.send_replace(number);
        id
    }
}

/// Returns the stream of an event.
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
            (StoredEvent::Message(message), bytes.0)
        }))
    }

    /// Returns what the stream sent after that event and sends from now on: up to the response, for the stream of a request.
    async fn replay_events_after(&self, last: &str) -> Result<EventStream, EventStoreError> {
        let (stream, number) = last.rsplit_once('/').ok_or(Forgotten)?;
        let number: u64 = number.parse().map_err(|_| Forgotten)?;
        if self.session.read(|log| log.has(stream, number)) != Some(true) {
            return Err(Box::new(Forgotten));
        }
        let resumed = Resumed {
            session: self.session.clone(),
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

/// A resumed stream.
struct Resumed {
    session: Arc<LoggedSession>,
    newest: watch::Receiver<u64>,
    stream: String,
    last: u64,
    answered: bool,
}

impl Resumed {
    async fn next(&mut self) -> Option<ServerSseMessage> {
        while !self.answered {
            self.newest.borrow_and_update();
            let next = self.session.read(|log| log.next(&self.stream, self.last))?;
            match next {
                Next::Message(number, message) => {
                    self.last = number;
                    self.answered = answered(&message).is_some();
                    return Some(message);
                }
                Next::End => return None,
                Next::Nothing => self.newest.changed().await.ok()?,
            }
        }
        None
    }
}

/// Counts the written bytes.
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
    use rmcp::model::ServerResult;

    fn answer(id: i64) -> ServerSseMessage {
        let result = ServerResult::empty(());
        ServerSseMessage::from_message(ServerJsonRpcMessage::response(
            result,
            RequestId::Number(id),
        ))
    }

    #[tokio::test]
    async fn a_stream_resumes_after_an_interruption_and_ends_with_its_answer() {
        let events = EventLogs::default().session();
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
    async fn a_stream_without_an_answer_ends() {
        let events = EventLogs::default().session();
        let first = ServerSseMessage::retry(std::time::Duration::from_secs(1));
        let id = events.store_event("a", &first).await.unwrap();
        let mut before = events.replay_events_after(&id).await.unwrap();
        assert!(before.next().now_or_never().is_none());
        events.end("a");
        assert!(before.next().await.is_none());
        let mut after = events.replay_events_after(&id).await.unwrap();
        assert!(after.next().await.is_none());
    }

    fn large(id: i64, bytes: usize) -> ServerSseMessage {
        let error = ErrorData::new(ErrorCode(1), "x".repeat(bytes), None);
        let id = Some(RequestId::Number(id));
        ServerSseMessage::from_message(ServerJsonRpcMessage::error(error, id))
    }

    fn json_of(message: &ServerSseMessage) -> String {
        serde_json::to_string(message.message.as_ref().unwrap()).unwrap()
    }

    /// Stores a message, and returns the event id with which a client resumes the stream before it.
    async fn begun(events: &Events, stream: &str) -> String {
        let first = ServerSseMessage::retry(std::time::Duration::from_secs(1));
        events.store_event(stream, &first).await.unwrap()
    }

    #[tokio::test]
    async fn an_answer_above_the_limit_is_delivered_and_lost_answers_are_errors() {
        let events = EventLogs::default().session();
        let (small, huge) = (begun(&events, "a").await, begun(&events, "b").await);
        events.store_event("a", &large(1, 100)).await.unwrap();
        let before = events
            .replay_events_after(&small)
            .await
            .unwrap()
            .next()
            .await;
        assert!(json_of(&before.unwrap()).contains("xxx"));
        let size = LIMITS.session + 1;
        events.store_event("b", &large(2, size)).await.unwrap();
        let mut rest = events.replay_events_after(&huge).await.unwrap();
        assert!(json_of(&rest.next().await.unwrap()).len() > size);
        assert!(rest.next().await.is_none());
        // It is no longer the newest one.
        events.store_event("c", &large(3, 100)).await.unwrap();
        let mut rest = events.replay_events_after(&huge).await.unwrap();
        let lost = json_of(&rest.next().await.unwrap());
        assert!(
            lost.contains("\"id\":2") && lost.contains("not kept"),
            "{lost}"
        );
        assert!(rest.next().await.is_none());
        events.store_event("d", &large(4, 100)).await.unwrap();
        let last = events
            .replay_events_after(&small)
            .await
            .unwrap()
            .next()
            .await;
        assert!(json_of(&last.unwrap()).contains("\"id\":1"));
    }

    #[tokio::test]
    async fn events_of_one_session_do_not_evict_those_of_another() {
        let logs = EventLogs::default();
        let (quiet, busy) = (logs.session(), logs.session());
        let id = begun(&quiet, "a").await;
        quiet.store_event("a", &large(1, 100)).await.unwrap();
        for _ in 0..20 {
            busy.store_event("b", &large(1, LIMITS.session / 8))
                .await
                .unwrap();
        }
        let answer = quiet.replay_events_after(&id).await.unwrap().next().await;
        assert!(json_of(&answer.unwrap()).contains("xxx"));
        assert!(busy.replay_events_after(&id).await.is_err());
    }

    #[tokio::test]
    async fn the_largest_session_is_evicted_first() {
        let limits = Limits {
            all: 10_000,
            ..LIMITS
        };
        let logs = EventLogs::limited(limits);
        let sessions: Vec<_> = (0..3).map(|_| logs.session()).collect();
        let mut ids = Vec::new();
        for (session, bytes) in sessions.iter().zip([500, 6_000, 8_000]) {
            ids.push(begun(session, "a").await);
            session.store_event("a", &large(1, bytes)).await.unwrap();
            assert!(logs.lock().bytes <= limits.all);
        }
        for (number, is_kept) in [true, true, false].into_iter().enumerate() {
            let mut rest = sessions[number]
                .replay_events_after(&ids[number])
                .await
                .unwrap();
            assert_eq!(
                json_of(&rest.next().await.unwrap()).contains("xxx"),
                is_kept,
                "{number}"
            );
        }
        drop(sessions);
        assert_eq!(logs.lock().bytes, 0);
    }

    #[tokio::test]
    async fn stored_events_are_bounded() {
        let logs = EventLogs::default();
        let events = logs.session();
        let first = events.store_event("a", &answer(1)).await.unwrap();
        for id in 0..20_000 {
            events.store_event("b", &answer(id)).await.unwrap();
        }
        assert_eq!(
            events.session.read(|log| log.events.len()),
            Some(LIMITS.events)
        );
        assert!(logs.lock().bytes < LIMITS.session);
        assert!(events.replay_events_after(&first).await.is_err());
        assert!(events.replay_events_after("nonsense").await.is_err());
    }
}
