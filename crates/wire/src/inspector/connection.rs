//! Our own connection to a browser's inspector: pages are attached to, asked, and heard.

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
use crate::transport::NoDelayStream;

/// Messages that may wait for their reader; with more, the connection ends.
const QUEUE_CAPACITY: usize = 16_384;
/// How much of what it says is logged.
const MAX_LOGGED_LENGTH: usize = 200;
/// How long the browser may take to say that it will talk to us.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to a browser's inspector. Clones are the same; it ends with the last of them.
#[derive(Clone)]
pub struct Inspector {
    shared: Arc<Shared>,
    _owner: Arc<Owner>,
}

/// Something that a page said.
#[derive(Debug, Clone)]
pub struct InspectorEvent {
    /// The page.
    pub target: u64,
    /// What of the page said it: it has another one after it moved to another process. Empty for the page as a whole.
    pub part: Arc<str>,
    /// Such as `Page.frameNavigated`.
    pub method: Arc<str>,
    /// Its parameters.
    pub params: Box<RawValue>,
}

struct Shared {
    outgoing: mpsc::Sender<Vec<u8>>,
    /// Who wants to know that all that has arrived was read.
    awaiting: mpsc::Sender<oneshot::Sender<()>>,
    next: AtomicU64,
    /// How many events were put in the queue.
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
    error: Option<Refusal>,
}

