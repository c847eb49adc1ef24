use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use super::{evaluate, loads};
use crate::{ConnectFailure, Connection, Error};

const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Starts a WebSocket server for one connection; returns the headers of the request.
async fn websocket_server() -> (
    String,
    impl Future<
        Output = (
            tokio_tungstenite::WebSocketStream<tokio::net::TcpStream>,
            Request,
        ),
    >,
) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accept = async move {
        let (socket, _) = listener.accept().await.unwrap();
        let mut asked = None;
        #[expect(
            clippy::result_large_err,
            reason = "the callback's type is the crate's"
        )]
        let callback = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
            asked = Some(request.clone());
            Ok(response)
        };
        let stream = tokio_tungstenite::accept_hdr_async(socket, callback)
            .await
            .unwrap();
        (stream, asked.unwrap())
    };
    (address.to_string(), accept)
}

#[tokio::test]
async fn a_websocket_transports_calls_events_and_big_messages() {
    let (address, accept) = websocket_server().await;
    let url = format!("ws://agent:s%20cret@{address}/devtools/browser/1");
    let headers = [("X-Token".to_owned(), "abc".to_owned())];
    let (connected, (mut server, asked)) =
        tokio::join!(Connection::websocket(&url, &headers, TEST_TIMEOUT), accept);
    let (connection, mut events) = connected.unwrap();
    assert_eq!(asked.uri().path(), "/devtools/browser/1");
    assert_eq!(asked.headers()["x-token"], "abc");
    assert_eq!(asked.headers()["host"], address);
    // agent:s cret
    assert_eq!(asked.headers()["authorization"], "Basic YWdlbnQ6cyBjcmV0");

    let reply = connection.session("S").send(&evaluate("big"));
    let command = server.next().await.unwrap().unwrap().into_text().unwrap();
    let command: Value = serde_json::from_str(&command).unwrap();
    assert_eq!(command["sessionId"], "S");
    let event = json!({ "method": "Page.loadEventFired", "params": { "timestamp": 1 } });
    server.send(Message::text(event.to_string())).await.unwrap();
    let big = "x".repeat(80 * 1024 * 1024);
    let result = json!({ "result": { "type": "string", "value": big } });
    let answer = json!({ "id": command["id"], "result": result }).to_string();
    let (sent, answered) = tokio::join!(server.send(Message::text(answer)), reply);
    sent.unwrap();
    assert_eq!(answered.unwrap().result.decode::<String>().unwrap(), big);
    assert_eq!(loads(&mut events), [(String::new(), 1.0)]);

    let reply = connection.root().send(&evaluate("1"));
    let close = CloseFrame {
        code: 1001.into(),
        reason: "going away".into(),
    };
    server.close(Some(close)).await.unwrap();
    let error = reply.await.unwrap_err();
    assert!(
        error.to_string().contains("code 1001: going away"),
        "{error}"
    );
}

#[tokio::test]
async fn a_refused_connection_names_host_and_port() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("ws://user:secret@{address}/");
    match Connection::websocket(&url, &[], TEST_TIMEOUT).await {
        Err(error @ Error::Connect { .. }) => {
            assert_eq!(error.to_string(), format!("connect ECONNREFUSED {address}"));
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
        other => panic!("{:?}", other.map(|_| ())),
    }
}

#[tokio::test]
async fn a_server_without_websocket_is_reported_with_its_status() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let serve = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let byte = tokio::io::AsyncReadExt::read_u8(&mut socket).await.unwrap();
            request.push(byte);
        }
        let answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\n\r\nno entry!";
        socket.write_all(answer.as_bytes()).await.unwrap();
        socket
    };
    let (connected, _socket) = tokio::join!(Connection::websocket(&url, &[], TEST_TIMEOUT), serve);
    match connected.map(|_| ()) {
        Err(Error::Connect {
            cause: ConnectFailure::Status { status: 403, .. },
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_respond_times_out() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    match Connection::websocket(&url, &[], TEST_TIMEOUT)
        .await
        .map(|_| ())
    {
        Err(Error::Connect {
            cause: ConnectFailure::Timeout { after },
            ..
        }) => assert_eq!(after, TEST_TIMEOUT),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn invalid_websocket_urls_are_refused() {
    for url in ["http://127.0.0.1:1/", "ws://", "nonsense", ""] {
        match Connection::websocket(url, &[], TEST_TIMEOUT)
            .await
            .map(|_| ())
        {
            Err(Error::Connect {
                cause: ConnectFailure::Invalid(_),
                ..
            }) => {}
            other => panic!("{url}: {other:?}"),
        }
    }
}
