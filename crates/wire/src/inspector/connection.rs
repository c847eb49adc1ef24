//! The connection to the inspector of a browser, for commands and events of pages.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncWriteExt as _, ReadHalf, WriteHalf, split};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use super::frame::{self, CONNECTION, Frames, addressed, encoded};
use crate::error::{ConnectFailure, Error, Result};
use crate::json;
use crate::span::CommandSpan;
use crate::transport::NoDelayStream;

/// The capacity of the queues of messages and events. If one is full, the connection is closed.
const QUEUE_CAPACITY: usize = 16_384;
/// The longest part of the parameters of an event that is logged, in bytes.
const MAX_LOGGED_LENGTH: usize = 200;
/// The longest time that the handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to the inspector of a browser. Clones share the connection, which is closed with the last of them.
#[derive(Clone)]
pub struct Inspector {
    shared: Arc<Shared>,
    _owner: Arc<Owner>,
}

/// An event of a page.
#[derive(Debug, Clone)]
pub struct InspectorEvent {
    /// The identifier of the page.
    pub target: u64,
    /// The target in the page, which changes when the page moves to another process. Empty for the page as a whole.
    pub part: Arc<str>,
    /// The name of the event, such as `Page.frameNavigated`.
    pub method: Arc<str>,
    /// The parameters of the event.
    pub params: Box<RawValue>,
}

struct Shared {
    outgoing: mpsc::Sender<Vec<u8>>,
    /// Requests to be notified when all data that has arrived was read.
    flushes: mpsc::Sender<oneshot::Sender<()>>,
    next: AtomicU64,
    /// The number of events that were added to the queue.
    queued: AtomicU64,
    waiting: Mutex<HashMap<u64, Waiting>>,
    closed: watch::Sender<Option<String>>,
}

struct Waiting {
    method: &'static str,
    answer: oneshot::Sender<Result<Box<RawValue>>>,
}

struct Owner([AbortHandle; 2]);

