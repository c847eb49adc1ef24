//! Streamable HTTP: resumption of streams, lifetimes of MCP sessions, and requests without a session.

use crate::{call_until_released, fake_launch, held_page, launch};
use serde_json::{Value, json};
use testkit::{Connection, Event, HttpAnswer, HttpServer, Site};

const BOTH: &str = "application/json, text/event-stream";

/// Posts to `/mcp` on a new connection, whose response can be left unread.
async fn post(server: &HttpServer, headers: &[(&str, &str)], message: &Value) -> Connection {
    let mut connection = server.connection().await;
    let usual = [
        ("host", server.authority()),
        ("content-type", "application/json"),
        ("accept", BOTH),
    ];
    let headers = [&usual, headers].concat();
    connection
        .ask("POST", "/mcp", &headers, &message.to_string())
        .await;
    connection
}

/// Opens the stream of a session; after `last`, if that is not empty.
async fn get(server: &HttpServer, session: &str, last: &str) -> (HttpAnswer, Connection) {
    let mut connection = server.connection().await;
    let mut headers = vec![
        ("host", server.authority()),
        ("accept", "text/event-stream"),
        ("mcp-session-id", session),
    ];
    if !last.is_empty() {
        headers.push(("last-event-id", last));
    }
    connection.ask("GET", "/mcp", &headers, "").await;
    let head = connection.head().await.expect("an answer");
    (head, connection)
}

/// Returns the next event with a message.
async fn message(stream: &mut Connection) -> Option<Value> {
    loop {
        let Event { data, .. } = stream.event().await?;
        if !data.is_empty() {
            return Some(serde_json::from_str(&data).expect("JSON"));
        }
    }
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Posts as clients of 2026-07-28 do; `name` is the name of the called tool.
async fn modern(server: &HttpServer, name: &str, message: &Value) -> Connection {
    let mut message = message.clone();
    message["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "testkit", "version": "1" },
    });
    let method = message["method"].as_str().expect("a method").to_owned();
    let mut headers = vec![
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", &*method),
    ];
    if !name.is_empty() {
        headers.push(("mcp-name", name));
    }
    post(server, &headers, &message).await
}

/// A server, and a session whose page is [`held_page`]'s.
async fn gated(args: &[&str]) -> (HttpServer, Site, String) {
    let server = HttpServer::start(fake_launch(args)).await;
    let site = Site::start().await;
    let session = server.begin_session().await;
    server.navigate(Some(&session), &held_page(&site)).await;
    (server, site, session)
}

/// Begins the call that waits for the gate; returns the stream of its response, and the id of its first event.
async fn begin_call(server: &HttpServer, session: &str, id: u64) -> (Connection, String) {
    let call = request(id, "tools/call", call_until_released());
    let mut stream = post(server, &[("mcp-session-id", session)], &call).await;
    assert_eq!(stream.head().await.expect("an answer").status, 200);
    let first = stream.event().await.expect("an event to come back to");
    assert!(!first.id.is_empty(), "{first:?}");
    server.metric_is("tool_calls_in_progress", 1).await;
    (stream, first.id)
}

#[testkit::test]
async fn a_disconnected_client_gets_its_answer_on_reconnection() {
    let (server, site, session) = gated(&[]).await;
    // During the call, and after it has ended.
    for late in [false, true] {
        let (stream, event) = begin_call(&server, &session, 1).await;
        drop(stream);
        let mut resumed = None;
        if !late {
            let (head, stream) = get(&server, &session, &event).await;
            assert_eq!(head.status, 200);
            resumed = Some(stream);
        }
        site.add_page("/gate", "");
        server.metric_is("tool_calls_in_progress", 0).await;
        let mut resumed = match resumed {
            Some(resumed) => resumed,
            None => get(&server, &session, &event).await.1,
        };
        let answer = message(&mut resumed).await.expect("the answer");
        assert_eq!(answer["id"], 1);
        assert!(answer.to_string().contains("open"), "{answer}");
        assert_eq!(message(&mut resumed).await, None, "the stream has ended");
        site.add("/gate", testkit::Resource::html("").status(404));
    }
    let (head, mut stream) = get(&server, &session, "nothing-like-this/7").await;
    assert_eq!((head.status, message(&mut stream).await), (200, None));
}

