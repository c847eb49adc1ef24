//! The connection of an open dashboard: messages and frames to the page, requests and input from it.

use super::{Site, Visitor};
use crate::dashboard::{Dashboard, Message as DashboardMessage};
use crate::transport::auth::Identity;
use crate::transport::listener::ConnectionSlot;
use crate::transport::upgrade::{WebSocket, WebSocketUpgrade};
use axum::response::Response;
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

/// The largest message of the page, in bytes.
const MAX_MESSAGE: usize = 64 * 1024;
/// How long the page may be silent, and how long sending a message may take.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);

/// Serves an open dashboard until it is closed, its login ends, or the server shuts down.
pub(super) fn serve(
    upgrade: WebSocketUpgrade,
    site: Arc<Site>,
    visitor: Visitor,
    place: ConnectionSlot,
) -> Response {
    upgrade.serve(MAX_MESSAGE, async move |socket| {
        converse(socket, &site, visitor).await;
        drop(place);
    })
}

async fn converse(socket: WebSocket, site: &Site, visitor: Visitor) {
    let Visitor {
        principal,
        until,
        ended,
    } = visitor;
    let (dashboard, mut view) = Dashboard::open(site.server.clone(), principal);
    let (mut sink, mut stream) = socket.split();
    let last_arrival = watch::Sender::new(Instant::now());
    let read = async {
        while let Some(Ok(message)) = stream.next().await {
            last_arrival.send_replace(Instant::now());
            match message {
                Message::Text(text) => dashboard.on_request(&text).await,
                Message::Close(_) => break,
                Message::Binary(bytes) => dashboard.on_contents(&bytes).await,
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    };
    let write = async {
        while let Some(message) = view.next().await {
            if last_arrival.borrow().elapsed() > SILENCE_TIMEOUT {
                return;
            }
            let message = match message {
                DashboardMessage::Text(text) => Message::Text(text.into()),
                DashboardMessage::Frame(jpeg) => Message::Binary(Bytes::from_owner(jpeg)),
                DashboardMessage::KeepAlive => Message::Ping(Bytes::new()),
            };
            match tokio::time::timeout(SILENCE_TIMEOUT, sink.send(message)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return,
            }
        }
    };
    tokio::select! {
        () = read => {}
        () = write => {}
        () = dashboard.execute_inputs() => {}
        () = Identity::expired(until) => {}
        () = ended.cancelled() => {}
        () = site.end.cancelled() => {}
    }
    dashboard.close().await;
}
