//! Minimal clients, so that the server dominates the measurement: HTTP over a persistent connection, and a WebSocket.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// A client of either kind.
pub(crate) enum Wire {
    Http(Http),
    WebSocket(Box<WebSocket>),
}

impl Wire {
    /// Sends a request, and waits for the complete response.
    pub(crate) async fn request(&mut self, method: &str, params: Value) {
        match self {
            Self::Http(http) => drop(http.request(method, params).await),
            Self::WebSocket(socket) => socket.request(method, params).await,
        }
    }
}

fn message(id: u64, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn hello() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "bench", "version": "1" },
    })
}

const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// An MCP session at `/mcp` on its own connection.
pub(crate) struct Http {
    connection: BufReader<TcpStream>,
    authority: String,
    session: String,
    next: u64,
}

impl Http {
    /// Connects and initializes the session.
    pub(crate) async fn begin(authority: &str) -> Self {
        let mut http = Self {
            connection: connect(authority).await,
            authority: authority.to_owned(),
            session: String::new(),
            next: 0,
        };
        let (head, _) = http.request("initialize", hello()).await;
        http.session = head
            .lines()
            .find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("mcp-session-id")
                    .then(|| format!("mcp-session-id: {}\r\n", value.trim()))
            })
            .expect("a session");
        http.post(READY).await;
        http
    }

    async fn request(&mut self, method: &str, params: Value) -> (String, Vec<u8>) {
        self.next += 1;
        let (head, body) = self.post(&message(self.next, method, params)).await;
        let text = String::from_utf8_lossy(&body);
        assert!(text.contains("\"result\""), "{method}: {head}{text}");
        (head, body)
    }

    async fn post(&mut self, body: &str) -> (String, Vec<u8>) {
        let content = format!(
            "content-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let head = self.ask("POST", &content).await;
        let body = self.body(&head).await;
        (head, body)
    }

    /// Sends a request with the given rest of its head and body, and returns the head of the response.
    async fn ask(&mut self, method: &str, rest: &str) -> String {
        let Self {
            authority, session, ..
        } = self;
        let request = format!("{method} /mcp HTTP/1.1\r\nhost: {authority}\r\n{session}{rest}");
        let connection = self.connection.get_mut();
        let sent = connection.write_all(request.as_bytes()).await;
        sent.expect("it listens");
        self.head().await
    }

    /// Turns the connection into the stream of the server's messages.
    pub(crate) async fn listen(&mut self) {
        let head = self.ask("GET", "accept: text/event-stream\r\n\r\n").await;
        assert!(head.contains(" 200 "), "{head}");
    }

    async fn head(&mut self) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.connection.read_line(&mut head).await;
            assert_ne!(read.expect("a line"), 0, "it hung up: {head}");
        }
        head
    }

    async fn body(&mut self, head: &str) -> Vec<u8> {
        let lower = head.to_ascii_lowercase();
        let mut body = Vec::new();
        if lower.contains("transfer-encoding: chunked") {
            loop {
                let mut size = String::new();
                let read = self.connection.read_line(&mut size).await;
                read.expect("the size of a chunk");
                let size = usize::from_str_radix(size.trim(), 16).expect("a hexadecimal number");
                let begin = body.len();
                body.resize(begin + size + 2, 0);
                let read = self.connection.read_exact(&mut body[begin..]).await;
                read.expect("a chunk");
                body.truncate(begin + size);
                if size == 0 {
                    return body;
                }
            }
        }
        let length = lower
            .lines()
            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        body.resize(length.unwrap_or(0), 0);
        let read = self.connection.read_exact(&mut body).await;
        read.expect("a whole body");
        body
    }
}

async fn connect(authority: &str) -> BufReader<TcpStream> {
    let connection = TcpStream::connect(authority).await.expect("it listens");
    connection.set_nodelay(true).expect("a TCP connection");
    BufReader::new(connection)
}

/// A connection at `/ws`.
pub(crate) struct WebSocket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    next: u64,
}

impl WebSocket {
    /// Connects and initializes the connection.
    pub(crate) async fn begin(authority: &str) -> Self {
        let mut request = format!("ws://{authority}/ws")
            .into_client_request()
            .expect("a URL");
        let protocol = "mcp".parse().expect("a header's value");
        request
            .headers_mut()
            .insert("sec-websocket-protocol", protocol);
        let socket = connect(authority).await.into_inner();
        let (stream, _) = tokio_tungstenite::client_async_tls(request, socket)
            .await
            .expect("it takes WebSockets");
        let mut socket = Self { stream, next: 0 };
        socket.request("initialize", hello()).await;
        let sent = socket.stream.send(Message::text(READY)).await;
        sent.expect("it listens");
        socket
    }

    async fn request(&mut self, method: &str, params: Value) {
        self.next += 1;
        let sent = self
            .stream
            .send(Message::text(message(self.next, method, params)));
        sent.await.expect("it listens");
        loop {
            match self
                .stream
                .next()
                .await
                .expect("an answer")
                .expect("a frame")
            {
                Message::Text(text) if text.contains("\"id\"") => {
                    assert!(text.contains("\"result\""), "{method}: {text}");
                    return;
                }
                _ => {}
            }
        }
    }
}
