//! The WebSocket transport: one message per frame in both directions, with the subprotocol `mcp`.

use super::listener::ConnectionSlot;
use super::request_policy::RequestPolicy;
use super::upgrade::{WebSocket, WebSocketUpgrade};
use crate::server::Server;
use crate::transport::auth::Identity;
use crate::transport::mcp;
use axum::response::Response;
use futures_util::{SinkExt as _, StreamExt as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_util::sync::CancellationToken;

/// The interval between pings.
const PING_INTERVAL: Duration = Duration::from_secs(20);

/// How long the closing handshake may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a client may be silent, and how long sending a message may take.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);

/// Serves a client until it disconnects, is silent for too long, or the server shuts down.
pub(crate) fn serve(
    upgrade: WebSocketUpgrade,
    largest: usize,
    policy: Arc<RequestPolicy>,
    server: Arc<Server>,
    identity: Identity,
    place: ConnectionSlot,
    end: CancellationToken,
) -> Response {
    upgrade
        .with_protocol("mcp")
        .serve(largest, async move |socket| {
            converse(socket, policy, server, identity, &place, end).await;
            drop(place);
        })
}

async fn converse(
    socket: WebSocket,
    policy: Arc<RequestPolicy>,
    server: Arc<Server>,
    identity: Identity,
    place: &ConnectionSlot,
    end: CancellationToken,
) {
    let host = identity.host().to_owned();
    let Identity {
        principal, until, ..
    } = identity;
    let caller = server.connected_caller(principal.clone(), Arc::default());
    let (feed, mut outbox, connection) = mcp::connection(server, caller, Some(host));
    let serving = task::spawn("WebSocket client", connection);
    let (mut sink, mut stream) = socket.split();
    let heard = watch::Sender::new(Instant::now());
    let read = async {
        while let Some(message) = stream.next().await {
            let message = match message {
                Ok(message) => message,
                Err(error) => {
                    place.linger();
                    return complaint(&error);
                }
            };
            heard.send_replace(Instant::now());
            let text = match &message {
                Message::Text(text) => text.as_bytes(),
                Message::Binary(bytes) => bytes,
                Message::Close(_) => break,
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
            };
            policy.pace(&principal).await;
            if feed.text(text).await.is_err() {
                break;
            }
        }
        None
    };
    let write = async {
        let mut ping = tokio::time::interval(PING_INTERVAL);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let message = tokio::select! {
                message = outbox.recv() => match message {
                    Some(message) => Message::Text(message.into()),
                    None => return None,
                },
                _ = ping.tick() => Message::Ping(Default::default()),
            };
            if heard.borrow().elapsed() > SILENCE_TIMEOUT {
                return None;
            }
            match tokio::time::timeout(SILENCE_TIMEOUT, sink.send(message)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return None,
            }
        }
    };
    let farewell = tokio::select! {
        farewell = read => farewell,
        farewell = write => farewell,
        () = Identity::expired(until) => Some(CloseFrame {
            code: CloseCode::Policy,
            reason: "the access token has expired".into(),
        }),
        () = end.cancelled() => Some(CloseFrame {
            code: CloseCode::Away,
            reason: "the server is shutting down".into(),
        }),
    };
    drop(feed);
    let goodbye = async {
        // The client receives the remaining messages.
        if farewell.is_some() {
            while let Some(message) = outbox.recv().await {
                sink.send(Message::Text(message.into())).await?;
            }
        }
        Ok::<_, Error>(())
    };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, goodbye).await;
    let goodbye = async {
        sink.send(Message::Close(farewell)).await?;
        while stream.next().await.transpose()?.is_some() {}
        Ok::<_, Error>(())
    };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, goodbye).await;
    // Cancels the calls of the client.
    drop(outbox);
    serving.ended().await;
}

/// Returns the close frame for a protocol error; `None` if the client has disconnected.
fn complaint(error: &Error) -> Option<CloseFrame> {
    let (code, reason) = match error {
        Error::Capacity(_) => {
            let reason = "the message is too large (--max-request-size)";
            (CloseCode::Size, reason)
        }
        Error::Utf8(_) => (CloseCode::Invalid, "text is UTF-8"),
        Error::Protocol(_) => (CloseCode::Protocol, "not a WebSocket frame"),
        _ => return None,
    };
    Some(CloseFrame {
        code,
        reason: reason.into(),
    })
}
