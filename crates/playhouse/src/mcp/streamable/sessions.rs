//! MCP sessions over HTTP: who began them, and how long they last without their client. What browsers do for a client is not theirs;
//! it lives and expires by itself.

use super::events::{Events, stream_of};
use super::pump::pumped;
use super::watched::{Open, Watched};
use crate::mcp::text::{OPEN, SERVER_ERROR};
use crate::principal::Principal;
use futures_util::future::Either;
use futures_util::{Stream, StreamExt as _};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::common::server_side_http::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How many there may be; of more, the one goes that has been quiet the longest.
const MOST: usize = 4096;

/// The id that the first event of a stream without events has.
const START: &str = "0";

/// The sessions of all clients.
pub(super) struct HttpSessions {
    local: LocalSessionManager,
    events: Arc<Events>,
    known: Arc<Known>,
}

type Known = Mutex<HashMap<SessionId, Seen>>;

/// What is known of one.
struct Seen {
    owner: Option<Principal>,
    at: Instant,
    /// Streams that its client reads.
    streams: usize,
    /// Requests under way, whether their client waits for the answer or will come for it later.
    open: Open,
    /// Its streams end, those too that go on after they broke off.
    end: CancellationToken,
}

impl Seen {
    fn is_quiet(&self) -> bool {
        self.streams == 0 && self.open.count() == 0
    }
}

impl HttpSessions {
    /// Sessions that end when nothing was heard of their client for `timeout`.
    pub(super) fn new(timeout: Duration) -> Arc<Self> {
        let mut config = SessionConfig::default();
        // It would count a long call as silence.
        config.keep_alive = None;
        let mut local = LocalSessionManager::default();
        local.session_config = config;
        let events = Arc::new(Events::default());
        let sessions = Arc::new(Self {
            local: local.with_event_store(events.clone()),
            events,
            known: Arc::default(),
        });
        let reaping = reap(Arc::downgrade(&sessions), timeout);
        engine::spawn("MCP sessions", reaping).detach();
        sessions
    }

    /// Who began the session; nobody, if there is none.
    pub(super) fn owner(&self, id: &str) -> Option<Principal> {
        self.known().get(id)?.owner.clone()
    }

    /// Notes who began it.
    pub(super) fn belongs_to(&self, id: &str, owner: &Principal) {
        if let Some(seen) = self.known().get_mut(id) {
            seen.owner = Some(owner.clone());
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.known().len()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Seen>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, id: &SessionId) -> Open {
        let known = self.known();
        known
            .get(id)
            .map(|seen| seen.open.clone())
            .unwrap_or_default()
    }

    /// The stream, which counts as a sign of life as long as somebody has it.
    fn watched(
        &self,
        id: &SessionId,
        stream: impl Stream<Item = ServerSseMessage> + Send + 'static,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        let end = self.known().get(id).map(|seen| seen.end.clone());
        let end = async move {
            // One that is not known has ended, and its streams with it.
            if let Some(end) = end {
                end.cancelled_owned().await;
            }
        };
        ReadStream {
            _read: Read::begin(&self.known, id),
            stream: Box::pin(pumped(stream.take_until(end))),
        }
    }

    /// Those that nobody has read from or asked since, the longest quiet first.
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

/// Ends sessions that were quiet for too long, as long as there is somebody to have sessions.
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
            // Its own end is all that can be asked of it.
            let _ = sessions.close_session(&id).await;
        }
    }
}

/// Notes a sign of life.
fn heard(known: &Known, id: &SessionId) {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(seen) = known.get_mut(id) {
        seen.at = Instant::now();
    }
}

/// Notes a request as under way; or answers why it cannot be. Of two with one id only one would be answered.
fn admit(open: &Open, id: &RequestId) -> std::result::Result<(), ServerSseMessage> {
    let (code, told) = match open.count() >= OPEN {
        true => (ErrorCode(SERVER_ERROR), "Too many requests are under way"),
        false if open.add(id) => return Ok(()),
        false => (
            ErrorCode::INVALID_REQUEST,
            "Invalid Request: a request with this id is under way",
        ),
    };
    let error = ErrorData::new(code, told, None);
    let message = ServerJsonRpcMessage::error(error, Some(id.clone()));
    Err(ServerSseMessage::from_message(message))
}

/// Somebody reads from a session.
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
        if self.len() >= MOST
            && let Some(id) = self.quiet_since(Instant::now()).first()
        {
            self.close_session(id).await?;
        }
        let (id, transport) = self.local.create_session().await?;
        let open = Open::default();
        let seen = Seen {
            owner: None,
            at: Instant::now(),
            streams: 0,
            open: open.clone(),
            end: CancellationToken::new(),
        };
        self.known().insert(id.clone(), seen);
        let answered = {
            let (known, id) = (self.known.clone(), id.clone());
            // The client has its time from here on.
            move || heard(&known, &id)
        };
        Ok((id, Watched::new(transport, open, Box::new(answered))))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool> {
        heard(&self.known, id);
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<()> {
        let seen = self.known().remove(id);
        let closed = self.local.close_session(id).await;
        if let Some(seen) = seen {
            seen.end.cancel();
        }
        closed
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        #[cfg(feature = "conformance")]
        let events = crate::mcp::fixtures::events_until_cut(&message);
        let open = self.open(id);
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
        match self.local.create_stream(id, message).await {
            Ok(stream) => {
                #[cfg(feature = "conformance")]
                let stream = stream.take(events);
                let stream = stream.inspect(move |event| {
                    if let (Some(request), Some(stream)) = (&request, stream_of(event)) {
                        open.answers_on(request, stream);
                    }
                });
                Ok(Either::Right(self.watched(id, stream)))
            }
            Err(error) => {
                if let Some(request) = &request {
                    open.remove(request);
                }
                Err(error)
            }
        }
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<()> {
        let mut cancelled_stream = None;
        // A cancelled request gets no answer.
        if let ClientJsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(request) = &cancelled.params.request_id
        {
            cancelled_stream = self.open(id).remove(request);
        }
        let accepted = self.local.accept_message(id, message).await;
        if let Some(stream) = cancelled_stream {
            self.events.end(&stream);
        }
        accepted
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let stream = self.local.create_standalone_stream(id).await?;
        Ok(self.watched(id, stream))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let stream: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send>> = match &*last {
            START => Box::pin(self.local.create_standalone_stream(id).await?),
            _ => Box::pin(self.local.resume(id, last).await?),
        };
        Ok(self.watched(id, stream))
    }
}
