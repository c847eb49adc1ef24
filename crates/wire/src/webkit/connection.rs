//! The connection to a browser: its automation session, and the commands and events of its pages.

use std::collections::HashMap;
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

use super::frame::{self, CONNECTION, Frame, Frames, addressed, encoded};
use crate::error::{ConnectFailure, Error, Result};
use crate::json;
use crate::span::CommandSpan;
use crate::transport::NoDelayStream;

/// The capacity of the queues of messages and events. If one is full, the connection is closed.
const QUEUE_CAPACITY: usize = 16_384;
/// The longest part of the parameters of an event that is logged, in bytes.
const MAX_LOGGED_LENGTH: usize = 200;
/// The longest time that the start of the session may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The name of the protocol in spans.
const PROTOCOL: &str = "inspector";

/// The automation session of a browser. Clones share the connection, which is closed with the last of them.
#[derive(Clone)]
pub struct Automation {
    shared: Arc<Shared>,
    _owner: Arc<Owner>,
}

/// An event of a page.
#[derive(Debug, Clone)]
pub struct Event {
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
    /// The target of the automation session.
    automation: u64,
    product: String,
    pages: watch::Sender<Vec<u64>>,
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
struct CommandError {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wrapped {
    target_id: Arc<str>,
    message: String,
}

/// What the browser reports of a session that it starts.
#[derive(Default)]
struct Started {
    product: Option<String>,
    automation: Option<u64>,
    pages: Vec<u64>,
}

impl Automation {
    /// Starts a session on a connection to a browser, which must run with `--automation`. Returns the session and the queue of its events.
    ///
    /// # Errors
    /// [`Error::Connect`] if the browser does not start a session within ten seconds, for example because another program has started one.
    pub async fn start(socket: TcpStream) -> Result<(Self, mpsc::Receiver<Event>)> {
        let peer = socket.peer_addr();
        let endpoint = peer.map_or_else(|_| String::new(), |peer| peer.to_string());
        let failed = |message: String| Error::Connect {
            endpoint: endpoint.clone(),
            cause: ConnectFailure::Handshake(message),
        };
        let handshake = async {
            let (from, mut to) = split(NoDelayStream::new(socket));
            let mut frames = Frames::of(from);
            let hello = encoded("StartAutomationSession", &frame::session("playhouse"));
            to.write_all(&hello)
                .await
                .map_err(|error| failed(error.to_string()))?;
            let mut started = Started::default();
            while started.product.is_none() || started.automation.is_none() {
                started.apply(&frames.next().await.map_err(failed)?);
            }
            Ok::<_, Error>((frames, to, started))
        };
        let (frames, to, started) = tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake)
            .await
            .map_err(|_| failed("no automation session was started".into()))??;
        let (outgoing, queued) = mpsc::channel(QUEUE_CAPACITY);
        let (sender, events) = mpsc::channel(QUEUE_CAPACITY);
        let shared = Arc::new(Shared {
            outgoing,
            automation: started.automation.unwrap_or_default(),
            product: started.product.unwrap_or_default(),
            pages: watch::Sender::new(started.pages),
            next: AtomicU64::new(1),
            queued: AtomicU64::new(0),
            waiting: Mutex::default(),
            closed: watch::Sender::new(None),
        });
        let owner = Owner([
            spawn(read(shared.clone(), frames, sender)),
            spawn(write(to, queued)),
        ]);
        let automation = Self {
            shared,
            _owner: Arc::new(owner),
        };
        automation.attach(automation.shared.automation)?;
        Ok((automation, events))
    }

    /// Returns the version of the browser.
    pub fn version(&self) -> &str {
        &self.shared.product
    }

    /// Returns a receiver of the identifiers of the pages that the browser lists.
    pub fn pages(&self) -> watch::Receiver<Vec<u64>> {
        self.shared.pages.subscribe()
    }

    /// Attaches to a page. It must be one that the browser lists, because a command for another one terminates the browser.
    pub fn attach(&self, target: u64) -> Result<()> {
        self.shared
            .send(encoded("Setup", &addressed(CONNECTION, target, None)))
    }

    /// Sends a command of the `Automation` domain and returns its result.
    pub async fn call(&self, method: &'static str, params: &Value) -> Result<Box<RawValue>> {
        CommandSpan::measure(PROTOCOL, method, async {
            let (id, answer) = self.shared.add_call(method);
            let message = message(id, method, params);
            self.shared.send_to(self.shared.automation, &message)?;
            answer
                .await
                .unwrap_or_else(|_| Err(self.shared.closed_error()))
        })
        .await
    }

    /// Sends a command to the inspector of a part of a page and returns its result.
    pub async fn call_page(
        &self,
        target: u64,
        part: &str,
        method: &'static str,
        params: &Value,
    ) -> Result<Box<RawValue>> {
        CommandSpan::measure(PROTOCOL, method, async {
            let (id, answer) = self.shared.add_call(method);
            self.shared.send_to_part(target, part, id, method, params)?;
            answer
                .await
                .unwrap_or_else(|_| Err(self.shared.closed_error()))
        })
        .await
    }

