//! JSON-RPC messages as text in both directions, for all text transports. Invalid messages get an error here, because `rmcp` drops them
//! silently.

use super::progress::without_progress_token;
use crate::calls::queue::CallQueue;
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// The capacity for messages from the client; the sender waits while it is full.
const INBOX_CAPACITY: usize = 64;
/// The capacity for messages to the client. It is small because messages may be large: while a client does not read, no call begins.
const OUTBOX_CAPACITY: usize = 8;
/// The largest number of requests in progress; a client that exceeds it does not wait for responses.
pub(super) const MAX_OPEN_REQUESTS: usize = 1024;

/// The largest `initialize` request, in bytes.
const MAX_INITIALIZE_BYTES: usize = 64 * 1024;

/// The longest id that an error repeats, in bytes.
const MAX_ID_BYTES: usize = 1024;

/// The largest message that is parsed on the thread that serves clients, in bytes.
const MAX_INLINE_BYTES: usize = 256 * 1024;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
/// The first code of the range for server-defined errors.
pub(super) const SERVER_ERROR: i32 = -32000;

/// Messages to the client.
pub(crate) type Outbox = mpsc::Receiver<String>;

/// The connection is closed.
#[derive(Debug, thiserror::Error)]
#[error("the connection is closed")]
pub(crate) struct Closed;

/// Reports whether the client reads its messages.
#[derive(Debug, Clone)]
pub(super) struct Room(mpsc::WeakSender<String>);

impl Room {
    /// Resolves when there is room for a message, or the connection is closed.
    pub(super) async fn free(&self) {
        if let Some(outbox) = self.0.upgrade() {
            // The reservation is not used.
            drop(outbox.reserve().await);
        }
    }

    /// Resolves when nobody reads the messages any more.
    pub(super) async fn gone(&self) {
        if let Some(outbox) = self.0.upgrade() {
            outbox.closed().await;
        }
    }
}

/// The sender of messages from the client.
pub(crate) struct Feed {
    inbox: mpsc::Sender<ClientJsonRpcMessage>,
    outbox: mpsc::Sender<String>,
}

/// The transport of `rmcp`.
pub(super) struct TextTransport {
    inbox: mpsc::Receiver<ClientJsonRpcMessage>,
    outbox: Option<mpsc::Sender<String>>,
    /// Whether a request was received: `rmcp` closes a connection that begins with another message.
    opened: bool,
    /// Requests without a response: the second of two requests with one id would never get one.
    open: Arc<Mutex<HashSet<RequestId>>>,
    queue: CallQueue,
}

/// Creates the two ends of a connection and the receiver of messages to the client.
pub(super) fn pair() -> (TextTransport, Feed, Outbox) {
    let (inbox_in, inbox) = mpsc::channel(INBOX_CAPACITY);
    let (outbox, outbox_out) = mpsc::channel(OUTBOX_CAPACITY);
    let transport = TextTransport {
        inbox,
        outbox: Some(outbox.clone()),
        opened: false,
        open: Arc::default(),
        queue: CallQueue::default(),
    };
    let feed = Feed {
        inbox: inbox_in,
        outbox,
    };
    (transport, feed, outbox_out)
}

impl Feed {
    /// Handles one message of the client.
    pub(crate) async fn text(&self, text: &[u8]) -> Result<(), Closed> {
        let message = match text.len() > MAX_INLINE_BYTES {
            true => {
                let text = text.to_vec();
                task::compute(move || read(&text)).await
            }
            false => read(text),
        };
        match message {
            Ok(Some(message)) => self.inbox.send(message).await.map_err(|_| Closed),
            Ok(None) => Ok(()),
            Err(refusal) => self.refuse(&refusal).await,
        }
    }

    /// Rejects a message of more than `most` bytes, which was discarded.
    pub(crate) async fn too_large(&self, most: u64) -> Result<(), Closed> {
        let answer = format!("Invalid Request: the message is longer than {most} bytes");
        let answer = refusal(Value::Null, INVALID_REQUEST, &answer);
        self.refuse(&answer).await
    }

    async fn refuse(&self, refusal: &Value) -> Result<(), Closed> {
        let sent = self.outbox.send(refusal.to_string()).await;
        sent.map_err(|_| Closed)
    }
}

/// Rewrites JSON that `serde_json` rejects although it is valid or has a clear meaning.
pub(super) fn readable(text: &[u8]) -> Cow<'_, [u8]> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    // A JavaScript client escapes half of a surrogate pair if it cuts a text there.
    match text.windows(2).any(|pair| pair == b"\\u") {
        true => without_lone_surrogates(text).into(),
        false => text.into(),
    }
}

