//! MCP sessions over HTTP: their owners, and their timeouts without a client. Browser sessions are independent of them and expire on their
//! own.

use super::events::{EventLogs, Events, stream_of};
use super::pump::pump;
use super::watched::{Open, Watched};
use crate::access::principal::Principal;
use crate::transport::mcp::fixtures::events_until_cut;
use crate::transport::mcp::text::{MAX_OPEN_REQUESTS, SERVER_ERROR};
use futures_util::future::Either;
use futures_util::{Stream, StreamExt as _};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::common::server_side_http::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, LocalSessionManagerError, SessionConfig, SessionError,
    StreamableHttpMessageReceiver,
};
use rmcp::transport::streamable_http_server::session::{EventStore as _, SessionManager};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The connection to the client of a session.
#[derive(Clone)]
pub(in crate::transport::mcp) struct ClientState {
    known: Weak<Known>,
    id: SessionId,
    has_ended: Arc<AtomicBool>,
}

/// Whether the client is connected.
pub(in crate::transport::mcp) enum ClientStatus {
    /// The client waits for a response, or was active recently.
    Present,
    /// The session has ended, or the client was inactive for too long.
    Gone,
    /// A ping can determine it.
    Unknown,
}

impl ClientState {
    /// Returns whether the client has ended the session itself.
    pub(in crate::transport::mcp) fn has_ended(&self) -> Arc<AtomicBool> {
        self.has_ended.clone()
    }

    pub(in crate::transport::mcp) fn state(&self) -> ClientStatus {
        let Some(known) = self.known.upgrade() else {
            return ClientStatus::Gone;
        };
        let known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(seen) = known.get(&self.id) else {
            return ClientStatus::Gone;
        };
        let quiet = seen.is_quiet().then(|| seen.at.elapsed());
        match (seen.listened, quiet) {
            (true, Some(quiet)) if quiet >= RECONNECT_TIMEOUT => ClientStatus::Gone,
            (false, Some(quiet)) if quiet >= IDLE_TIMEOUT => ClientStatus::Gone,
            (true, _) => ClientStatus::Unknown,
            (false, _) => ClientStatus::Present,
        }
    }
}

/// The largest number of sessions; of more, the one that was inactive the longest is closed.
const MAX_SESSIONS: usize = 4096;

/// The largest number of sessions of a principal; of more, the one that was inactive the longest is closed.
const MAX_SESSIONS_OF_PRINCIPAL: usize = 256;

/// How long a client that has listened may be without a stream and a request before it counts as disconnected.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a client that never listened may be without a request before it counts as disconnected.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// The id of the first event of a stream without events.
const START: &str = "0";

/// The sessions of all clients.
pub(super) struct HttpSessions {
    config: SessionConfig,
    logs: EventLogs,
    known: Arc<Known>,
}

type Known = Mutex<HashMap<SessionId, SessionRecord>>;

/// The state of a session.
struct SessionRecord {
    owner: Option<Principal>,
    handle: LocalSessionHandle,
    events: Arc<Events>,
    at: Instant,
    /// The number of streams that the client reads.
    streams: usize,
    /// Whether the client has listened to the session's own stream, so that it is expected to listen again.
    listened: bool,
    /// Locked while the client starts to listen.
    listening: Arc<tokio::sync::Mutex<()>>,
    /// The requests in progress, whose responses the client waits for or will fetch later.
    open: Open,
    /// Ends the streams, including interrupted ones.
    end: CancellationToken,
    /// Whether the client has ended the session itself.
    has_ended: Arc<AtomicBool>,
}

impl SessionRecord {
    fn is_quiet(&self) -> bool {
        self.streams == 0 && self.open.count() == 0
    }
}

impl HttpSessions {
    /// Creates sessions that end after the client was inactive for `timeout`.
    pub(super) fn new(timeout: Duration) -> Arc<Self> {
        let mut config = SessionConfig::default();
        // It would count a long call as inactivity.
        config.keep_alive = None;
        let sessions = Arc::new(Self {
            config,
            logs: EventLogs::default(),
            known: Arc::default(),
        });
        let reaping = reap(Arc::downgrade(&sessions), timeout);
        task::spawn("MCP sessions", reaping).detach();
        sessions
    }

