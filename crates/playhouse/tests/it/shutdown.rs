//! The end of a server over HTTP: calls are finished, streams end, and nothing is left.

use crate::{call_until_gate, gated_page, launch};
use serde_json::json;
use testkit::{Connection, HttpServer, Site, WebSocketClient, browser_is_there};

/// A stream of events at that path.
async fn stream(server: &HttpServer, path: &str, session: &str) -> Connection {
    let mut stream = server.connection().await;
    let headers = [
        ("host", server.authority()),
        ("accept", "text/event-stream"),
        ("mcp-session-id", session),
    ];
    stream.ask("GET", path, &headers, "").await;
    assert_eq!(stream.head().await.expect("an answer").status, 200);
    stream
}

#[tokio::test]
async fn a_server_that_is_asked_to_end_finishes_its_calls_first() {
    if !browser_is_there() {
        return;
    }
    let mut server = HttpServer::start(launch(&[])).await;
    #[cfg(target_os = "linux")]
    let pid = server.process().pid().expect("it runs");
    let site = Site::start().await;
    let session = server.begin_session().await;
    let page = json!({ "url": gated_page(&site) });
    server
        .call(Some(&session), "browser_navigate", page.clone())
        .await;
    let mut streams = [
        stream(&server, "/mcp", &session).await,
        stream(&server, "/sse", "").await,
    ];
    let mut socket = WebSocketClient::start(&server.web_socket()).await;
    socket.call("browser_navigate", page).await;
    let mut idle = WebSocketClient::start(&server.web_socket()).await;
    #[cfg(target_os = "linux")]
    let processes = testkit::Processes::from(pid);

    let call = async {
        let id = [("mcp-session-id", &*session)];
        server
            .rpc("/mcp", &id, "tools/call", call_until_gate())
            .await
    };
    socket.begin(1, "tools/call", call_until_gate()).await;
    let ending = async {
        server.metric_is("calls_under_way", 2).await;
        server.terminate();
        // What asks now is refused, and what runs goes on.
        while server.ask("GET", "/health", &[], "").await.status != 503 {}
        idle.begin(2, "tools/call", call_until_gate()).await;
        let refused = idle.answer(&json!(2)).await;
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        site.add_page("/gate", "");
        socket.answer(&json!(1)).await
    };
    let (answered, over_socket) = tokio::join!(call, ending);
    assert_eq!(answered.status, 200);
    for answer in [answered.json(), over_socket] {
        assert!(answer["result"].to_string().contains("open"), "{answer}");
    }
    for stream in &mut streams {
        stream.rest().await;
    }
    for socket in [&mut socket, &mut idle] {
        assert_eq!(socket.closing().await, (1001, "the server ends".to_owned()));
    }
    assert_eq!(server.exit_status().await.code(), Some(0));
    #[cfg(target_os = "linux")]
    processes.gone().await;
}

#[tokio::test]
async fn a_server_that_is_asked_twice_does_not_wait_for_its_calls() {
    if !browser_is_there() {
        return;
    }
    let mut server = HttpServer::start(launch(&[])).await;
    let site = Site::start().await;
    let session = server.begin_session().await;
    let page = json!({ "url": gated_page(&site) });
    server.call(Some(&session), "browser_navigate", page).await;
    let call = async {
        let id = [("mcp-session-id", &*session)];
        server
            .rpc("/mcp", &id, "tools/call", call_until_gate())
            .await
    };
    let ending = async {
        server.metric_is("calls_under_way", 1).await;
        server.terminate();
        while server.ask("GET", "/health", &[], "").await.status != 503 {}
        server.terminate();
    };
    let (cut, ()) = tokio::join!(call, ending);
    assert_eq!(cut.json()["result"]["isError"], true, "{cut:?}");
    assert_eq!(server.exit_status().await.code(), Some(0));
}

#[tokio::test]
async fn a_call_that_takes_too_long_and_clients_that_stall_do_not_keep_a_server() {
    if !browser_is_there() {
        return;
    }
    let mut server = HttpServer::start(launch(&[])).await;
    let site = Site::start().await;
    let session = server.begin_session().await;
    let page = json!({ "url": gated_page(&site) });
    server.call(Some(&session), "browser_navigate", page).await;
    let mut half = server.connection().await;
    half.send("GET /health HTTP/1.1\r\nhost: ").await;
    let call = async {
        let id = [("mcp-session-id", &*session)];
        server
            .rpc("/mcp", &id, "tools/call", call_until_gate())
            .await
    };
    let ending = async {
        server.metric_is("calls_under_way", 1).await;
        server.terminate();
    };
    let (cut, ()) = tokio::join!(call, ending);
    assert_eq!(cut.json()["result"]["isError"], true, "{cut:?}");
    assert_eq!(server.exit_status().await.code(), Some(0));
    half.rest().await;
}
