//! The relay between a driver and its browser. It forwards all messages, reads the list of pages, and sends commands on behalf of the
//! driver that WebDriver does not have.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncWriteExt as _, ReadHalf, WriteHalf, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use super::connection::CommandError;
use super::frame::{self, CONNECTION, Frame, Frames, InspectedPage, addressed, encoded};
use crate::error::{ConnectFailure, Error, Result};
use crate::transport::NoDelayStream;

/// The identifiers of injected commands begin here, above those of the driver.
const FIRST_INJECTED_ID: u64 = 1 << 30;
/// The capacity of the queues of messages.
const QUEUE_CAPACITY: usize = 64;

/// A relay for one driver and one browser, which ends when it is dropped.
pub struct Relay {
    address: SocketAddr,
    pages: watch::Receiver<Vec<InspectedPage>>,
    injected: Arc<InjectedCommands>,
    task: AbortHandle,
}

/// Commands that are sent on behalf of the driver.
struct InjectedCommands {
    outgoing: mpsc::Sender<Vec<u8>>,
    next: AtomicU64,
    /// The target of the automation session, once the browser has reported it.
    automation: Mutex<Option<u64>>,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
}

#[derive(Deserialize)]
struct Answer {
    id: Option<u64>,
    result: Option<Box<RawValue>>,
    error: Option<CommandError>,
}

impl Relay {
    /// Starts a relay on a free port. It connects to the browser at `browser` when a driver connects.
    pub async fn start(browser: SocketAddr) -> Result<Self> {
        let failed = |error: std::io::Error| Error::Connect {
            endpoint: browser.to_string(),
            cause: ConnectFailure::Invalid(error.to_string()),
        };
        let listener = TcpListener::bind((browser.ip(), 0)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (pages_sender, pages) = watch::channel(Vec::new());
        let (outgoing, injected_messages) = mpsc::channel(QUEUE_CAPACITY);
        let injected = Arc::new(InjectedCommands {
            outgoing,
            next: AtomicU64::new(FIRST_INJECTED_ID),
            automation: Mutex::default(),
            waiting: Mutex::default(),
        });
        Ok(Self {
            address,
            pages,
            task: super::connection::spawn(accept(
                listener,
                browser,
                pages_sender,
                injected.clone(),
                injected_messages,
            )),
            injected,
        })
    }

    /// Returns the address that the driver must use instead of that of the browser.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a receiver of the list of pages.
    pub fn pages(&self) -> watch::Receiver<Vec<InspectedPage>> {
        self.pages.clone()
    }

    /// Sends a command of the automation protocol, such as `Automation.createBrowsingContext`. The driver does not receive its result.
    ///
    /// <https://github.com/WebKit/WebKit/blob/main/Source/WebKit/UIProcess/Automation/Automation.json>
    pub async fn automate(&self, method: &'static str, params: &Value) -> Result<Box<RawValue>> {
        let closed = || Error::Closed {
            reason: "the driver has no browser".to_owned(),
        };
        let target = self.injected.automation().ok_or_else(closed)?;
        let id = self.injected.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = self.injected.waiting();
            // Calls that were dropped need no result.
            waiting.retain(|_, waiting| !waiting.is_closed());
            waiting.insert(id, answer);
        }
        let text = serde_json::json!({ "id": id, "method": method, "params": params }).to_string();
        let body = addressed(CONNECTION, target, Some(&text));
        let sent = self
            .injected
            .outgoing
            .send(encoded("SendMessageToBackend", &body));
        sent.await.map_err(|_| closed())?;
        let answer = answered.await.map_err(|_| closed())?;
        match answer.error {
            Some(error) => Err(error.into_error(method)),
            None => Ok(answer.result.unwrap_or_default()),
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl InjectedCommands {
    fn automation(&self) -> Option<u64> {
        *self
            .automation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Answer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes the result of an injected command to its call. Returns whether the message was one.
    fn dispatch_result(&self, frame: &Frame) -> bool {
        // The messages are parsed only while a call waits for a result.
        if frame.name != "SendMessageToFrontend" || self.waiting().is_empty() {
            return false;
        }
        let answer = frame::address(&frame.body);
        let answer = answer.and_then(|(_, text)| serde_json::from_str::<Answer>(text).ok());
        let Some(answer) = answer else { return false };
        let Some(id) = answer.id.filter(|id| *id >= FIRST_INJECTED_ID) else {
            return false;
        };
        if let Some(waiting) = self.waiting().remove(&id) {
            let _ = waiting.send(answer);
        }
        true
    }
}

async fn accept(
    listener: TcpListener,
    browser: SocketAddr,
    pages_sender: watch::Sender<Vec<InspectedPage>>,
    injected: Arc<InjectedCommands>,
    mut injected_messages: mpsc::Receiver<Vec<u8>>,
) {
    // A driver has one connection, and connects again after a failure.
    while let Ok((driver, _)) = listener.accept().await {
        let Ok(browser) = TcpStream::connect(browser).await else {
            continue;
        };
        let (from_driver, to_driver) = split(NoDelayStream::new(driver));
        let (from_browser, to_browser) = split(NoDelayStream::new(browser));
        let (forward, forwarded) = mpsc::channel(QUEUE_CAPACITY);
        tokio::select! {
            () = read(from_driver, forward) => {}
            () = write(to_browser, forwarded, &mut injected_messages) => {}
            () = forward_from_browser(from_browser, to_driver, &pages_sender, &injected) => {}
        }
        injected.waiting().clear();
    }
}

/// Reads whole messages, so that injected commands can be sent between them.
async fn read(from: ReadHalf<NoDelayStream>, to: mpsc::Sender<Vec<u8>>) {
    let mut frames = Frames::of(from);
    while let Ok(frame) = frames.next().await {
        if to.send(encoded(&frame.name, &frame.body)).await.is_err() {
            return;
        }
    }
}

async fn write(
    mut to: WriteHalf<NoDelayStream>,
    mut forwarded: mpsc::Receiver<Vec<u8>>,
    injected_messages: &mut mpsc::Receiver<Vec<u8>>,
) {
    loop {
        let bytes = tokio::select! {
            bytes = forwarded.recv() => bytes,
            bytes = injected_messages.recv() => bytes,
        };
        let Some(bytes) = bytes else { return };
        if to.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Forwards the messages of the browser to the driver, except for results of injected commands.
async fn forward_from_browser(
    from: ReadHalf<NoDelayStream>,
    mut to: WriteHalf<NoDelayStream>,
    pages_sender: &watch::Sender<Vec<InspectedPage>>,
    injected: &InjectedCommands,
) {
    let mut frames = Frames::of(from);
    while let Ok(frame) = frames.next().await {
        if injected.dispatch_result(&frame) {
            continue;
        }
        if to
            .write_all(&encoded(&frame.name, &frame.body))
            .await
            .is_err()
        {
            return;
        }
        if frame.name == "SetTargetList"
            && let Some(targets) = frame::targets(&frame.body)
        {
            *injected
                .automation
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = targets.automation;
            pages_sender.send_if_modified(|current| {
                let changed = *current != targets.pages;
                *current = targets.pages;
                changed
            });
        }
    }
}