impl Drop for Owner {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

#[derive(Deserialize)]
struct Envelope {
    id: Option<u64>,
    method: Option<Arc<str>>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<CommandError>,
}

/// An error that the browser returned for a command.
#[derive(Deserialize)]
pub(super) struct CommandError {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

impl CommandError {
    pub(super) fn into_error(self, method: &'static str) -> Error {
        Error::Protocol {
            method,
            code: self.code,
            message: self.message,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wrapped {
    target_id: Arc<str>,
    message: String,
}

impl Inspector {
    /// Connects to the inspector at an address. Returns the connection and the queue of its events.
    pub async fn connect(address: SocketAddr) -> Result<(Self, mpsc::Receiver<InspectorEvent>)> {
        let failed = |message: String| Error::Connect {
            endpoint: address.to_string(),
            cause: ConnectFailure::Handshake(message),
        };
        let handshake = async {
            let socket = TcpStream::connect(address)
                .await
                .map_err(|error| failed(error.to_string()))?;
            let (socket, peek) =
                SocketPeek::at(socket).map_err(|error| failed(error.to_string()))?;
            let (from, mut to) = split(NoDelayStream::new(socket));
            let mut frames = Frames::of(from);
            // The hash of a cached set of commands; 0 if there is none.
            let hello = encoded("SetupInspectorClient", &[0]);
            to.write_all(&hello)
                .await
                .map_err(|error| failed(error.to_string()))?;
            let answer = frames.next().await.map_err(failed)?;
            match &*answer.name {
                "DidSetupInspectorClient" => Ok((frames, peek, to)),
                other => Err(failed(format!("it says {other}"))),
            }
        };
        let (frames, peek, to) = tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake)
            .await
            .map_err(|_| failed("no answer".into()))??;
        let (outgoing, queued) = mpsc::channel(QUEUE_CAPACITY);
        let (sender, events) = mpsc::channel(QUEUE_CAPACITY);
        let (flushes, flush_requests) = mpsc::channel(QUEUE_CAPACITY);
        let shared = Arc::new(Shared {
            outgoing,
            flushes,
            next: AtomicU64::new(1),
            queued: AtomicU64::new(0),
            waiting: Mutex::default(),
            closed: watch::Sender::new(None),
        });
        let owner = Owner([
            spawn(read(shared.clone(), frames, peek, flush_requests, sender)),
            spawn(write(to, queued)),
        ]);
        let connection = Self {
            shared,
            _owner: Arc::new(owner),
        };
        Ok((connection, events))
    }

    /// Attaches to a page. It must be one that the browser reported, because a command for another one terminates the browser.
    pub fn attach(&self, target: u64) -> Result<()> {
        self.shared
            .send(encoded("Setup", &addressed(CONNECTION, target, None)))
    }

    /// Sends a command to a target of a page and returns its result.
    pub async fn call(
        &self,
        target: u64,
        part: &str,
        method: &'static str,
        params: &Value,
    ) -> Result<Box<RawValue>> {
        CommandSpan::measure("inspector", method, async {
            let (id, answer) = self.shared.add_call(method);
            self.shared
                .send_to_target(target, part, id, method, params)?;
            answer
                .await
                .unwrap_or_else(|_| Err(self.shared.closed_error()))
        })
        .await
    }

    /// Sends a command to a target of a page without waiting for its result. Commands stay in order.
    pub fn send_command(&self, target: u64, part: &str, method: &'static str, params: &Value) {
        let id = self.shared.next_id();
        if let Err(error) = self.shared.send_to_target(target, part, id, method, params) {
            tracing::debug!(%error, method, "the inspector message was not sent");
        }
    }

    /// Waits until all data that has arrived was read and its events are in the queue. Returns the number of events so far. Sends no
    /// command: after a response of the driver, the events that preceded it have arrived.
    ///
    /// A command would delay the driver: the browser sends its responses to the driver and to this connection over one internal
    /// connection, where Nagle's algorithm delays a response that follows shortly after another one by 40 ms.
    pub async fn flush_received(&self) -> Result<u64> {
        let (read, was_read) = oneshot::channel();
        let sent = self.shared.flushes.send(read).await;
        match sent.is_ok() && was_read.await.is_ok() {
            true => Ok(self.shared.queued.load(Ordering::Acquire)),
            false => Err(self.shared.closed_error()),
        }
    }

    /// Waits until all earlier events of a page are in the queue. Returns the number of events so far. The browser process itself
    /// responds to the command, even if the page is unresponsive, and after earlier messages.
    pub async fn flush(&self, target: u64) -> Result<u64> {
        const METHOD: &str = "Target.exists";
        let (id, answer) = self.shared.add_call(METHOD);
        let message = format!(r#"{{"id":{id},"method":"{METHOD}","params":{{}}}}"#);
        self.shared.send_to_page(target, &message)?;
        match answer
            .await
            .unwrap_or_else(|_| Err(self.shared.closed_error()))
        {
            // The command does not exist, so the browser returns an error at once.
            Err(error) if error.is_closed() => Err(error),
            _ => Ok(self.shared.queued.load(Ordering::Acquire)),
        }
    }

    /// Returns a receiver of the reason for which the connection ended.
    pub fn closed(&self) -> watch::Receiver<Option<String>> {
        self.shared.closed.subscribe()
    }
}

impl Shared {
    fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed_error(&self) -> Error {
        Error::Closed {
            reason: self.closed.borrow().clone().unwrap_or_default(),
        }
    }

    fn add_call(&self, method: &'static str) -> (u64, oneshot::Receiver<Result<Box<RawValue>>>) {
        let (answer, answered) = oneshot::channel();
        let id = self.next_id();
        let mut waiting = self.waiting();
        // Calls that were dropped need no result.
        waiting.retain(|_, waiting| !waiting.answer.is_closed());
        waiting.insert(id, Waiting { method, answer });
        (id, answered)
    }

    fn send_to_target(
        &self,
        target: u64,
        part: &str,
        id: u64,
        method: &'static str,
        params: &Value,
    ) -> Result<()> {
        let inner = serde_json::json!({ "id": id, "method": method, "params": params });
        let outer = serde_json::json!({
            "id": self.next_id(),
            "method": "Target.sendMessageToTarget",
            "params": { "targetId": part, "message": inner.to_string() },
        });
        self.send_to_page(target, &outer.to_string())
    }

    fn send_to_page(&self, target: u64, message: &str) -> Result<()> {
        self.send(encoded(
            "SendMessageToBackend",
            &addressed(CONNECTION, target, Some(message)),
        ))
    }

    fn send(&self, bytes: Vec<u8>) -> Result<()> {
        if self.closed.borrow().is_some() {
            return Err(self.closed_error());
        }
        self.outgoing
            .try_send(bytes)
            .map_err(|_| self.closed_error())
    }

    fn end(&self, reason: &str) {
        self.closed.send_replace(Some(reason.to_owned()));
        self.waiting().clear();
    }

    /// Passes a result to its call, or adds an event to the queue. Returns false if the queue is full.
    fn dispatch(
        &self,
        target: u64,
        part: &Arc<str>,
        text: &str,
        sender: &mpsc::Sender<InspectorEvent>,
    ) -> bool {
        let Ok(envelope) = serde_json::from_str::<Envelope>(text) else {
            tracing::debug!("a message of the inspector is not understood");
            return true;
        };
        if let Some(id) = envelope.id {
            if let Some(waiting) = self.waiting().remove(&id) {
                let answer = match envelope.error {
                    Some(error) => Err(error.into_error(waiting.method)),
                    None => Ok(envelope.result.unwrap_or_else(empty_params)),
                };
                let _ = waiting.answer.send(answer);
            }
            return true;
        }
        let Some(method) = envelope.method else {
            return true;
        };
        let params = envelope.params.unwrap_or_else(empty_params);
        if &*method == "Target.dispatchMessageFromTarget" {
            return match serde_json::from_str::<Wrapped>(params.get()) {
                Ok(inner) => self.dispatch(target, &inner.target_id, &inner.message, sender),
                Err(_) => true,
            };
        }
        let shown = params.get();
        let head = &shown[..shown.floor_char_boundary(MAX_LOGGED_LENGTH)];
        tracing::trace!(
            target_id = target,
            part = &**part,
            method = &*method,
            params = head,
            "inspector event"
        );
        let params = json::bounded(&method, &params);
        let event = InspectorEvent {
            target,
            part: part.clone(),
            method,
            params,
        };
        self.queued.fetch_add(1, Ordering::Release);
        sender.try_send(event).is_ok()
    }
}

fn empty_params() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_default()
}

/// A duplicate of the socket, to check for data without reading it.
struct SocketPeek(std::net::TcpStream);

impl SocketPeek {
    fn at(socket: TcpStream) -> std::io::Result<(TcpStream, Self)> {
        let socket = socket.into_std()?;
        let peek = Self(socket.try_clone()?);
        Ok((TcpStream::from_std(socket)?, peek))
    }

    /// Whether data has arrived that was not read. The runtime is notified of it later.
    fn has_unread(&self) -> bool {
        self.0.peek(&mut [0]).is_ok_and(|bytes| bytes > 0)
    }
}

async fn read(
    shared: Arc<Shared>,
    mut frames: Frames<ReadHalf<NoDelayStream>>,
    peek: SocketPeek,
    mut flush_requests: mpsc::Receiver<oneshot::Sender<()>>,
    sender: mpsc::Sender<InspectorEvent>,
) {
    let whole: Arc<str> = "".into();
    let mut waiting: Vec<oneshot::Sender<()>> = Vec::new();
    let reason = loop {
        if !waiting.is_empty() && frames.is_between() && !peek.has_unread() {
            for waiting in waiting.drain(..) {
                let _ = waiting.send(());
            }
        }
        let frame = tokio::select! {
            biased;
            frame = frames.next() => frame,
            Some(flush) = flush_requests.recv() => {
                waiting.push(flush);
                continue;
            }
        };
        let frame = match frame {
            Ok(frame) => frame,
            Err(reason) => break reason,
        };
        if frame.name != "SendMessageToFrontend" {
            continue;
        }
        if let Some((target, text)) = frame::address(&frame.body)
            && !shared.dispatch(target, &whole, text, &sender)
        {
            break "the inspector messages are not read".to_owned();
        }
    };
    shared.end(&reason);
}

async fn write(mut to: WriteHalf<NoDelayStream>, mut queued: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = queued.recv().await {
        // `read` also detects the end of the connection and reports it.
        if to.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the connection owns and ends its tasks"
)]
pub(super) fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(task).abort_handle()
}