    /// Sends a command to the inspector of a part of a page without waiting for its result. Commands stay in order.
    pub fn send_to_page(&self, target: u64, part: &str, method: &'static str, params: &Value) {
        let id = self.shared.next_id();
        if let Err(error) = self.shared.send_to_part(target, part, id, method, params) {
            tracing::debug!(%error, method, "the command was not sent");
        }
    }

    /// Sends a command to a page as a whole without waiting for its result.
    pub fn send_to_target(&self, target: u64, method: &'static str, params: &Value) {
        let message = message(self.shared.next_id(), method, params);
        if let Err(error) = self.shared.send_to(target, &message) {
            tracing::debug!(%error, method, "the command was not sent");
        }
    }

    /// Waits until the browser process has handled all earlier commands. It responds even if the page is unresponsive.
    pub async fn flush(&self, target: u64) -> Result<()> {
        const METHOD: &str = "Target.exists";
        let (id, answer) = self.shared.add_call(METHOD);
        self.shared
            .send_to(target, &message(id, METHOD, &Value::Null))?;
        match answer
            .await
            .unwrap_or_else(|_| Err(self.shared.closed_error()))
        {
            // The command does not exist, so the browser returns an error at once.
            Err(error) if error.is_closed() => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the number of events in the queue so far, including those that were taken from it. Results and events arrive in the order
    /// in which the browser sent them.
    pub fn received(&self) -> u64 {
        self.shared.queued.load(Ordering::Acquire)
    }

    /// Returns a receiver of the reason for which the connection or the session ended.
    pub fn closed(&self) -> watch::Receiver<Option<String>> {
        self.shared.closed.subscribe()
    }
}

impl Started {
    fn apply(&mut self, frame: &Frame) {
        match &*frame.name {
            "DidStartAutomationSession" => {
                let mut texts = frame.body.split(|byte| *byte == 0).skip(1);
                let version = texts.next().map(String::from_utf8_lossy);
                self.product = Some(version.unwrap_or_default().into_owned());
            }
            "SetTargetList" => {
                if let Some(targets) = frame::targets(&frame.body) {
                    self.automation = targets.automation;
                    self.pages = targets.pages;
                }
            }
            _ => {}
        }
    }
}

fn message(id: u64, method: &str, params: &Value) -> String {
    let mut message = serde_json::json!({ "id": id, "method": method });
    if !params.is_null() {
        message["params"] = params.clone();
    }
    message.to_string()
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

    fn send_to_part(
        &self,
        target: u64,
        part: &str,
        id: u64,
        method: &'static str,
        params: &Value,
    ) -> Result<()> {
        let wrapped =
            serde_json::json!({ "targetId": part, "message": message(id, method, params) });
        let outer = message(self.next_id(), "Target.sendMessageToTarget", &wrapped);
        self.send_to(target, &outer)
    }

    fn send_to(&self, target: u64, message: &str) -> Result<()> {
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
        self.closed.send_if_modified(|known| {
            let is_first = known.is_none();
            known.get_or_insert_with(|| reason.to_owned());
            is_first
        });
        self.waiting().clear();
    }

    /// Applies a list of targets. Returns false if the automation session has ended, as it does when the process of a page crashes.
    fn apply_targets(&self, body: &[u8]) -> bool {
        let Some(targets) = frame::targets(body) else {
            return true;
        };
        self.pages.send_if_modified(|current| {
            let is_changed = *current != targets.pages;
            *current = targets.pages;
            is_changed
        });
        targets.automation == Some(self.automation)
    }

    /// Passes a result to its call, or adds an event to the queue. Returns false if the queue is full.
    fn dispatch(
        &self,
        target: u64,
        part: &Arc<str>,
        text: &str,
        sender: &mpsc::Sender<Event>,
    ) -> bool {
        let Ok(envelope) = serde_json::from_str::<Envelope>(text) else {
            tracing::debug!("a message of the inspector is not understood");
            return true;
        };
        if let Some(id) = envelope.id {
            if let Some(waiting) = self.waiting().remove(&id) {
                let answer = match envelope.error {
                    Some(CommandError { code, message }) => Err(Error::Protocol {
                        method: waiting.method,
                        code,
                        message,
                    }),
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
        let event = Event {
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

async fn read(
    shared: Arc<Shared>,
    mut frames: Frames<ReadHalf<NoDelayStream>>,
    sender: mpsc::Sender<Event>,
) {
    let whole: Arc<str> = "".into();
    let reason = loop {
        let frame = match frames.next().await {
            Ok(frame) => frame,
            Err(reason) => break reason,
        };
        match &*frame.name {
            "SetTargetList" if !shared.apply_targets(&frame.body) => {
                break "the process of a page ended, and with it the automation session".to_owned();
            }
            "SendMessageToFrontend" => {
                if let Some((target, text)) = frame::address(&frame.body)
                    && !shared.dispatch(target, &whole, text, &sender)
                {
                    break "the events are not read".to_owned();
                }
            }
            _ => {}
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
fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(task).abort_handle()
}