#[testkit::test]
async fn a_resumed_stream_ends_with_its_call_and_its_session() {
    let (server, _site, session) = gated(&[]).await;
    let id = [("mcp-session-id", &*session)];
    for way in ["cancelled", "deleted"] {
        let (stream, event) = begin_call(&server, &session, 1).await;
        drop(stream);
        let (head, mut resumed) = get(&server, &session, &event).await;
        assert_eq!(head.status, 200);
        if way == "deleted" {
            assert_eq!(server.ask("DELETE", "/mcp", &id, "").await.status, 200);
        } else {
            let cancelled = json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 },
            });
            let mut reply = post(&server, &id, &cancelled).await;
            assert_eq!(reply.head().await.expect("an answer").status, 202);
            server.metric_is("tool_calls_in_progress", 0).await;
            // A later client does not wait either.
            let (_, mut late) = get(&server, &session, &event).await;
            assert_eq!(message(&mut late).await, None, "{way}");
        }
        assert_eq!(message(&mut resumed).await, None, "{way}");
    }
}

#[testkit::test]
async fn of_two_requests_with_one_id_the_second_is_refused() {
    let (server, site, session) = gated(&[]).await;
    let (mut first, _) = begin_call(&server, &session, 5).await;
    let id = [("mcp-session-id", &*session)];
    let mut second = post(&server, &id, &request(5, "ping", json!({}))).await;
    second.head().await.expect("an answer");
    let refusal = message(&mut second).await.expect("a refusal");
    assert_eq!(
        (&refusal["id"], &refusal["error"]["code"]),
        (&json!(5), &json!(-32600))
    );
    site.add_page("/gate", "");
    let answer = message(&mut first).await.expect("the answer");
    assert!(answer["result"].is_object(), "{answer}");
    let mut third = post(&server, &id, &request(5, "ping", json!({}))).await;
    third.head().await.expect("an answer");
    let pong = message(&mut third).await.expect("an answer");
    assert_eq!(pong["result"], json!({}), "{pong}");
}

#[testkit::test(chromium)]
async fn a_session_has_streams_of_its_own_until_it_is_deleted() {
    let server = HttpServer::start(launch(&[])).await;
    let session = server.begin_session().await;
    let (head, _first) = get(&server, &session, "").await;
    assert_eq!(
        (head.status, head.header("content-type")),
        (200, "text/event-stream")
    );
    let (head, _second) = get(&server, &session, "").await;
    assert_eq!(head.status, 200);
    for method in ["GET", "DELETE"] {
        let accept = [("accept", BOTH), ("mcp-session-id", "no-such-session")];
        let unknown = server.ask(method, "/mcp", &accept, "").await;
        assert_eq!(unknown.status, 404, "{method} {unknown:?}");
        let none = server.ask(method, "/mcp", &accept[..1], "").await;
        assert_eq!(none.status, 400, "{method} {none:?}");
    }
    let id = [("mcp-session-id", &*session)];
    let put = server.ask("PUT", "/mcp", &id, "").await;
    assert_eq!(put.status, 405);
    // A client that initializes again.
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "testkit", "version": "1" },
    });
    server.rpc("/mcp", &id, "initialize", hello).await;
    let pong = server.rpc("/mcp", &id, "ping", json!({})).await;
    assert_eq!(pong.json()["result"], json!({}), "{pong:?}");

    assert_eq!(server.ask("DELETE", "/mcp", &id, "").await.status, 200);
    for method in ["GET", "DELETE"] {
        let accept = [("accept", BOTH), ("mcp-session-id", &*session)];
        let gone = server.ask(method, "/mcp", &accept, "").await;
        assert_eq!(gone.status, 404, "{method} {gone:?}");
    }
    // Its own stream cannot be resumed either.
    let last = format!("{session}:common/1");
    let (head, _) = get(&server, &server.begin_session().await, &last).await;
    assert_eq!(head.status, 404);
}

#[testkit::test]
async fn an_mcp_session_without_requests_and_streams_expires() {
    let (server, site, called) = gated(&["--client-timeout=1000"]).await;
    let (call, event) = begin_call(&server, &called, 1).await;
    let listening = server.begin_session().await;
    let (_, stream) = get(&server, &listening, "").await;
    // The client of the call has disconnected, but the call continues.
    drop(call);
    let quiet = server.begin_session().await;
    assert_eq!(server.metric("mcp_sessions").await, 3);
    server.metric_is("mcp_sessions", 2).await;
    let ping = async |session: &str| {
        let id = [("mcp-session-id", session)];
        server.rpc("/mcp", &id, "ping", json!({})).await.status
    };
    assert_eq!(ping(&quiet).await, 404);
    assert_eq!(ping(&listening).await, 200);
    site.add_page("/gate", "");
    server.metric_is("tool_calls_in_progress", 0).await;
    let (_, mut resumed) = get(&server, &called, &event).await;
    assert!(message(&mut resumed).await.is_some());
    drop((resumed, stream));
    server.metric_is("mcp_sessions", 0).await;
}

