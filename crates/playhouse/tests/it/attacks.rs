//! Invalid messages over every transport: each gets an error or is ignored, and none affects other messages.

use crate::launch;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use testkit::harness::input_size;
use testkit::process_stats::{Depth, MARK, ProcessStats};
use testkit::{Client, Connection, HttpServer, WebSocketClient};

/// The number of random messages for each transport in nightly.
const RANDOM: usize = 10_000;
/// The number of messages that are sent between checks of the server.
const BATCH: usize = 250;
/// The largest memory of a server that has received all of them, in bytes.
const MEMORY: u64 = 200 << 20;
const LARGEST: usize = 100_000;

/// A transport for any messages.
enum Way {
    Stdio(Box<Client>),
    WebSocket(Box<WebSocketClient>),
    /// The path and connection of POST requests, and the stream of responses.
    Sse(String, Connection, Connection),
    /// An endpoint, the head of each request, the connection.
    Http(String, Connection),
}

/// Returns invalid messages: their bytes, and the code of the expected error; zero for no response.
fn wrong_messages() -> Vec<(Vec<u8>, i64)> {
    let deep = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    let params = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
    };
    let nested = params(&format!(
        r#"{{"name":"get_text","arguments":{{"a":{}}}}}"#,
        deep("[", "]")
    ));
    [
        ("{", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"pi"#, -32700),
        ("nonsense", -32700),
        ("\u{0}", -32700),
        (&deep("[", "]"), -32700),
        (&deep("{\"a\":", "}"), -32700),
        (&"[".repeat(50_000), -32700),
        (&nested, -32700),
        ("[]", -32600),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
            -32600,
        ),
        ("7", -32600),
        ("null", -32600),
        (r#""text""#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":""}"#, -32601),
        (&params(r#"{"name":"no_such_tool"}"#), -32601),
        (&params("7"), -32600),
        (&params("{}"), -32602),
        (&params(r#"{"name":"click","arguments":7}"#), -32602),
        (r#"{"jsonrpc":"2.0","method":"no/such"}"#, 0),
        (r#"{"jsonrpc":"2.0","method":"ping","params":7}"#, 0),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#, 0),
    ]
    .map(|(text, code)| (text.as_bytes().to_vec(), code))
    .to_vec()
}

/// Generates random bytes, random JSON, and messages with random parts, each on one line.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{0,6}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    let method = prop_oneof![
        prop::sample::select(vec![
            "ping",
            "initialize",
            "tools/list",
            "prompts/get",
            "logging/setLevel",
            "notifications/cancelled",
            "notifications/progress",
            "server/discover",
            "completion/complete",
        ])
        .prop_map(str::to_owned),
        "[a-z/]{0,12}",
    ];
    let message = (value.clone(), method, value.clone(), any::<[bool; 4]>());
    let message = message.prop_map(|(id, method, params, has)| {
        let parts = [
            ("jsonrpc", json!("2.0")),
            ("id", id),
            ("method", method.into()),
            ("params", params),
        ];
        let parts = parts.into_iter().zip(has).filter(|(_, has)| *has);
        let fields = parts.map(|((name, value), _)| (name.to_owned(), value));
        Value::Object(fields.collect())
    });
    let cut = (message.clone(), any::<prop::sample::Index>()).prop_map(|(message, at)| {
        let mut bytes = message.to_string().into_bytes();
        bytes.truncate(at.index(bytes.len()));
        bytes
    });
    prop_oneof![
        2 => prop::collection::vec(any::<u8>(), 0..60),
        2 => value.prop_map(|value| value.to_string().into_bytes()),
        5 => message.prop_map(|message| message.to_string().into_bytes()),
        2 => cut,
    ]
    .prop_map(|mut bytes| {
        bytes.retain(|&byte| byte != b'\n' && byte != b'\r');
        bytes
    })
}

impl Way {
    async fn all(mark: &str) -> (HttpServer, Vec<Self>) {
        let args = [
            format!("--max-request-size={LARGEST}"),
            "--toolsets=browser,session".to_owned(),
        ];
        let marked = || launch(&[]).env(MARK, mark).args(args.clone());
        let server = HttpServer::start(marked()).await;
        let host = server.authority().to_owned();
        let session = server.begin_session().await;
        let both = "content-type: application/json\r\naccept: application/json, text/event-stream";
        let mut stream = server.connection().await;
        stream.ask("GET", "/sse", &[("host", &host)], "").await;
        stream.head().await.expect("an answer");
        let endpoint = stream.event().await.expect("an endpoint").data;
        let posts = server.connection().await;
        let mut sse = Self::Sse(
            format!("POST {endpoint} HTTP/1.1\r\nhost: {host}"),
            posts,
            stream,
        );
        sse.answer(HELLO.as_bytes()).await;
        sse.notify(READY.as_bytes()).await;
        let streamable =
            format!("POST /mcp HTTP/1.1\r\nhost: {host}\r\nmcp-session-id: {session}\r\n{both}");
        let message = format!("POST /message HTTP/1.1\r\nhost: {host}\r\n{both}");
        let ways = vec![
            Self::Stdio(Box::new(marked().start().await)),
            Self::WebSocket(Box::new(WebSocketClient::start(&server.web_socket()).await)),
            sse,
            Self::Http(streamable, server.connection().await),
            Self::Http(message, server.connection().await),
        ];
        (server, ways)
    }

    /// The server closes an idle connection.
    async fn reconnect(&mut self, server: &HttpServer) {
        match self {
            Self::Stdio(_) | Self::WebSocket(_) => {}
            Self::Sse(_, connection, _) | Self::Http(_, connection) => {
                *connection = server.connection().await;
            }
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::WebSocket(_) => "WebSocket",
            Self::Sse(..) => "SSE",
            Self::Http(head, _) => &head[..14],
        }
    }

    /// Sends a message; over HTTP also reads the response, because a connection carries one request at a time.
    async fn send(&mut self, message: &[u8]) -> Option<Value> {
        match self {
            Self::Stdio(client) => client.send_bytes(&[message, b"\n"].concat()).await,
            Self::WebSocket(client) => client.binary(message).await,
            Self::Sse(head, posts, _) => {
                let status = posted(posts, head, message).await.0;
                assert_eq!(status, 202, "{}", String::from_utf8_lossy(message));
            }
            Self::Http(head, connection) => {
                let (status, body) = posted(connection, head, message).await;
                let shown = String::from_utf8_lossy(message);
                assert!(status < 500 && status != 415, "{status} {body} to {shown}");
                let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
                let data = data.map(str::trim).rfind(|data| !data.is_empty());
                return serde_json::from_str(data.unwrap_or(&body)).ok();
            }
        }
        None
    }

    /// Sends a message and returns its response. Calls are executed concurrently, so only the first response is certain to belong to it.
    async fn answer(&mut self, message: &[u8]) -> Value {
        if let Some(answer) = self.send(message).await {
            return answer;
        }
        loop {
            let next = self.next().await;
            // Log messages are sent without a request.
            if next.get("method").is_none() {
                return next;
            }
        }
    }

    /// Sends a message without a response: on a stream, the next response is that of a ping.
    async fn notify(&mut self, message: &[u8]) {
        let answer = self.send(message).await;
        assert_eq!(answer, None, "{}", self.name());
        if !matches!(self, Self::Http(..)) {
            let answer = self.answer(ping("next").as_bytes()).await;
            assert_eq!(answer["id"], "next", "{}", self.name());
        }
    }

    /// Returns the next message of the server.
    async fn next(&mut self) -> Value {
        match self {
            Self::Stdio(client) => client.next_unmatched().await,
            Self::WebSocket(client) => client.next().await.expect("it stays open"),
            Self::Sse(_, _, stream) => {
                let event = stream.event().await.expect("the stream goes on");
                serde_json::from_str(&event.data).expect("JSON")
            }
            Self::Http(..) => unreachable!("each request has its answer"),
        }
    }

    /// Asserts that the server responds.
    async fn assert_alive(&mut self, id: &str) {
        let ping = ping(id);
        let mut answer = self.send(ping.as_bytes()).await;
        if !matches!(self, Self::Http(..)) {
            while answer.as_ref().is_none_or(|answer| answer["id"] != id) {
                answer = Some(self.next().await);
            }
        }
        let answer = answer.unwrap_or_default();
        assert_eq!(
            (&answer["id"], &answer["result"]),
            (&json!(id), &json!({})),
            "{}",
            self.name()
        );
    }
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"testkit","version":"1"}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn ping(id: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string()
}

/// Sends a POST request on a persistent connection; returns status and body.
async fn posted(connection: &mut Connection, head: &str, body: &[u8]) -> (u16, String) {
    let head = format!("{head}\r\ncontent-length: {}\r\n\r\n", body.len());
    connection.send([head.as_bytes(), body].concat()).await;
    let answer = connection.answer().await;
    let answer = answer.unwrap_or_else(|| panic!("closed: {}", String::from_utf8_lossy(body)));
    (answer.status, answer.body)
}

#[testkit::test]
async fn wrong_messages_are_answered_alike_over_each_transport() {
    let (_server, mut ways) = Way::all("wrong").await;
    let mut messages = wrong_messages();
    messages.retain(|(message, _)| message.len() < LARGEST);
    messages.push((b"\"\xff\xfe\"".to_vec(), -32700));
    messages.push((
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\x28\",\"method\":\"ping\"}".to_vec(),
        -32700,
    ));
    for way in &mut ways {
        for (message, code) in &messages {
            if *code == 0 {
                way.notify(message).await;
            } else {
                let answer = way.answer(message).await;
                let shown = String::from_utf8_lossy(message);
                let shown = shown.chars().take(80).collect::<String>();
                let name = way.name();
                assert_eq!(answer["error"]["code"], *code, "{name} {shown} {answer}");
            }
            way.assert_alive("still").await;
        }
    }
}

#[testkit::test]
async fn deep_and_large_messages_are_refused_without_using_memory() {
    let mark = "deep";
    let (server, mut ways) = Way::all(mark).await;
    let mut messages = wrong_messages();
    messages.retain(|(message, _)| message.len() >= LARGEST);
    assert!(messages.len() >= 3);
    for (message, _) in &messages {
        for way in &mut ways {
            match way {
                Way::Stdio(_) => {
                    let answer = way.answer(message).await;
                    assert_eq!(answer["error"]["code"], -32700);
                    way.assert_alive("still").await;
                }
                Way::WebSocket(client) => {
                    client.binary(message).await;
                    // A client that is still sending may not receive the reason.
                    let (code, _) = client.closing().await;
                    assert!([0, 1009].contains(&code), "{code}");
                    **client = WebSocketClient::start(&server.web_socket()).await;
                }
                Way::Sse(head, connection, _) | Way::Http(head, connection) => {
                    let (status, _) = posted(connection, head, message).await;
                    assert_eq!(status, 413);
                    way.reconnect(&server).await;
                    way.assert_alive("still").await;
                }
            }
        }
    }
    let stats = ProcessStats::take(mark, Depth::Memory);
    assert!(stats.servers.memory < MEMORY, "{stats:?}");
}

#[testkit::test]
async fn bytes_may_come_one_by_one() {
    let (server, _) = Way::all("slow").await;
    let ping = ping("é");
    let length = ping.len();
    let request = format!(
        "POST /message HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{ping}",
        server.authority()
    );
    let mut connection = server.connection().await;
    for _ in 0..2 {
        assert!(connection.send_slowly(&request).await);
        let answer = connection.answer().await.expect("an answer");
        assert_eq!((answer.status, &answer.json()["id"]), (200, &json!("é")));
    }
    let chunked = request.replace(
        &format!("content-length: {length}"),
        "transfer-encoding: chunked",
    );
    let (head, body) = chunked.split_once("\r\n\r\n").expect("a body");
    connection.send(format!("{head}\r\n\r\n")).await;
    for byte in body.as_bytes() {
        connection
            .send([b"1\r\n", &[*byte][..], b"\r\n"].concat())
            .await;
    }
    connection.send("0\r\n\r\n").await;
    let answer = connection.answer().await.expect("an answer");
    assert_eq!(answer.json()["result"], json!({}));
    let client = launch(&[]).start().await;
    for byte in format!("{ping}\n").as_bytes() {
        client.send_bytes(&[*byte]).await;
    }
    assert_eq!(client.next_unmatched().await["id"], "é");
}

#[testkit::test(slow)]
async fn random_messages_do_not_end_the_server() {
    let mark = "random";
    let (server, mut ways) = Way::all(mark).await;
    let mut runner = TestRunner::deterministic();
    let message = message();
    let messages: Vec<_> = (0..input_size(RANDOM))
        .map(|_| message.new_tree(&mut runner).expect("a message").current())
        .collect();
    for way in &mut ways {
        way.reconnect(&server).await;
        for (number, batch) in messages.chunks(BATCH).enumerate() {
            for message in batch {
                way.send(message).await;
            }
            way.assert_alive(&format!("{} {number}", way.name())).await;
        }
    }
    let health = server.ask("GET", "/health", &[], "").await;
    assert_eq!(health.json()["sessions"], 0, "{health:?}");
    let stats = ProcessStats::take(mark, Depth::Memory);
    assert!(stats.servers.memory < MEMORY, "{stats:?}");
}
