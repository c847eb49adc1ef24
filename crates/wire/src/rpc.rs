//! JSON-RPC with a browser: commands and their results, and ordered queues of events.
//!
//! Two tasks serve a connection: one reads and dispatches, one writes the queued frames. Both end with it. [`routes`] assigns events to
//! queues; the meaning of commands is not known here.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use crate::cdp::Command;
use crate::error::{Error, Result};
use crate::json;
use crate::span::CommandSpan;
use crate::transport::{self, Incoming, Outgoing};
use envelope::{Envelope, Failure, Request};
use queue::{Backpressure, Item, queue};
use routes::Routes;

pub use queue::{EventStream, QUEUE_CAPACITY, RawEvent};

mod envelope;
mod queue;
mod routes;
#[cfg(test)]
mod tests;

/// The largest number of frames that wait to be written; a browser that reads none of them is unresponsive.
const OUTGOING_CAPACITY: usize = 16_384;
/// The largest number of frames in one write.
const BATCH: usize = 256;

/// A pipe or WebSocket to a browser, with all of its sessions. Cheap to clone.
///
/// The connection is closed when the last clone (including sessions) is dropped.
#[derive(Clone)]
pub struct Connection {
    owner: Arc<Owner>,
}

/// Aborts the tasks with the last handle; the tasks hold [`Shared`] only.
struct Owner {
    shared: Arc<Shared>,
    reader: AbortHandle,
    writer: AbortHandle,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.end("the connection was dropped");
        self.reader.abort();
        self.writer.abort();
    }
}

impl Connection {
    /// Connects to a browser that was started with `--remote-debugging-pipe`: `reader` is the other end of the browser's file descriptor 4,
    /// `writer` that of 3.
    ///
    /// The stream is the queue of the browser-level events. Requires a Tokio runtime.
    #[cfg(unix)]
    pub fn pipe(
        reader: impl Into<std::os::fd::OwnedFd>,
        writer: impl Into<std::os::fd::OwnedFd>,
    ) -> Result<(Self, EventStream)> {
        let (reader, writer) =
            transport::open(reader.into(), writer.into()).map_err(|error| Error::Connect {
                endpoint: "pipe".into(),
                cause: crate::ConnectFailure::Invalid(error.to_string()),
            })?;
        Ok(Self::start(reader, writer))
    }

    /// Like [`Connection::pipe`], for any two byte streams.
    pub fn streams<R, W>(reader: R, writer: W) -> (Self, EventStream)
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        Self::start(
            transport::PipeReader::new(reader),
            transport::PipeWriter::new(writer),
        )
    }

    /// Connects to a `ws://` or `wss://` URL, within `timeout`.
    ///
    /// User name and password in the URL are sent as Basic credentials; `headers` override them.
    pub async fn websocket(
        url: &str,
        headers: &[(String, String)],
        timeout: Duration,
    ) -> Result<(Self, EventStream)> {
        let (reader, writer) = transport::connect(url, headers, timeout).await?;
        Ok(Self::start(reader, writer))
    }

    /// Returns the browser-level session, which has no id.
    pub fn root(&self) -> Session {
        Session {
            connection: self.clone(),
            id: None,
        }
    }

    /// Returns the session with this id from `Target.attachedToTarget`.
    pub fn session(&self, id: impl Into<Arc<str>>) -> Session {
        Session {
            connection: self.clone(),
            id: Some(id.into()),
        }
    }

    /// Returns the events of a session that was attached at the browser level, and of all sessions that were attached within it
    /// (out-of-process frames, workers), in order of arrival.
    ///
    /// The queue was created before the `Target.attachedToTarget` event was delivered, so it is complete. `None` if the session has ended,
    /// shares its parent's queue, or its queue was taken before.
    pub fn take_events(&self, session: &str) -> Option<EventStream> {
        self.owner.shared.state().routes.take_events(session)
    }

    /// Becomes `Some(reason)` when the connection has ended.
    pub fn closed(&self) -> watch::Receiver<Option<String>> {
        self.owner.shared.closed.subscribe()
    }

    /// Closes the connection. Sent frames are still written; all waiters are woken at once.
    pub fn close(&self) {
        self.owner.shared.end("closed by this side");
        self.owner.reader.abort();
    }

    /// Starts the tasks of a connection over any transport.
    pub(crate) fn start(incoming: impl Incoming, outgoing: impl Outgoing) -> (Self, EventStream) {
        let (root, events) = queue();
        let (frames, queued) = mpsc::channel(OUTGOING_CAPACITY);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                last_id: 0,
                waiting: HashMap::new(),
                routes: Routes::new(root),
                frames: Some(frames),
            }),
            closed: watch::Sender::new(None),
        });
        let owner = Owner {
            reader: spawn(read(Arc::clone(&shared), incoming)),
            writer: spawn(write(Arc::clone(&shared), outgoing, queued)),
            shared,
        };
        let owner = Arc::new(owner);
        (Self { owner }, events)
    }
}

