//! An MCP client over a WebSocket, which can also send invalid frames.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// How long the server may take; only a failure takes so long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A client, which disconnects without a closing handshake when this is dropped.
pub struct WebSocketClient {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The subprotocol that the server selected.
    pub subprotocol: String,
    /// Messages that arrived while another one was waited for.
    others: Vec<Value>,
}

/// How a WebSocket was closed: code and reason; zero without a close frame.
pub type Closing = (u16, String);

impl WebSocketClient {
    /// Connects to `ws://…` with these subprotocols.
    pub async fn connect(url: &str, subprotocols: &str, headers: &[(&'static str, &str)]) -> Self {
        let connected = Self::try_connect(url, subprotocols, headers).await;
        connected.unwrap_or_else(|status| panic!("{url} was refused with {status}"))
    }

    /// Connects, or returns the HTTP status of the rejection; zero without one.
    pub async fn try_connect(
        url: &str,
        subprotocols: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, u16> {
        let mut request = url.into_client_request().expect("a URL");
        let wanted = [("sec-websocket-protocol", subprotocols)];
        for &(name, value) in wanted.iter().chain(headers) {
            if !value.is_empty() {
                let value = HeaderValue::from_str(value).expect("a header");
                request.headers_mut().insert(name, value);
            }
        }
        match timeout(TIMEOUT, connect_async(request)).await {
            Ok(Ok((socket, answer))) => {
                let chosen = answer.headers().get("sec-websocket-protocol");
                Ok(Self {
                    socket,
                    subprotocol: chosen.map_or(String::new(), |chosen| {
                        String::from_utf8_lossy(chosen.as_bytes()).into_owned()
                    }),
                    others: Vec::new(),
                })
            }
            Ok(Err(Error::Http(answer))) => Err(answer.status().as_u16()),
            Ok(Err(_)) => Err(0),
            Err(_) => panic!("{url}: no handshake within {TIMEOUT:?}"),
        }
    }

    /// Connects and initializes the connection.
    pub async fn start(url: &str) -> Self {
        let mut client = Self::connect(url, "mcp", &[]).await;
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "testkit", "version": "1" },
        });
        client.request("initialize", hello).await;
        client
            .text(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        client
    }

    /// Sends a message without changes; the server may have disconnected.
    pub async fn text(&mut self, text: &str) {
        self.send(Message::text(text)).await;
    }

    /// Sends a message in a binary frame.
    pub async fn binary(&mut self, bytes: &[u8]) {
        self.send(Message::binary(bytes.to_vec())).await;
    }

    /// Sends a ping.
    pub async fn ping(&mut self, word: &'static [u8]) {
        self.send(Message::Ping(word.into())).await;
    }

    /// Sends a message in frames of that size, in bytes.
    pub async fn fragments(&mut self, bytes: &[u8], size: usize) {
        let count = bytes.len().div_ceil(size);
        for (number, part) in bytes.chunks(size).enumerate() {
            let kind = if number == 0 {
                Data::Text
            } else {
                Data::Continue
            };
            let frame = Frame::message(part.to_vec(), OpCode::Data(kind), number + 1 == count);
            self.send(Message::Frame(frame)).await;
        }
    }

    /// Sends one text frame with any bytes.
    pub async fn raw_text(&mut self, bytes: &[u8]) {
        self.fragments(bytes, bytes.len().max(1)).await;
    }

    /// Sends a continuation frame without a message.
    pub async fn continuation(&mut self, bytes: &[u8]) {
        let kind = OpCode::Data(Data::Continue);
        let frame = Frame::message(bytes.to_vec(), kind, true);
        self.send(Message::Frame(frame)).await;
    }

    async fn send(&mut self, message: Message) {
        let sent = timeout(TIMEOUT, self.socket.send(message)).await;
        assert!(sent.is_ok(), "the server takes nothing");
    }

    /// Sends a request with that id.
    pub async fn begin(&mut self, id: u64, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.text(&message.to_string()).await;
    }

    /// Sends a request and waits for its response.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        const ID: u64 = 1 << 40;
        self.begin(ID, method, params).await;
        self.answer(&json!(ID)).await
    }

    /// Calls a tool; returns its result.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params).await["result"].clone()
    }

    /// Opens a URL with `browser_navigate`. Panics with the whole answer if it is an error.
    pub async fn navigate(&mut self, url: &str) -> Value {
        let answer = self.call("browser_navigate", json!({ "url": url })).await;
        assert_ne!(answer["isError"], true, "browser_navigate {url}: {answer}");
        answer
    }

    /// Waits for the message with that id.
    pub async fn answer(&mut self, id: &Value) -> Value {
        if let Some(at) = self.others.iter().position(|other| other["id"] == *id) {
            return self.others.remove(at);
        }
        loop {
            let message = self.next().await;
            let message = message.unwrap_or_else(|end| panic!("no answer to {id}: {end:?}"));
            if message["id"] == *id {
                return message;
            }
            self.others.push(message);
        }
    }

    /// Waits for the next message, or returns how the connection was closed.
    pub async fn next(&mut self) -> Result<Value, Closing> {
        loop {
            return match self.frame().await {
                Some(Message::Text(text)) => {
                    Ok(serde_json::from_str(&text)
                        .unwrap_or_else(|error| panic!("{error}: {text}")))
                }
                Some(Message::Close(Some(frame))) => {
                    Err((frame.code.into(), frame.reason.to_string()))
                }
                Some(Message::Close(None)) | None => Err((0, String::new())),
                Some(_) => continue,
            };
        }
    }

    /// Waits for the next frame of any kind; `None` at the end.
    pub async fn frame(&mut self) -> Option<Message> {
        match timeout(TIMEOUT, self.socket.next()).await {
            Ok(Some(Ok(message))) => Some(message),
            Ok(_) => None,
            Err(_) => panic!("nothing for {TIMEOUT:?}"),
        }
    }

    /// Waits until the server closes the connection, and returns how.
    pub async fn closing(&mut self) -> Closing {
        loop {
            if let Err(closing) = self.next().await {
                return closing;
            }
        }
    }

    /// Returns whether the server responds with that pong.
    pub async fn pong(&mut self, word: &[u8]) -> bool {
        loop {
            match self.frame().await {
                Some(Message::Pong(heard)) if heard == word => return true,
                Some(_) => {}
                None => return false,
            }
        }
    }
}