    /// Returns the owner of the session, if it exists.
    pub(super) fn owner(&self, id: &str) -> Option<Principal> {
        self.known().get(id)?.owner.clone()
    }

    /// Sets the owner of the session.
    pub(super) fn set_owner(&self, id: &str, owner: &Principal) {
        if let Some(seen) = self.known().get_mut(id) {
            seen.owner = Some(owner.clone());
        }
    }

    /// Returns the connection to the client of a session.
    pub(super) fn line(&self, id: &str) -> ClientState {
        let known = self.known();
        let has_ended = known.get(id).map(|seen| seen.has_ended.clone());
        ClientState {
            known: Arc::downgrade(&self.known),
            id: id.into(),
            has_ended: has_ended.unwrap_or_default(),
        }
    }

    /// Makes room for another session of a principal: closes the one of its sessions that was inactive the longest if it has too many.
    /// Returns false if none of them is inactive.
    pub(super) async fn make_room(&self, owner: &Principal) -> bool {
        let is_own = |seen: &SessionRecord| seen.owner.as_ref().is_none_or(|other| other == owner);
        let surplus = self.known().values().filter(|seen| is_own(seen)).count() + 1;
        let surplus = surplus.saturating_sub(MAX_SESSIONS_OF_PRINCIPAL);
        let mut quiet = self.quiet_since(Instant::now());
        quiet.retain(|id| self.known().get(id).is_some_and(&is_own));
        let has_room = quiet.len() >= surplus;
        for id in quiet.iter().take(surplus) {
            // An error means that it has ended already.
            let _ = self.close_session(id).await;
        }
        has_room
    }

    /// Returns the number of sessions.
    pub(super) fn len(&self) -> usize {
        self.known().len()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, SessionRecord>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a fact of a session, or the error that it does not exist.
    fn seen<T>(&self, id: &SessionId, read: impl FnOnce(&SessionRecord) -> T) -> Result<T> {
        let known = self.known();
        let unknown = || LocalSessionManagerError::SessionNotFound(id.clone());
        known.get(id).map(read).ok_or_else(unknown)
    }

    fn handle(&self, id: &SessionId) -> Result<LocalSessionHandle> {
        self.seen(id, |seen| seen.handle.clone())
    }

    /// Wraps a stream, which counts as activity while it is read.
    fn watched(
        &self,
        id: &SessionId,
        stream: impl Stream<Item = ServerSseMessage> + Send + 'static,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        let end = self.known().get(id).map(|seen| seen.end.clone());
        let end = async move {
            // An unknown session has ended, with its streams.
            if let Some(end) = end {
                end.cancelled_owned().await;
            }
        };
        ReadStream {
            _read: Read::begin(&self.known, id),
            stream: Box::pin(pump(stream.take_until(end))),
        }
    }

    /// Returns the sessions without streams and requests since then, the longest inactive first.
    fn quiet_since(&self, since: Instant) -> Vec<SessionId> {
        let known = self.known();
        let mut quiet: Vec<_> = known
            .iter()
            .filter(|(_, seen)| seen.is_quiet() && seen.at <= since)
            .map(|(id, seen)| (seen.at, id.clone()))
            .collect();
        quiet.sort();
        quiet.into_iter().map(|(_, id)| id).collect()
    }
}

/// Closes inactive sessions, until `sessions` is dropped.
async fn reap(sessions: Weak<HttpSessions>, timeout: Duration) {
    loop {
        tokio::time::sleep((timeout / 4).max(Duration::from_millis(50))).await;
        let Some(sessions) = sessions.upgrade() else {
            return;
        };
        let Some(since) = Instant::now().checked_sub(timeout) else {
            continue;
        };
        for id in sessions.quiet_since(since) {
            tracing::info!("an MCP session was quiet for too long");
            // An error means that it has ended already.
            let _ = sessions.close_session(&id).await;
        }
    }
}

/// Records activity of the client.
fn record_activity(known: &Known, id: &SessionId) {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(seen) = known.get_mut(id) {
        seen.at = Instant::now();
    }
}

/// Records a request as in progress, or returns why it is rejected. Of two requests with one id, only one would get a response.
fn admit(open: &Open, id: &RequestId) -> std::result::Result<(), ServerSseMessage> {
    let (code, reason) = match open.count() >= MAX_OPEN_REQUESTS {
        true => (ErrorCode(SERVER_ERROR), "Too many concurrent requests"),
        false if open.add(id) => return Ok(()),
        false => (
            ErrorCode::INVALID_REQUEST,
            "Invalid Request: duplicate request id",
        ),
    };
    let error = ErrorData::new(code, reason, None);
    let message = ServerJsonRpcMessage::error(error, Some(id.clone()));
    Err(ServerSseMessage::from_message(message))
}

/// A read of a session's stream.
struct Read {
    known: Arc<Known>,
    id: SessionId,
}

impl Read {
    fn begin(known: &Arc<Known>, id: &SessionId) -> Self {
        let read = Self {
            known: known.clone(),
            id: id.clone(),
        };
        read.count(|streams| streams + 1);
        read
    }

