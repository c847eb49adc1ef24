//! The transport of 2024-11-05: an event stream, and POST requests.

use crate::{call_until_released, fake_launch, held_page, launch};
use serde_json::{Value, json};
use testkit::{Connection, HttpServer, Site};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

struct SseClient {
    stream: Connection,
    endpoint: String,
}

impl SseClient {
    async fn start(server: &HttpServer) -> Self {
        let mut stream = server.connection().await;
        stream
            .ask("GET", "/sse", &[("host", server.authority())], "")
            .await;
        let head = stream.head().await.expect("an answer");
        assert_eq!(
            (head.status, head.header("content-type")),
            (200, "text/event-stream")
        );
        let first = stream.event().await.expect("an event");
        assert_eq!(first.event, "endpoint");
        let endpoint = first.data;
        assert!(endpoint.starts_with("/sse?sessionId="), "{endpoint}");
        let mut client = Self { stream, endpoint };
        let hello = json!({
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": { "name": "testkit", "version": "1" },
        });
        client.request(server, "initialize", hello).await;
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(client.post(server, ready).await, 202);
        client
    }

    async fn post(&self, server: &HttpServer, body: &str) -> u16 {
        let json = [("content-type", "application/json")];
        let answer = server.ask("POST", &self.endpoint, &json, body).await;
        answer.status
    }

    async fn next(&mut self) -> Value {
        let event = self.stream.event().await.expect("the stream goes on");
        assert_eq!(event.event, "message");
        serde_json::from_str(&event.data).expect("JSON")
    }

    async fn request(&mut self, server: &HttpServer, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 9, "method": method, "params": params });
        assert_eq!(self.post(server, &message.to_string()).await, 202);
        loop {
            let answer = self.next().await;
            if answer["id"] == 9 {
                return answer["result"].clone();
            }
        }
    }
}

#[testkit::test]
async fn posts_go_to_the_stream_that_they_name_and_to_no_other() {
    let server = HttpServer::start(fake_launch(&[])).await;
    let json = [("content-type", "application/json")];
    let asked = async |method: &str, path: &str| {
        let answer = server.ask(method, path, &json, PING).await;
        (answer.status, answer.body)
    };
    let reply = |status: u16, body: &str| (status, body.to_owned());
    let unknown = format!("/sse?sessionId={}", "0".repeat(32));
    assert_eq!(asked("POST", "/sse").await, reply(400, "Missing sessionId"));
    for path in [&*unknown, "/sse?sessionId=", "/sse?sessionId=%00"] {
        assert_eq!(
            asked("POST", path).await,
            reply(404, "Session not found"),
            "{path}"
        );
    }
    for method in ["PUT", "DELETE", "PATCH"] {
        assert_eq!(
            asked(method, "/sse").await,
            reply(405, "Method not allowed"),
            "{method}"
        );
    }
    let (mut one, mut other) = (
        SseClient::start(&server).await,
        SseClient::start(&server).await,
    );
    assert_ne!(one.endpoint, other.endpoint);
    for (wrong, code) in [("{", -32700), ("[]", -32600)] {
        assert_eq!(one.post(&server, wrong).await, 202);
        assert_eq!(one.next().await["error"]["code"], code, "{wrong}");
    }
    let pong = one.request(&server, "ping", json!({})).await;
    assert_eq!(pong, json!({}));
    let pong = other.request(&server, "ping", json!({})).await;
    assert_eq!(pong, json!({}));
}

#[testkit::test(chromium)]
async fn a_lost_stream_ends_its_calls_and_not_its_browser_session() {
    let server = HttpServer::start(launch(&[])).await;
    let site = Site::start().await;
    let mut client = SseClient::start(&server).await;
    let page = json!({ "name": "browser_navigate", "arguments": { "url": held_page(&site) } });
    client.request(&server, "tools/call", page).await;
    let list = json!({ "name": "list_sessions", "arguments": {} });
    let sessions = client.request(&server, "tools/call", list).await;
    let id = sessions["structuredContent"]["sessions"][0]["id"].clone();
    let endless = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call_until_released(),
    });
    assert_eq!(client.post(&server, &endless.to_string()).await, 202);
    server.metric_is("tool_calls_in_progress", 1).await;
    let SseClient { stream, endpoint } = client;
    drop(stream);
    server.metric_is("tool_calls_in_progress", 0).await;
    let json = [("content-type", "application/json")];
    let late = server.ask("POST", &endpoint, &json, PING).await;
    assert_eq!(late.status, 404);
    let metadata = server
        .call(None, "get_page_metadata", json!({ "sessionId": id }))
        .await;
    assert_eq!(
        metadata["structuredContent"]["title"], "Gated",
        "{metadata}"
    );
}