/// A flat protocol session with one target. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    connection: Connection,
    id: Option<Arc<str>>,
}

impl Session {
    /// Returns the session's id; `None` at the browser level.
    pub fn id(&self) -> Option<&Arc<str>> {
        self.id.as_ref()
    }

    /// Returns the connection of the session.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Sends a command and waits for its result. Dropping the future does not cancel the command.
    pub async fn call<C: Command>(&self, command: &C) -> Result<C::Response> {
        self.send(command).await
    }

    /// Queues a command at once, and returns its result as a future: commands are written in the order of calls, in one write if the
    /// transport supports it. For a command whose result does not matter, there is [`Session::post`].
    pub fn send<C: Command>(&self, command: &C) -> Reply<C::Response> {
        let shared = &self.connection.owner.shared;
        let (answer, received) = oneshot::channel();
        let span = CommandSpan::begin(C::PROTOCOL, C::METHOD);
        if let Some(id) = &self.id {
            span.set_session(id);
        }
        let params = serde_json::value::to_raw_value(command);
        let id = match shared.queue(self.id.as_ref(), C::METHOD, params, Some(answer)) {
            Ok(id) => Progress::Waiting(id),
            Err(error) => Progress::Failed(Some(error)),
        };
        let pending = Pending {
            shared: Arc::clone(shared),
            session: self.id.clone(),
            method: C::METHOD,
            progress: id,
            received,
            span,
        };
        Reply {
            pending,
            response: PhantomData,
        }
    }

    /// Queues a command at once, as [`Session::send`] does, and ignores its result. The command has no span.
    pub fn post<C: Command>(&self, command: &C) {
        let shared = &self.connection.owner.shared;
        let params = serde_json::value::to_raw_value(command);
        if let Err(error) = shared.queue(self.id.as_ref(), C::METHOD, params, None) {
            tracing::debug!(%error, method = C::METHOD, "the command was not sent");
        }
    }

    /// Waits until the consumer of this session's events has handled all events that had arrived before this call: until it requests the
    /// next one. Must not be awaited by that consumer.
    pub async fn flush(&self) -> Result<()> {
        let shared = &self.connection.owner.shared;
        let (passed, barrier) = oneshot::channel();
        let queued = {
            let mut state = shared.state();
            state.routes.push(self.id.as_ref(), Item::Barrier(passed))
        };
        if queued && barrier.await.is_ok() {
            return Ok(());
        }
        Err(shared.ended(self.id.as_ref()))
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Session").field(&self.id).finish()
    }
}

/// The future result of a command.
pub struct Reply<R> {
    pending: Pending,
    response: PhantomData<fn() -> R>,
}

/// A command whose result was not received yet. It has no type parameter, so that its code is compiled once and not for each command.
struct Pending {
    shared: Arc<Shared>,
    session: Option<Arc<str>>,
    method: &'static str,
    progress: Progress,
    received: oneshot::Receiver<Answer>,
    /// Ends with the reply, or as cancelled when it is dropped.
    span: CommandSpan,
}

enum Progress {
    Waiting(u64),
    Failed(Option<Error>),
    Done,
}

/// The response of the browser; `Err` if the session or connection ended before.
type Answer = Result<Result<Box<RawValue>, Failure>>;

impl<R: DeserializeOwned> Future for Reply<R> {
    type Output = Result<R>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = ready!(self.pending.poll(context));
        let outcome = answer.and_then(|result| json::decode(self.pending.method, &result));
        self.pending.span.end(&outcome);
        Poll::Ready(outcome)
    }
}

impl Pending {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Box<RawValue>>> {
        if let Progress::Failed(error) = &mut self.progress {
            let error = error.take().expect("not polled after it was ready");
            return Poll::Ready(Err(error));
        }
        let answer = match Pin::new(&mut self.received).poll(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(answer) => answer,
        };
        self.progress = Progress::Done;
        Poll::Ready(match answer {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(failure))) => Err(failure.into_error(self.method, self.session.as_ref())),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(self.shared.ended(self.session.as_ref())),
        })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Progress::Waiting(id) = self.progress {
            self.shared.state().waiting.remove(&id);
        }
    }
}

/// The state that handles and tasks share.
struct Shared {
    state: Mutex<State>,
    closed: watch::Sender<Option<String>>,
}

struct State {
    last_id: u64,
    waiting: HashMap<u64, Waiter>,
    routes: Routes,
    /// The sender to the writing task; `None` after the connection has ended.
    frames: Option<mpsc::Sender<String>>,
}

struct Waiter {
    session: Option<Arc<str>>,
    answer: oneshot::Sender<Answer>,
}

