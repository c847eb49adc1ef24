//! The graceful shutdown of a server over HTTP: calls are finished, streams end, and no processes remain.

use crate::{call_until_released, fake_launch, held_page};
use serde_json::json;
use testkit::{Connection, HttpAnswer, HttpServer, Site, WebSocketClient, eventually};

/// Opens an event stream at that path.
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

/// A server, its site, and a session whose page is [`held_page`]'s.
async fn gated() -> (HttpServer, Site, String) {
    let server = HttpServer::start(fake_launch(&[])).await;
    let site = Site::start().await;
    let session = server.begin_session().await;
    server.navigate(Some(&session), &held_page(&site)).await;
    (server, site, session)
}

/// Returns the result of the call that waits for the gate.
async fn called(server: &HttpServer, session: &str) -> HttpAnswer {
    let id = [("mcp-session-id", session)];
    server
        .rpc("/mcp", &id, "tools/call", call_until_released())
        .await
}

/// Waits until new requests are rejected.
async fn refuses(server: &HttpServer) {
    eventually(async || server.ask("GET", "/health", &[], "").await.status == 503).await;
}

#[testkit::test]
async fn a_server_completes_its_calls_before_it_exits() {
    let (mut server, site, session) = gated().await;
    #[cfg(target_os = "linux")]
    let pid = server.process().pid().expect("it runs");
    let mut streams = [
        stream(&server, "/mcp", &session).await,
        stream(&server, "/sse", "").await,
    ];
    let mut socket = WebSocketClient::start(&server.web_socket()).await;
    socket.navigate(&site.url("/gated")).await;
    let mut idle = WebSocketClient::start(&server.web_socket()).await;
    #[cfg(target_os = "linux")]
    let processes = testkit::Processes::from(pid);

    socket.begin(1, "tools/call", call_until_released()).await;
    let ending = async {
        server.metric_is("tool_calls_in_progress", 2).await;
        server.terminate();
        // New requests are rejected, and running calls continue.
        refuses(&server).await;
        idle.begin(2, "tools/call", call_until_released()).await;
        let refused = idle.answer(&json!(2)).await;
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        site.add_page("/gate", "");
        socket.answer(&json!(1)).await
    };
    let (answered, over_socket) = tokio::join!(called(&server, &session), ending);
    assert_eq!(answered.status, 200);
    for answer in [answered.json(), over_socket] {
        assert!(answer["result"].to_string().contains("open"), "{answer}");
    }
    for stream in &mut streams {
        stream.rest().await;
    }
    for socket in [&mut socket, &mut idle] {
        assert_eq!(
            socket.closing().await,
            (1001, "the server is shutting down".to_owned())
        );
    }
    assert_eq!(server.exit_status().await.code(), Some(0));
    #[cfg(target_os = "linux")]
    processes.gone().await;
}

#[testkit::test]
async fn a_second_signal_ends_the_server_at_once() {
    let (mut server, _site, session) = gated().await;
    let ending = async {
        server.metric_is("tool_calls_in_progress", 1).await;
        server.terminate();
        refuses(&server).await;
        server.terminate();
    };
    let (cut, ()) = tokio::join!(called(&server, &session), ending);
    assert_eq!(cut.json()["result"]["isError"], true, "{cut:?}");
    assert_eq!(server.exit_status().await.code(), Some(0));
}

#[testkit::test]
async fn slow_calls_and_stalled_clients_do_not_delay_shutdown() {
    let (mut server, _site, session) = gated().await;
    let mut half = server.connection().await;
    half.send("GET /health HTTP/1.1\r\nhost: ").await;
    let ending = async {
        server.metric_is("tool_calls_in_progress", 1).await;
        server.terminate();
    };
    let (cut, ()) = tokio::join!(called(&server, &session), ending);
    assert_eq!(cut.json()["result"]["isError"], true, "{cut:?}");
    assert_eq!(server.exit_status().await.code(), Some(0));
    half.rest().await;
}
