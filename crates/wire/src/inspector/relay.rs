//! Between a driver and its browser: every message goes on, what the browser says of its pages is read on the way, and what the driver
//! has no command for is asked in its name.

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

use super::connection::Refusal;
use super::frame::{self, CONNECTION, Frame, Frames, InspectedPage, addressed, encoded};
use crate::error::{ConnectFailure, Error, Result};
use crate::transport::NoDelayStream;

/// Our messages to the browser have numbers that the driver's do not reach.
const FIRST_INJECTED_ID: u64 = 1 << 30;
/// Messages of ours that may wait to be sent.
const QUEUE_CAPACITY: usize = 64;

/// Listens for one driver, on behalf of one browser. Ends when dropped.
pub struct Relay {
    address: SocketAddr,
    pages: watch::Receiver<Vec<InspectedPage>>,
    aside: Arc<InjectedCommands>,
    task: AbortHandle,
}

/// What we ask in the driver's name.
struct InjectedCommands {
    outgoing: mpsc::Sender<Vec<u8>>,
    next: AtomicU64,
    /// What the driver speaks to, once the browser has told.
    automation: Mutex<Option<u64>>,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
}

#[derive(Deserialize)]
struct Answer {
    id: Option<u64>,
    result: Option<Box<RawValue>>,
    error: Option<Refusal>,
}

impl Relay {
    /// Begins to listen; the browser is asked for at `browser` once the driver is there.
    pub async fn start(browser: SocketAddr) -> Result<Self> {
        let failed = |error: std::io::Error| Error::Connect {
            endpoint: browser.to_string(),
            cause: ConnectFailure::Invalid(error.to_string()),
        };
        let listener = TcpListener::bind((browser.ip(), 0)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (tell, pages) = watch::channel(Vec::new());
        let (outgoing, asked) = mpsc::channel(QUEUE_CAPACITY);
        let aside = Arc::new(InjectedCommands {
            outgoing,
            next: AtomicU64::new(FIRST_INJECTED_ID),
            automation: Mutex::default(),
            waiting: Mutex::default(),
        });
        Ok(Self {
            address,
            pages,
            task: super::connection::spawn(accept(listener, browser, tell, aside.clone(), asked)),
            aside,
        })
    }

    /// What the driver is to take for the browser.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The pages that the browser has now.
    pub fn pages(&self) -> watch::Receiver<Vec<InspectedPage>> {
        self.pages.clone()
    }

    /// Asks the browser for what its driver may ask for, such as `Automation.createBrowsingContext`; the driver hears nothing of it.
    ///
    /// <https://github.com/WebKit/WebKit/blob/main/Source/WebKit/UIProcess/Automation/Automation.json>
    pub async fn automate(&self, method: &'static str, params: &Value) -> Result<Box<RawValue>> {
        let gone = || Error::Closed {
            reason: "the driver has no browser".to_owned(),
        };
        let target = self.aside.automation().ok_or_else(gone)?;
        let id = self.aside.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = self.aside.waiting();
            // Whoever gave up needs no answer.
            waiting.retain(|_, waiting| !waiting.is_closed());
            waiting.insert(id, answer);
        }
        let text = serde_json::json!({ "id": id, "method": method, "params": params }).to_string();
        let body = addressed(CONNECTION, target, Some(&text));
        let sent = self
            .aside
            .outgoing
            .send(encoded("SendMessageToBackend", &body));
        sent.await.map_err(|_| gone())?;
        let answer = answered.await.map_err(|_| gone())?;
        match answer.error {
            Some(refusal) => Err(refusal.of(method)),
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

    /// Takes what the browser says if it answers us; whether it did.
    fn take_answer(&self, frame: &Frame) -> bool {
        // A driver whose messages are not read loses nothing when there is nobody else to answer.
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
    tell: watch::Sender<Vec<InspectedPage>>,
    aside: Arc<InjectedCommands>,
    mut asked: mpsc::Receiver<Vec<u8>>,
) {
    // One after the other: a driver has one connection, and tries again.
    while let Ok((driver, _)) = listener.accept().await {
        let Ok(browser) = TcpStream::connect(browser).await else {
            continue;
        };
        let (from_driver, to_driver) = split(NoDelayStream::new(driver));
        let (from_browser, to_browser) = split(NoDelayStream::new(browser));
        let (forward, forwarded) = mpsc::channel(QUEUE_CAPACITY);
        tokio::select! {
            () = read(from_driver, forward) => {}
            () = write(to_browser, forwarded, &mut asked) => {}
            () = listen(from_browser, to_driver, &tell, &aside) => {}
        }
        aside.waiting().clear();
    }
}

/// Reads messages whole, so that ours may come between two of them. Its end is the end of both.
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
    asked: &mut mpsc::Receiver<Vec<u8>>,
) {
    loop {
        let bytes = tokio::select! {
            bytes = forwarded.recv() => bytes,
            bytes = asked.recv() => bytes,
        };
        let Some(bytes) = bytes else { return };
        if to.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Passes messages on, but for those that are ours.
async fn listen(
    from: ReadHalf<NoDelayStream>,
    mut to: WriteHalf<NoDelayStream>,
    tell: &watch::Sender<Vec<InspectedPage>>,
    aside: &InjectedCommands,
) {
    let mut frames = Frames::of(from);
    while let Ok(frame) = frames.next().await {
        if aside.take_answer(&frame) {
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
            *aside
                .automation
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = targets.automation;
            tell.send_if_modified(|known| {
                let changed = *known != targets.pages;
                *known = targets.pages;
                changed
            });
        }
    }
}