impl Shared {
    /// The lock is held for map operations only, which do not panic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a frame and registers its waiter, if there is one, in one step, so that ids are in order.
    fn queue(
        &self,
        session: Option<&Arc<str>>,
        method: &'static str,
        params: serde_json::Result<Box<RawValue>>,
        answer: Option<oneshot::Sender<Answer>>,
    ) -> Result<u64> {
        let shape = |error: serde_json::Error| Error::Shape {
            method,
            message: error.to_string(),
        };
        let params = params.map_err(shape)?;
        let mut state = self.state();
        let Some(frames) = state.frames.clone() else {
            drop(state);
            return Err(self.ended(None));
        };
        let Ok(slot) = frames.try_reserve() else {
            drop(state);
            self.end("the browser has stopped reading what is sent to it");
            return Err(self.ended(None));
        };
        state.last_id += 1;
        let id = state.last_id;
        let request = Request {
            id,
            method,
            params: &params,
            session_id: session.map(|session| &**session),
        };
        let frame = serde_json::to_string(&request).map_err(shape)?;
        tracing::trace!(frame = log_excerpt(frame.as_bytes()), "sent");
        slot.send(frame);
        if let Some(answer) = answer {
            let session = session.cloned();
            state.waiting.insert(id, Waiter { session, answer });
        }
        Ok(id)
    }

    /// Parses a frame and passes it to its receiver. Returns the queue of the event if that is nearly full.
    fn dispatch(&self, frame: &[u8]) -> Option<Backpressure> {
        tracing::trace!(frame = log_excerpt(frame), "received");
        let envelope: Envelope<'_> = match serde_json::from_slice(frame) {
            Ok(envelope) => envelope,
            Err(error) => {
                tracing::warn!(%error, frame = log_excerpt(frame), "a frame from the browser is not understood");
                return None;
            }
        };
        if let Some(id) = envelope.id {
            let waiter = self.state().waiting.remove(&id);
            // Otherwise the caller was cancelled, or none waits.
            if let Some(waiter) = waiter {
                let _ = waiter.answer.send(Ok(envelope.answer()));
            }
        } else if let Some(event) = envelope.event() {
            let mut state = self.state();
            let (gone, crowd) = state.routes.deliver(event);
            for session in &gone {
                let of_session = |waiter: &Waiter| waiter.session.as_ref() == Some(session);
                for (_, waiter) in state.waiting.extract_if(|_, waiter| of_session(waiter)) {
                    let _ = waiter.answer.send(Err(routes::detached(session)));
                }
            }
            return crowd;
        }
        None
    }

    /// Ends the connection for this reason; only the first reason counts.
    fn end(&self, reason: &str) {
        let first = self.closed.send_if_modified(|closed| {
            let first = closed.is_none();
            if first {
                *closed = Some(reason.into());
            }
            first
        });
        if !first {
            return;
        }
        let mut state = self.state();
        state.frames = None;
        state.routes.end(reason);
        for (_, waiter) in state.waiting.drain() {
            let reason = reason.into();
            let _ = waiter.answer.send(Err(Error::Closed { reason }));
        }
    }

    /// Returns why the session has ended.
    fn ended(&self, session: Option<&Arc<str>>) -> Error {
        match &*self.closed.borrow() {
            Some(reason) => Error::Closed {
                reason: reason.clone(),
            },
            None => Error::SessionClosed {
                session: session.map_or_else(String::new, |session| session.to_string()),
                reason: self.state().routes.end_reason(session),
            },
        }
    }
}

/// Returns the beginning of a frame, for logs.
fn log_excerpt(frame: &[u8]) -> &str {
    let head = &frame[..frame.len().min(200)];
    match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    }
}

async fn read(shared: Arc<Shared>, mut incoming: impl Incoming) {
    loop {
        match incoming.next().await {
            Ok(frame) => {
                // Reading slowly blocks the browser, which is better than losing events of a page.
                if let Some(crowd) = shared.dispatch(frame) {
                    crowd.wait_for_room().await;
                }
            }
            Err(reason) => return shared.end(&reason),
        }
    }
}

async fn write(
    shared: Arc<Shared>,
    mut outgoing: impl Outgoing,
    mut queued: mpsc::Receiver<String>,
) {
    let mut batch = Vec::with_capacity(BATCH);
    while queued.recv_many(&mut batch, BATCH).await > 0 {
        if let Err(reason) = outgoing.send(&mut batch).await {
            return shared.end(&reason);
        }
    }
    outgoing.close().await;
}

/// Starts one of the two tasks of a connection, which its [`Owner`] aborts.
#[expect(
    clippy::disallowed_methods,
    reason = "the connection owns and ends its tasks"
)]
fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(task).abort_handle()
}