#[testkit::test]
async fn a_stateless_request_is_cancelled_on_disconnect() {
    let server = HttpServer::start(fake_launch(&[])).await;
    let site = Site::start().await;
    let mut discovered = modern(&server, "", &request(1, "server/discover", json!({}))).await;
    let answer = discovered.answer().await.expect("an answer").json();
    let versions = &answer["result"]["supportedVersions"];
    let versions = versions.as_array().expect("a list");
    assert!(versions.contains(&json!("2026-07-28")), "{answer}");

    let url = held_page(&site);
    let open = json!({ "name": "browser_navigate", "arguments": { "url": url } });
    let mut opened = modern(&server, "browser_navigate", &request(2, "tools/call", open)).await;
    let answer = opened.answer().await.expect("an answer").json();
    assert!(answer["result"].is_object(), "{answer}");
    let call = request(3, "tools/call", call_until_released());
    let left = modern(&server, "browser_evaluate", &call).await;
    server.metric_is("tool_calls_in_progress", 1).await;
    drop(left);
    server.metric_is("tool_calls_in_progress", 0).await;
    let metrics = server.ask("GET", "/metrics", &[], "").await.body;
    let failed =
        r#"playhouse_tool_call_duration_seconds_count{tool="browser_evaluate",outcome="error"} 1"#;
    assert!(metrics.contains(failed), "{metrics}");
    assert_eq!(server.metric("mcp_sessions").await, 0);
}

#[testkit::test]
async fn a_listening_client_is_notified_of_shutdown() {
    let mut server = HttpServer::start(launch(&[])).await;
    let wanted =
        json!({ "notifications": { "resourceSubscriptions": ["playwright:///session/x"] } });
    let listen = request(1, "subscriptions/listen", wanted);
    let mut stream = modern(&server, "", &listen).await;
    assert_eq!(stream.head().await.expect("an answer").status, 200);
    let begun = message(&mut stream).await.expect("word that it has begun");
    assert_eq!(begun["method"], "notifications/subscriptions/acknowledged");
    server.terminate();
    // The response to the request itself: the stream was not cut.
    let over = message(&mut stream).await.expect("an answer");
    assert_eq!(
        (&over["id"], over.get("error")),
        (&json!(1), None),
        "{over}"
    );
    assert_eq!(server.exit_status().await.code(), Some(0));
}

#[testkit::test]
async fn a_new_stream_of_a_session_replaces_the_one_before() {
    let server = HttpServer::start(fake_launch(&[])).await;
    let session = server.begin_session().await;
    let (_, mut first) = get(&server, &session, "").await;
    let (_, mut second) = get(&server, &session, "").await;
    let id = [("mcp-session-id", &*session)];
    server.rpc("/mcp", &id, "resources/list", json!({})).await;
    server.navigate(Some(&session), "about:blank").await;
    let answer = message(&mut second).await.expect("word of the page");
    assert_eq!(answer["method"], "notifications/resources/list_changed");
    assert_eq!(server.ask("DELETE", "/mcp", &id, "").await.status, 200);
    // Each message is sent once.
    assert_eq!(message(&mut first).await, None);
}

#[testkit::test]
async fn a_tool_that_is_unknown_is_no_method_that_is_missing() {
    let server = HttpServer::start(launch(&[])).await;
    let call = request(
        1,
        "tools/call",
        json!({ "name": "nothing", "arguments": {} }),
    );
    let mut asked = modern(&server, "nothing", &call).await;
    let answer = asked.answer().await.expect("an answer");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["error"]["code"], -32601, "{answer:?}");
    let mut asked = modern(&server, "", &request(2, "tools/cull", json!({}))).await;
    let answer = asked.answer().await.expect("an answer");
    assert_eq!(answer.status, 404, "{answer:?}");
    assert_eq!(answer.json()["error"]["code"], -32601, "{answer:?}");
}

#[testkit::test(chromium)]
async fn a_listening_client_is_notified_of_a_new_page() {
    let server = HttpServer::start(launch(&[])).await;
    let wanted = json!({ "notifications": { "resourcesListChanged": true } });
    let mut stream = modern(&server, "", &request(1, "subscriptions/listen", wanted)).await;
    assert_eq!(stream.head().await.expect("an answer").status, 200);
    let begun = message(&mut stream).await.expect("word that it has begun");
    assert_eq!(begun["method"], "notifications/subscriptions/acknowledged");
    server.navigate(None, "about:blank").await;
    let reply = message(&mut stream).await.expect("word of the page");
    assert_eq!(reply["method"], "notifications/resources/list_changed");
}