    fn count(&self, change: impl FnOnce(usize) -> usize) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = known.get_mut(&self.id) {
            seen.streams = change(seen.streams);
            seen.at = Instant::now();
        }
    }
}

impl Drop for Read {
    fn drop(&mut self) {
        self.count(|streams| streams.saturating_sub(1));
    }
}

struct ReadStream<S: ?Sized> {
    _read: Read,
    stream: Pin<Box<S>>,
}

impl<S: Stream + ?Sized> Stream for ReadStream<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.stream.as_mut().poll_next(context)
    }
}

type Result<T> = std::result::Result<T, LocalSessionManagerError>;

impl SessionManager for HttpSessions {
    type Error = LocalSessionManagerError;
    type Transport =
        Watched<<LocalSessionManager as SessionManager>::Transport, Box<dyn Fn() + Send>>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport)> {
        if self.len() >= MAX_SESSIONS
            && let Some(id) = self.quiet_since(Instant::now()).first()
        {
            self.close_session(id).await?;
        }
        let events = Arc::new(self.logs.session());
        let mut local = LocalSessionManager::default().with_event_store(events.clone());
        local.session_config = self.config.clone();
        let (id, transport) = local.create_session().await?;
        let handle = local.sessions.into_inner().remove(&id);
        let handle = handle.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
        let open = Open::default();
        let seen = SessionRecord {
            owner: None,
            handle,
            events,
            listened: false,
            listening: Arc::default(),
            at: Instant::now(),
            streams: 0,
            open: open.clone(),
            end: CancellationToken::new(),
            has_ended: Arc::default(),
        };
        self.known().insert(id.clone(), seen);
        let answered = {
            let (known, id) = (self.known.clone(), id.clone());
            // The inactivity timeout starts here.
            move || record_activity(&known, &id)
        };
        Ok((id, Watched::new(transport, open, Box::new(answered))))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage> {
        Ok(self.handle(id)?.initialize(message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool> {
        record_activity(&self.known, id);
        Ok(self.known().contains_key(id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<()> {
        let Some(seen) = self.known().remove(id) else {
            return Ok(());
        };
        let closed = seen.handle.close().await;
        seen.end.cancel();
        match closed {
            // The session had ended already.
            Ok(()) | Err(SessionError::SessionServiceTerminated) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let events = events_until_cut(&message);
        let (handle, open) = self.seen(id, |seen| (seen.handle.clone(), seen.open.clone()))?;
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        if let Some(request) = &request
            && let Err(refusal) = admit(&open, request)
        {
            let refusal = futures_util::stream::iter([refusal]);
            return Ok(Either::Left(refusal));
        }
        // If the client disconnects meanwhile, its request is delivered nevertheless: otherwise it would remain in progress forever.
        let begun = {
            let (open, request) = (open.clone(), request.clone());
            task::run_to_completion("MCP request", async move {
                let begun = async {
                    let stream = handle.establish_request_wise_channel().await?;
                    let number = stream.http_request_id;
                    handle.push_message(message, number).await?;
                    Ok(received(stream))
                };
                let begun = begun.await;
                if let (Err(_), Some(request)) = (&begun, &request) {
                    open.remove(request);
                }
                begun
            })
        };
        let ended = SessionError::SessionServiceTerminated;
        match begun.await.unwrap_or(Err(ended)) {
            Ok(stream) => {
                let stream = stream.take(events).inspect(move |event| {
                    if let (Some(request), Some(stream)) = (&request, stream_of(event)) {
                        open.answers_on(request, stream);
                    }
                });
                Ok(Either::Right(self.watched(id, stream)))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<()> {
        let (handle, open, events) = self.seen(id, |seen| {
            (seen.handle.clone(), seen.open.clone(), seen.events.clone())
        })?;
        let mut cancelled_stream = None;
        // A cancelled request gets no response.
        if let ClientJsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(request) = &cancelled.params.request_id
        {
            cancelled_stream = open.remove(request);
        }
        let accepted = handle.push_message(message, None).await;
        if let Some(stream) = cancelled_stream {
            events.end(&stream);
        }
        Ok(accepted?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let stream = self.listen(id).await?;
        Ok(self.watched(id, stream))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let stream: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send>> = match &*last {
            START => Box::pin(self.listen(id).await?),
            _ => {
                let events = self.seen(id, |seen| seen.events.clone())?;
                let rest = events.replay_events_after(&last).await;
                Box::pin(rest.map_err(SessionError::EventStore)?)
            }
        };
        Ok(self.watched(id, stream))
    }
}

impl HttpSessions {
    /// Listens to the session's own stream. The previous stream stays open without messages: its connection may be broken without notice,
    /// and a client with two streams would reopen each one when the other ends it.
    async fn listen(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + 'static> {
        let (handle, listening) =
            self.seen(id, |seen| (seen.handle.clone(), seen.listening.clone()))?;
        let _alone = listening.lock().await;
        handle.close_standalone_sse_stream(None).await?;
        let stream = received(handle.establish_common_channel().await?);
        if let Some(seen) = self.known().get_mut(id) {
            seen.listened = true;
        }
        Ok(stream.chain(futures_util::stream::pending()))
    }
}

fn received(
    mut stream: StreamableHttpMessageReceiver,
) -> impl Stream<Item = ServerSseMessage> + Send + use<> {
    futures_util::stream::poll_fn(move |context| stream.inner.poll_recv(context))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use rmcp::model::ServerResult;
    use rmcp::transport::Transport as _;
    use serde_json::json;

    fn request(id: i64, method: &str, params: serde_json::Value) -> ClientJsonRpcMessage {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        serde_json::from_value(message).unwrap()
    }

    #[tokio::test]
    async fn a_request_of_a_disconnected_client_is_delivered_and_completes() {
        let sessions = HttpSessions::new(Duration::from_secs(60));
        let (id, mut transport) = sessions.create_session().await.unwrap();
        let mut answer = async |number| {
            let received = transport.receive().await.unwrap();
            let ClientJsonRpcMessage::Request(received) = received else {
                panic!("{received:?}");
            };
            assert_eq!(received.id, RequestId::Number(number));
            let answer = ServerJsonRpcMessage::response(ServerResult::empty(()), received.id);
            transport.send(answer).await.unwrap();
        };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let hello = sessions.initialize_session(&id, request(0, "initialize", hello));
        let (hello, ()) = tokio::join!(hello, answer(0));
        hello.unwrap();
        let ping = sessions.create_stream(&id, request(1, "ping", json!({})));
        assert!(ping.now_or_never().is_none());
        assert_eq!(sessions.seen(&id, |seen| seen.open.count()).unwrap(), 1);
        let delivered = tokio::time::timeout(Duration::from_secs(10), answer(1));
        delivered.await.expect("the request is delivered");
        assert!(sessions.seen(&id, SessionRecord::is_quiet).unwrap());
    }
}
