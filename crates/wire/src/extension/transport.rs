//! The transport of a connection through the extension: its WebSocket, with the translation of messages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use super::tabs::{Messages, Tabs};
use crate::transport::{Incoming, NoDelayStream, Outgoing};

/// The capacity of the queue of messages to the extension, and of that to the client.
const QUEUE_CAPACITY: usize = 16_384;

type Stream = WebSocketStream<NoDelayStream>;

/// The state of a connection, with the queues into which its messages go.
struct Translator {
    tabs: Mutex<Tabs>,
    to_extension: mpsc::Sender<String>,
    to_client: mpsc::Sender<String>,
}

/// The receiving half.
pub(super) struct Reader {
    socket: SplitStream<Stream>,
    translator: Arc<Translator>,
    /// Messages to the client that result from its own commands.
    answers: mpsc::Receiver<String>,
    /// Messages to the client that result from those of the extension.
    queued: VecDeque<String>,
    frame: String,
}

/// The sending half.
pub(super) struct Writer(Arc<Translator>);

/// Returns the transport of a WebSocket, and the future that writes to it, which ends with both halves.
pub(super) fn open(
    stream: Stream,
    tabs: Tabs,
    first: Messages,
) -> (Reader, Writer, impl Future<Output = ()> + Send + 'static) {
    let (sink, socket) = stream.split();
    let (to_extension, outgoing) = mpsc::channel(QUEUE_CAPACITY);
    let (to_client, answers) = mpsc::channel(QUEUE_CAPACITY);
    let translator = Arc::new(Translator {
        tabs: Mutex::new(tabs),
        to_extension,
        to_client,
    });
    let reader = Reader {
        socket,
        translator: translator.clone(),
        answers,
        queued: VecDeque::from(first.to_client),
        frame: String::new(),
    };
    (
        reader,
        Writer(translator),
        write(sink, first.to_extension, outgoing),
    )
}

async fn write(
    mut sink: SplitSink<Stream, Message>,
    first: Vec<String>,
    mut outgoing: mpsc::Receiver<String>,
) {
    for text in first {
        if sink.send(Message::text(text)).await.is_err() {
            return;
        }
    }
    while let Some(text) = outgoing.recv().await {
        // The reader reports the end of the connection.
        if sink.send(Message::text(text)).await.is_err() {
            return;
        }
    }
    let _ = sink.close().await;
}

impl Translator {
    /// The lock is held while messages are translated and queued, so that they stay in order.
    fn tabs(&self) -> MutexGuard<'_, Tabs> {
        self.tabs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self, messages: Vec<String>) -> Result<(), String> {
        let blocked = |_| "the extension does not read what is sent to it".to_owned();
        messages
            .into_iter()
            .try_for_each(|text| self.to_extension.try_send(text).map_err(blocked))
    }
}

impl Incoming for Reader {
    async fn next(&mut self) -> Result<&[u8], String> {
        loop {
            if let Some(frame) = self.queued.pop_front() {
                self.frame = frame;
                return Ok(self.frame.as_bytes());
            }
            tokio::select! {
                received = self.socket.next() => {
                    let Some(text) = text_of(received)? else { continue };
                    let mut out = Messages::default();
                    let mut tabs = self.translator.tabs();
                    tabs.on_message(&text, &mut out);
                    self.translator.queue(out.to_extension)?;
                    drop(tabs);
                    self.queued.extend(out.to_client);
                }
                // The sender is a field of `translator`.
                Some(frame) = self.answers.recv() => self.queued.push_back(frame),
            }
        }
    }
}

impl Outgoing for Writer {
    async fn send(&mut self, frames: &mut Vec<String>) -> Result<(), String> {
        for frame in frames.drain(..) {
            let mut out = Messages::default();
            let mut tabs = self.0.tabs();
            tabs.on_command(&frame, &mut out);
            self.0.queue(out.to_extension)?;
            for answer in out.to_client {
                let sent = self.0.to_client.try_send(answer);
                sent.map_err(|_| "the client does not read its answers".to_owned())?;
            }
        }
        Ok(())
    }

    async fn close(&mut self) {
        // The future that writes ends when both halves are dropped, and closes the WebSocket.
    }
}

/// Returns the text of a received message, if it has one. The error is the reason why the connection has ended.
pub(super) fn text_of(
    received: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>,
) -> Result<Option<String>, String> {
    match received {
        Some(Ok(Message::Text(text))) => Ok(Some(text.to_string())),
        Some(Ok(Message::Close(Some(close)))) if !close.reason.is_empty() => Err(format!(
            "the browser extension has disconnected: {}",
            close.reason
        )),
        Some(Ok(Message::Close(_))) | None => Err("the browser extension has disconnected".into()),
        Some(Ok(_)) => Ok(None),
        Some(Err(error)) => Err(format!(
            "the connection to the browser extension broke: {error}"
        )),
    }
}