/// Parses a message; `None` for a notification that the server ignores; otherwise the error response.
pub(super) fn read(text: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Value> {
    if let Ok(message) = serde_json::from_slice(text) {
        return bounded(message, text.len()).map(Some);
    }
    let text = &*readable(text);
    if let Ok(message) = serde_json::from_slice(text) {
        return bounded(message, text.len()).map(Some);
    }
    match serde_json::from_slice::<Value>(text) {
        Err(error) => Err(refusal(
            Value::Null,
            PARSE_ERROR,
            &format!("Parse error: {error}"),
        )),
        Ok(Value::Array(_)) => Err(refusal(
            Value::Null,
            INVALID_REQUEST,
            "Invalid Request: batches are not supported",
        )),
        Ok(message) if message.get("id").is_none() && message.get("method").is_some() => Ok(None),
        Ok(message) => {
            let id = message
                .get("id")
                .filter(|id| id.is_i64() || id.as_str().is_some_and(|id| id.len() <= MAX_ID_BYTES));
            Err(refusal(
                id.cloned().unwrap_or_default(),
                INVALID_REQUEST,
                "Invalid Request",
            ))
        }
    }
}

/// Rejects a large `initialize` request, whose parameters are kept as long as the session.
fn bounded(message: ClientJsonRpcMessage, bytes: usize) -> Result<ClientJsonRpcMessage, Value> {
    match &message {
        ClientJsonRpcMessage::Request(request)
            if bytes > MAX_INITIALIZE_BYTES
                && matches!(request.request, ClientRequest::InitializeRequest(_)) =>
        {
            let answer =
                format!("Invalid Request: initialize is longer than {MAX_INITIALIZE_BYTES} bytes");
            Err(refusal(json!(request.id), INVALID_REQUEST, &answer))
        }
        _ => Ok(message),
    }
}

/// Replaces each lone surrogate escape `\uD8xx` by U+FFFD. Both have the same number of bytes, so all other bytes keep their position.
fn without_lone_surrogates(text: &[u8]) -> Vec<u8> {
    let unit = |at: usize| -> Option<u16> {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut whole = text.to_vec();
    let mut at = 0;
    while at < text.len() {
        at += match (text[at], unit(at)) {
            (b'\\', Some(0xD800..0xDC00)) if matches!(unit(at + 6), Some(0xDC00..0xE000)) => 12,
            (b'\\', Some(0xD800..0xE000)) => {
                whole[at..at + 6].copy_from_slice(b"\\uFFFD");
                6
            }
            (b'\\', _) => 2,
            _ => 1,
        };
    }
    whole
}

fn refusal(id: Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

impl TextTransport {
    /// Returns whether the client reads its messages.
    pub(super) fn room(&self) -> Room {
        let closed = || mpsc::channel(1).0.downgrade();
        Room(
            self.outbox
                .as_ref()
                .map_or_else(closed, mpsc::Sender::downgrade),
        )
    }

    /// Records a request as in progress, or returns why it is rejected.
    fn admit(&self, message: &mut ClientJsonRpcMessage) -> Result<(), (i32, &'static str)> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match message {
            ClientJsonRpcMessage::Request(request) => {
                if open.contains(&request.id) {
                    let answer = "Invalid Request: duplicate request id";
                    return Err((INVALID_REQUEST, answer));
                }
                if open.len() == MAX_OPEN_REQUESTS {
                    return Err((SERVER_ERROR, "Too many concurrent requests"));
                }
                open.insert(request.id.clone());
                if let ClientRequest::CallToolRequest(call) = &mut request.request {
                    call.extensions.insert(self.queue.join());
                }
            }
            ClientJsonRpcMessage::Notification(notification) => {
                // A cancelled request gets no response.
                if let ClientNotification::CancelledNotification(CancelledNotification {
                    params,
                    ..
                }) = &notification.notification
                    && let Some(id) = &params.request_id
                {
                    open.remove(id);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Transport<RoleServer> for TextTransport {
    type Error = Closed;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Closed>> + Send + 'static {
        let outbox = self.outbox.clone();
        let open = self.open.clone();
        async move {
            let answered = match &message {
                ServerJsonRpcMessage::Response(response) => Some(&response.id),
                ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
                _ => None,
            };
            if let Some(id) = answered {
                open.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .remove(id);
            }
            let text =
                serde_json::to_string(&without_progress_token(message)).map_err(|_| Closed)?;
            outbox.ok_or(Closed)?.send(text).await.map_err(|_| Closed)
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let mut message = self.inbox.recv().await?;
            if !self.opened && !matches!(message, ClientJsonRpcMessage::Request(_)) {
                continue;
            }
            self.opened = true;
            let Err((code, answer)) = self.admit(&mut message) else {
                return Some(message);
            };
            if let (ClientJsonRpcMessage::Request(request), Some(outbox)) = (&message, &self.outbox)
            {
                let id = serde_json::to_value(&request.id).unwrap_or_default();
                let refusal = refusal(id, code, answer);
                // If the queue is full, the client does not read; this error is then the smallest loss.
                let _ = outbox.try_send(refusal.to_string());
            }
        }
    }

    async fn close(&mut self) -> Result<(), Closed> {
        self.outbox = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    fn refused(text: &str) -> (Value, i64) {
        let answer = read(text.as_bytes()).unwrap_err();
        (
            answer["id"].clone(),
            answer["error"]["code"].as_i64().unwrap(),
        )
    }

    #[test]
    fn what_cannot_be_read_is_answered() {
        assert_eq!(refused("{"), (Value::Null, -32700));
        assert_eq!(refused("\u{1}"), (Value::Null, -32700));
        assert_eq!(refused("[]"), (Value::Null, -32600));
        assert_eq!(refused("{\"id\":7}"), (json!(7), -32600));
        assert_eq!(refused("{\"id\":null,\"method\":1}"), (Value::Null, -32600));
    }

    #[tokio::test]
    async fn the_end_of_the_reader_is_reported() {
        let (transport, feed, outbox) = pair();
        let room = transport.room();
        assert!(room.gone().now_or_never().is_none());
        // A client that has sent everything still reads.
        drop(feed);
        assert!(room.gone().now_or_never().is_none());
        drop(outbox);
        assert!(room.gone().now_or_never().is_some());
    }

    #[test]
    fn half_a_character_is_replaced() {
        let ping = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#);
        let id = |text: &str| match read(ping(text).as_bytes()).unwrap().unwrap() {
            ClientJsonRpcMessage::Request(request) => request.id.to_string(),
            _ => panic!("a ping is a request"),
        };
        assert_eq!(id(r"a\ud83d"), "a\u{fffd}");
        assert_eq!(
            id(r"\udE00\ud83d\ude00\uD83D\ud83d\ude00"),
            "\u{fffd}😀\u{fffd}😀"
        );
        assert_eq!(id(r"\\ud83d \ud83d"), r"\ud83d ".to_owned() + "\u{fffd}");
    }

    #[test]
    fn an_odd_notification_is_ignored_and_a_byte_order_mark_too() {
        assert!(read(b"{\"method\":\"x\"}").unwrap().is_none());
        let ping = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        assert!(read(ping.as_bytes()).unwrap().is_some());
    }

    fn pings(numbers: std::ops::Range<usize>) -> Vec<String> {
        let ping = |number| format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"ping"}}"#);
        numbers.map(ping).collect()
    }

    #[tokio::test]
    async fn too_many_concurrent_requests_are_refused() {
        let (mut transport, feed, mut outbox) = pair();
        for ping in pings(0..MAX_OPEN_REQUESTS) {
            feed.text(ping.as_bytes()).await.unwrap();
            assert!(transport.receive().await.is_some());
        }
        for ping in pings(0..1)
            .iter()
            .chain(&pings(MAX_OPEN_REQUESTS..MAX_OPEN_REQUESTS + 1))
        {
            feed.text(ping.as_bytes()).await.unwrap();
        }
        assert!(transport.receive().now_or_never().is_none());
        let answer = ServerJsonRpcMessage::response(
            rmcp::model::ServerResult::empty(()),
            RequestId::Number(5),
        );
        transport.send(answer).await.unwrap();
        feed.text(pings(5..6)[0].as_bytes()).await.unwrap();
        assert!(transport.receive().await.is_some());
        let mut heard = Vec::new();
        while let Ok(text) = outbox.try_recv() {
            let message: Value = serde_json::from_str(&text).unwrap();
            heard.push((message["id"].clone(), message["error"]["code"].clone()));
        }
        let expected = [
            (json!(0), json!(INVALID_REQUEST)),
            (json!(MAX_OPEN_REQUESTS), json!(SERVER_ERROR)),
            (json!(5), Value::Null),
        ];
        assert_eq!(heard, expected);
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_blocks_its_outbox() {
        let (transport, feed, mut outbox) = pair();
        let room = transport.room();
        for _ in 0..OUTBOX_CAPACITY {
            assert!(room.free().now_or_never().is_some());
            feed.text(b"{").await.unwrap();
        }
        assert!(room.free().now_or_never().is_none());
        outbox.recv().await.unwrap();
        assert!(room.free().now_or_never().is_some());
        drop((transport, feed));
        // There are no senders left.
        room.free().await;
    }
}
