//! Clients that open connections and stall, that never read, or that send contradictory messages: other clients are not affected.

use crate::launch;
use serde_json::json;
use std::time::Duration;
use testkit::process_stats::{Depth, MARK, ProcessStats};
use testkit::{Connection, HttpServer, WebSocketClient, eventually};

const JSON: (&str, &str) = ("content-type", "application/json");
/// How long an expected event may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The largest memory of a server with a thousand clients, in bytes.
const MEMORY: u64 = 300 << 20;

async fn answers(server: &HttpServer) {
    let health = server.ask("GET", "/health", &[], "").await;
    assert_eq!(health.status, 200, "{health:?}");
}

fn files(mark: &str) -> usize {
    ProcessStats::take(mark, Depth::Quick).servers.files
}

#[testkit::test]
async fn stalled_connections_do_not_block_others() {
    let mark = "thousand";
    let args = ["--max-connections=1100"];
    let server = HttpServer::start(launch(&args).env(MARK, mark)).await;
    answers(&server).await;
    let before = files(mark);
    let body = format!(
        "POST /message HTTP/1.1\r\nhost: {}\r\ncontent-length: 1000\r\n\r\n{{",
        server.authority()
    );
    let beginnings = [
        "",
        "G",
        "GET /health HTTP/1.1\r\nhost: local",
        &*body,
        "\u{16}\u{3}\u{1}",
    ];
    let mut stalled = Vec::new();
    for beginning in beginnings.iter().cycle().take(1000) {
        let mut connection = server.connection().await;
        connection.send(beginning).await;
        stalled.push(connection);
    }
    assert!(files(mark) > before, "they are there");
    let stats = ProcessStats::take(mark, Depth::Memory);
    assert!(stats.servers.memory < MEMORY, "{stats:?}");
    drop(stalled);
    eventually(async || {
        answers(&server).await;
        files(mark) <= before + 10
    })
    .await;
}

#[testkit::test]
async fn connections_above_the_limit_are_refused_and_slots_are_reused() {
    let server = HttpServer::start(launch(&["--max-connections=3"])).await;
    let host = [("host", server.authority())];
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut stream = server.connection().await;
        stream.ask("GET", "/sse", &host, "").await;
        assert_eq!(stream.head().await.expect("an answer").status, 200);
        streams.push(stream);
    }
    let asked = async || {
        let mut connection = server.connection().await;
        connection.ask("GET", "/health", &host, "").await;
        connection.answer().await.map(|answer| answer.status)
    };
    assert_eq!(asked().await, Some(503));
    // A client that sends too much receives the reason.
    let mut large = server.connection().await;
    large.send("x".repeat(100_000)).await;
    assert_eq!(large.head().await.expect("an answer").status, 503);
    streams.pop();
    eventually(async || asked().await == Some(200)).await;
}

#[testkit::test]
async fn a_client_that_never_reads_blocks_no_other_client() {
    let mark = "deaf";
    let server = HttpServer::start(launch(&[]).env(MARK, mark)).await;
    let list =
        |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" }).to_string();

    let mut socket = WebSocketClient::start(&server.web_socket()).await;
    for id in 0..40 {
        socket.text(&list(id)).await;
    }
    let mut stream = server.connection().await;
    let host = ("host", server.authority());
    stream.ask("GET", "/sse", &[host], "").await;
    stream.head().await.expect("an answer");
    let endpoint = stream.event().await.expect("an endpoint").data;
    for id in 0..40 {
        let answer = server.ask("POST", &endpoint, &[JSON], &list(id)).await;
        assert_eq!(answer.status, 202);
    }
    let mut posts = Vec::new();
    for id in 0..40 {
        let mut connection = server.connection().await;
        connection
            .ask("POST", "/message", &[host, JSON], &list(id))
            .await;
        posts.push(connection);
    }
    let other = server.call(None, "list_sessions", json!({})).await;
    assert_eq!(other["structuredContent"]["sessions"], json!([]), "{other}");
    let stats = ProcessStats::take(mark, Depth::Memory);
    assert!(stats.servers.memory < MEMORY, "{stats:?}");
    // Responses are kept for a client that reads late.
    for connection in &mut posts {
        let answer = connection.answer().await.expect("an answer");
        assert!(answer.json()["result"]["tools"].is_array());
    }
    for id in 0..40 {
        let answer = socket.answer(&json!(id)).await;
        assert!(answer["result"]["tools"].is_array());
    }
}

#[testkit::test]
async fn a_client_that_stops_reading_is_disconnected() {
    let server = HttpServer::start(launch(&["--client-timeout=1000"])).await;
    let mut deaf = Connection::open_narrow(server.authority()).await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let request = format!(
        "POST /message HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{list}",
        server.authority(),
        list.len()
    );
    // More than the buffers of the system, so that the server must wait.
    assert!(deaf.send(request.repeat(400)).await);
    // The server does not detect its end until it sends something.
    let gone = async {
        while deaf.send(" ").await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let gone = tokio::time::timeout(TIMEOUT / 2, gone).await;
    assert!(gone.is_ok(), "it is waited for");
    answers(&server).await;
}

#[testkit::test]
async fn an_ambiguous_request_is_refused() {
    let server = HttpServer::start(launch(&[])).await;
    let host = server.authority().to_owned();
    let smuggled = "GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let of = |headers: &str, body: &str| {
        format!("POST /message HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n\r\n{body}")
    };
    for (why, request) in [
        (
            "two lengths",
            of("content-length: 0\r\ncontent-length: 4", smuggled),
        ),
        ("a length that is none", of("content-length: +0", smuggled)),
        (
            "a coding that is not chunked",
            of("transfer-encoding: chunked, identity", smuggled),
        ),
        ("a name with a space", of("content-length : 4", smuggled)),
        ("a broken chunk", of("transfer-encoding: chunked", "zz\r\n")),
        ("no version", "GET /health\r\n\r\n".to_owned()),
        ("no host", "GET /health HTTP/1.1\r\n\r\n".to_owned()),
        (
            "two hosts",
            format!("GET /health HTTP/1.1\r\nhost: {host}\r\nhost: evil.example\r\n\r\n"),
        ),
        ("a head without end", of(&"x: y\r\n".repeat(100_000), "")),
    ] {
        let mut connection = Connection::open(&host).await;
        connection.send(&request).await;
        connection.finish().await;
        let heard = connection.rest().await;
        let heard = String::from_utf8_lossy(&heard);
        let answers = heard.matches("HTTP/1.").count();
        assert!(answers <= 1, "{why}: {heard}");
        assert!(
            heard.is_empty() || heard.starts_with("HTTP/1.1 4"),
            "{why}: {heard}"
        );
    }
    // With both headers, chunks count, and the connection is not reused.
    let both = of(
        "content-length: 4\r\ntransfer-encoding: chunked",
        "0\r\n\r\n",
    );
    let mut connection = Connection::open(&host).await;
    connection.send(both + smuggled).await;
    let heard = connection.rest().await;
    let heard = String::from_utf8_lossy(&heard);
    assert!(!heard.contains("playhouse_"), "{heard}");
    answers(&server).await;
}