/// Why the browser did not do what it was asked for.
#[derive(Deserialize)]
pub(super) struct Refusal {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

impl Refusal {
    pub(super) fn of(self, method: &'static str) -> Error {
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
    /// Connects to the inspector that a browser has at an address. What pages say comes in order from the queue.
    pub async fn connect(address: SocketAddr) -> Result<(Self, mpsc::Receiver<InspectorEvent>)> {
        let failed = |message: String| Error::Connect {
            endpoint: address.to_string(),
            cause: ConnectFailure::Handshake(message),
        };
        let shaking_hands = async {
            let socket = TcpStream::connect(address)
                .await
                .map_err(|error| failed(error.to_string()))?;
            let (socket, glance) =
                SocketPeek::at(socket).map_err(|error| failed(error.to_string()))?;
            let (from, mut to) = split(NoDelayStream::new(socket));
            let mut frames = Frames::of(from);
            // The hash of a set of commands that we might know already: none.
            let hello = encoded("SetupInspectorClient", &[0]);
            to.write_all(&hello)
                .await
                .map_err(|error| failed(error.to_string()))?;
            let answer = frames.next().await.map_err(failed)?;
            match &*answer.name {
                "DidSetupInspectorClient" => Ok((frames, glance, to)),
                other => Err(failed(format!("it says {other}"))),
            }
        };
        let (frames, glance, to) = tokio::time::timeout(HANDSHAKE_TIMEOUT, shaking_hands)
            .await
            .map_err(|_| failed("no answer".into()))??;
        let (outgoing, queued) = mpsc::channel(QUEUE_CAPACITY);
        let (tell, events) = mpsc::channel(QUEUE_CAPACITY);
        let (awaiting, awaited) = mpsc::channel(QUEUE_CAPACITY);
        let shared = Arc::new(Shared {
            outgoing,
            awaiting,
            next: AtomicU64::new(1),
            queued: AtomicU64::new(0),
            waiting: Mutex::default(),
            closed: watch::Sender::new(None),
        });
        let owner = Owner([
            spawn(read(shared.clone(), frames, glance, awaited, tell)),
            spawn(write(to, queued)),
        ]);
        let connection = Self {
            shared,
            _owner: Arc::new(owner),
        };
        Ok((connection, events))
    }

    /// Begins to hear of a page. It must be one that the browser has told of: others make it end.
    pub fn attach(&self, target: u64) -> Result<()> {
        self.shared
            .send(encoded("Setup", &addressed(CONNECTION, target, None)))
    }

    /// Asks a part of a page, and waits for its answer.
    pub async fn call(
        &self,
        target: u64,
        part: &str,
        method: &'static str,
        params: &Value,
    ) -> Result<Box<RawValue>> {
        let (id, answer) = self.shared.expect(method);
        self.shared.wrap(target, part, id, method, params)?;
        answer.await.unwrap_or_else(|_| Err(self.shared.ended()))
    }

    /// Tells a part of a page something whose answer nobody needs; in order with what is asked.
    pub fn send_command(&self, target: u64, part: &str, method: &'static str, params: &Value) {
        let id = self.shared.number();
        if let Err(error) = self.shared.wrap(target, part, id, method, params) {
            tracing::debug!(%error, method, "the inspector message was not sent");
        }
    }

    /// Returns once all that the browser has sent before this moment was put in the queue, and how many events that were since the
    /// beginning. The browser is not asked: after an answer of its driver, that is all that it had to say before that answer.
    ///
    /// It answers the driver and us over one connection inside of it, where Nagle's algorithm holds an answer to the driver back for 40 ms
    /// that comes soon after one to us.
    pub async fn flush_received(&self) -> Result<u64> {
        let (read, was_read) = oneshot::channel();
        let asked = self.shared.awaiting.send(read).await;
        match asked.is_ok() && was_read.await.is_ok() {
            true => Ok(self.shared.queued.load(Ordering::Acquire)),
            false => Err(self.shared.ended()),
        }
    }

    /// Returns once all that the browser has sent of a page was put in the queue, and how many events that were since the beginning. The
    /// browser answers this itself, whatever the page is doing, and after what it was told before.
    pub async fn flush(&self, target: u64) -> Result<u64> {
        const METHOD: &str = "Target.exists";
        let (id, answer) = self.shared.expect(METHOD);
        let message = format!(r#"{{"id":{id},"method":"{METHOD}","params":{{}}}}"#);
        self.shared.to_page(target, &message)?;
        match answer.await.unwrap_or_else(|_| Err(self.shared.ended())) {
            // It knows no such thing, and so answers at once.
            Err(error) if error.is_closed() => Err(error),
            _ => Ok(self.shared.queued.load(Ordering::Acquire)),
        }
    }

    /// Holds the reason once the connection is over.
    pub fn closed(&self) -> watch::Receiver<Option<String>> {
        self.shared.closed.subscribe()
    }
}

impl Shared {
    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self) -> Error {
        Error::Closed {
            reason: self.closed.borrow().clone().unwrap_or_default(),
        }
    }

    fn expect(&self, method: &'static str) -> (u64, oneshot::Receiver<Result<Box<RawValue>>>) {
        let (answer, answered) = oneshot::channel();
        let id = self.number();
        let mut waiting = self.waiting();
        // Whoever gave up needs no answer.
        waiting.retain(|_, waiting| !waiting.answer.is_closed());
        waiting.insert(id, Waiting { method, answer });
        (id, answered)
    }

    fn wrap(
        &self,
        target: u64,
        part: &str,
        id: u64,
        method: &'static str,
        params: &Value,
    ) -> Result<()> {
        let inner = serde_json::json!({ "id": id, "method": method, "params": params });
        let outer = serde_json::json!({
            "id": self.number(),
            "method": "Target.sendMessageToTarget",
            "params": { "targetId": part, "message": inner.to_string() },
        });
        self.to_page(target, &outer.to_string())
    }

    fn to_page(&self, target: u64, message: &str) -> Result<()> {
        self.send(encoded(
            "SendMessageToBackend",
            &addressed(CONNECTION, target, Some(message)),
        ))
    }

    fn send(&self, bytes: Vec<u8>) -> Result<()> {
        if self.closed.borrow().is_some() {
            return Err(self.ended());
        }
        self.outgoing.try_send(bytes).map_err(|_| self.ended())
    }

    fn end(&self, reason: &str) {
        self.closed.send_replace(Some(reason.to_owned()));
        self.waiting().clear();
    }

    /// Hands an answer to whoever waits, and what else is said to the queue; whether that has room.
    fn dispatch(
        &self,
        target: u64,
        part: &Arc<str>,
        text: &str,
        tell: &mpsc::Sender<InspectorEvent>,
    ) -> bool {
        let Ok(envelope) = serde_json::from_str::<Envelope>(text) else {
            tracing::debug!("a message of the inspector is not understood");
            return true;
        };
        if let Some(id) = envelope.id {
            if let Some(waiting) = self.waiting().remove(&id) {
                let answer = match envelope.error {
                    Some(refusal) => Err(refusal.of(waiting.method)),
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
                Ok(inner) => self.dispatch(target, &inner.target_id, &inner.message, tell),
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
            "the inspector says"
        );
        let params = json::bounded(&method, &params);
        let event = InspectorEvent {
            target,
            part: part.clone(),
            method,
            params,
        };
        self.queued.fetch_add(1, Ordering::Release);
        tell.try_send(event).is_ok()
    }
}

fn empty_params() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_default()
}

/// Another view of the socket, which takes nothing out of it.
struct SocketPeek(std::net::TcpStream);

impl SocketPeek {
    fn at(socket: TcpStream) -> std::io::Result<(TcpStream, Self)> {
        let socket = socket.into_std()?;
        let glance = Self(socket.try_clone()?);
        Ok((TcpStream::from_std(socket)?, glance))
    }

    /// Whether something has arrived that was not read yet; the runtime hears of that later.
    fn has_unread(&self) -> bool {
        self.0.peek(&mut [0]).is_ok_and(|bytes| bytes > 0)
    }
}

async fn read(
    shared: Arc<Shared>,
    mut frames: Frames<ReadHalf<NoDelayStream>>,
    glance: SocketPeek,
    mut awaited: mpsc::Receiver<oneshot::Sender<()>>,
    tell: mpsc::Sender<InspectorEvent>,
) {
    let whole: Arc<str> = "".into();
    let mut waiting: Vec<oneshot::Sender<()>> = Vec::new();
    let reason = loop {
        if !waiting.is_empty() && frames.is_between() && !glance.has_unread() {
            for waiting in waiting.drain(..) {
                let _ = waiting.send(());
            }
        }
        let frame = tokio::select! {
            biased;
            frame = frames.next() => frame,
            Some(one) = awaited.recv() => {
                waiting.push(one);
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
            && !shared.dispatch(target, &whole, text, &tell)
        {
            break "the inspector messages are not read".to_owned();
        }
    };
    shared.end(&reason);
}

async fn write(mut to: WriteHalf<NoDelayStream>, mut queued: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = queued.recv().await {
        // The reader sees the end too, and tells.
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
