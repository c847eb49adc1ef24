//! MCP over WebSockets: valid and invalid frames, costs of a connection, and lifetimes.

use crate::{call_until_released, fake_launch, held_page, launch};
use serde_json::{Value, json};
use testkit::{HttpServer, Site, WebSocketClient, eventually};

const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;

async fn assert_alive(client: &mut WebSocketClient, why: &str) {
    client.text(PING).await;
    let answer = client.answer(&json!("p")).await;
    assert_eq!(answer["result"], json!({}), "{why}");
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[testkit::test]
async fn messages_come_in_any_frames_and_wrong_ones_are_answered() {
    let server = HttpServer::start(launch(&[])).await;
    let url = server.web_socket();
    let mut client = WebSocketClient::start(&url).await;
    assert_eq!(client.subprotocol, "mcp");
    let chosen = WebSocketClient::connect(&url, "chat, mcp", &[]).await;
    assert_eq!(chosen.subprotocol, "mcp");
    let none = WebSocketClient::connect(&url, "", &[]).await;
    assert_eq!(none.subprotocol, "");

    client.binary(PING.as_bytes()).await;
    client.answer(&json!("p")).await;
    for size in [1, 7] {
        client.fragments(PING.as_bytes(), size).await;
        client.answer(&json!("p")).await;
    }
    client.ping(b"there?").await;
    assert!(client.pong(b"there?").await);

    for (wrong, code) in [
        ("{", -32700),
        ("", -32700),
        ("[]", -32600),
        (r#"{"id":1}"#, -32600),
    ] {
        client.text(wrong).await;
        let answer = client.next().await.expect("an answer");
        assert_eq!(answer["error"]["code"], code, "{wrong}");
        assert_alive(&mut client, wrong).await;
    }
    client
        .text(r#"{"jsonrpc":"2.0","id":5,"method":"no/such"}"#)
        .await;
    let answer = client.answer(&json!(5)).await;
    assert_eq!(answer["error"]["code"], -32601);
    let plain = server.ask("GET", "/ws", &[], "").await;
    assert!((400..500).contains(&plain.status), "{plain:?}");
}

#[testkit::test]
async fn an_invalid_frame_closes_the_web_socket_with_a_reason() {
    let server = HttpServer::start(launch(&["--max-request-size=10000"])).await;
    let url = server.web_socket();
    let large = "x".repeat(20_000);

    let mut client = WebSocketClient::start(&url).await;
    client.text(&large).await;
    let (code, reason) = client.closing().await;
    assert_eq!(
        (code, &*reason),
        (1009, "the message is too large (--max-request-size)")
    );
    // More than a connection can queue: unread data must not cost the client the reason.
    let mut client = WebSocketClient::start(&url).await;
    client.text(&"x".repeat(8_000_000)).await;
    assert_eq!(client.closing().await.0, 1009);
    let mut client = WebSocketClient::start(&url).await;
    client.fragments(large.as_bytes(), 4000).await;
    assert_eq!(client.closing().await.0, 1009);
    let mut client = WebSocketClient::start(&url).await;
    client.raw_text(b"\"\xff\xfe\"").await;
    assert_eq!(client.closing().await.0, 1007);
    let mut client = WebSocketClient::start(&url).await;
    client.continuation(b"of nothing").await;
    assert_eq!(client.closing().await.0, 1002);
    assert_alive(
        &mut WebSocketClient::start(&url).await,
        "others do not mind",
    )
    .await;
}

#[testkit::test]
async fn requests_run_side_by_side_and_a_cancelled_one_ends() {
    let server = HttpServer::start(fake_launch(&[])).await;
    let site = Site::start().await;
    let mut client = WebSocketClient::start(&server.web_socket()).await;
    client.navigate(&held_page(&site)).await;
    client.begin(7, "tools/call", call_until_released()).await;
    server.metric_is("tool_calls_in_progress", 1).await;
    assert_alive(&mut client, "while a call runs").await;
    client.begin(7, "ping", json!({})).await;
    let twice = client.answer(&json!(7)).await;
    assert_eq!(twice["error"]["code"], -32600, "{twice}");
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 },
    });
    client.text(&cancelled.to_string()).await;
    server.metric_is("tool_calls_in_progress", 0).await;

    client.begin(8, "tools/call", call_until_released()).await;
    server.metric_is("tool_calls_in_progress", 1).await;
    site.add_page("/gate", "");
    let answer = client.answer(&json!(8)).await;
    assert!(text(&answer["result"]).contains("open"), "{answer}");
}

#[testkit::test(chromium)]
async fn clients_are_isolated_and_sessions_can_be_continued() {
    let server = HttpServer::start(launch(&[])).await;
    let site = Site::start().await;
    let url = server.web_socket();
    let mut one = WebSocketClient::start(&url).await;
    let mut other = WebSocketClient::start(&url).await;
    one.navigate(&held_page(&site)).await;
    let listed = json!({ "action": "list" });
    let tabs = other.call("browser_tabs", listed).await;
    assert!(!text(&tabs).contains("Gated"), "{tabs}");
    let sessions = one.call("list_sessions", json!({})).await;
    let id = sessions["structuredContent"]["sessions"][0]["id"].clone();
    one.begin(1, "tools/call", call_until_released()).await;
    server.metric_is("tool_calls_in_progress", 1).await;
    // Without a closing handshake.
    drop(one);
    server.metric_is("tool_calls_in_progress", 0).await;
    let metadata = other
        .call("get_page_metadata", json!({ "sessionId": id }))
        .await;
    assert_eq!(
        metadata["structuredContent"]["title"], "Gated",
        "{metadata}"
    );
}

#[testkit::test]
async fn a_web_socket_keeps_its_connection_slot() {
    let server = HttpServer::start(launch(&["--max-connections=2"])).await;
    let url = server.web_socket();
    let first = WebSocketClient::start(&url).await;
    let mut second = WebSocketClient::start(&url).await;
    let refused = WebSocketClient::try_connect(&url, "mcp", &[]).await;
    assert_eq!(refused.err(), Some(503));
    assert_alive(&mut second, "others are refused").await;
    drop(first);
    eventually(async || {
        assert_alive(&mut second, "its place is not free yet").await;
        let connected = WebSocketClient::try_connect(&url, "mcp", &[]).await;
        connected.is_ok()
    })
    .await;
}
