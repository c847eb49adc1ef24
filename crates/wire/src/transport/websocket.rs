//! The transport of frames as WebSocket text messages, `ws://` and `wss://`.

use std::time::Duration;

use base64::Engine as _;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::protocol::{Message, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error as WebSocketError};

use super::address::{credentials, excerpt, tcp, tls, without_credentials};
use super::{Incoming, Outgoing};
use crate::error::{ConnectFailure, Error};

trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Socket for S {}

type Stream = WebSocketStream<Box<dyn Socket>>;

/// Connects; `timeout` includes everything from name resolution to the handshake.
pub(crate) async fn connect(
    url: &str,
    headers: &[(String, String)],
    timeout: Duration,
) -> Result<(Reader, Writer), Error> {
    let connected = async {
        match tokio::time::timeout(timeout, handshake(url, headers)).await {
            Ok(connected) => connected,
            Err(_) => Err(ConnectFailure::Timeout { after: timeout }),
        }
    };
    let stream = connected.await.map_err(|cause| Error::Connect {
        endpoint: without_credentials(url),
        cause,
    })?;
    let (sink, stream) = stream.split();
    Ok((
        Reader {
            stream,
            frame: Bytes::new(),
        },
        Writer { sink },
    ))
}

async fn handshake(url: &str, headers: &[(String, String)]) -> Result<Stream, ConnectFailure> {
    let request = request(url, headers)?;
    let secure = match request.uri().scheme_str() {
        Some("ws") => false,
        Some("wss") => true,
        _ => {
            return Err(ConnectFailure::Invalid(format!(
                "{url}: not ws:// or wss://"
            )));
        }
    };
    let host = request.uri().host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = request
        .uri()
        .port_u16()
        .unwrap_or(if secure { 443 } else { 80 });
    let socket = tcp(host, port).await?;
    let socket: Box<dyn Socket> = match secure {
        true => Box::new(tls(host, socket).await?),
        false => Box::new(socket),
    };
    // Complete DOMs and screenshots are single messages.
    let config = WebSocketConfig::default()
        .max_message_size(None)
        .max_frame_size(None);
    let handshake = tokio_tungstenite::client_async_with_config(request, socket, Some(config));
    match Box::pin(handshake).await {
        Ok((stream, _)) => Ok(stream),
        Err(WebSocketError::Http(response)) => Err(ConnectFailure::Status {
            status: response.status().as_u16(),
            body: excerpt(response.body().as_deref().unwrap_or_default()),
        }),
        Err(error) => Err(ConnectFailure::Handshake(error.to_string())),
    }
}

/// Creates the upgrade request, with the given headers, and the URL's user name as Basic credentials.
fn request(url: &str, headers: &[(String, String)]) -> Result<Request, ConnectFailure> {
    let mut request = url.into_client_request().map_err(|error| {
        ConnectFailure::Invalid(format!("{}: {error}", without_credentials(url)))
    })?;
    if let Some(credentials) = credentials(url) {
        let encoded = base64::engine::general_purpose::STANDARD.encode(credentials);
        let value = HeaderValue::try_from(format!("Basic {encoded}"))
            .map_err(|error| ConnectFailure::Invalid(error.to_string()))?;
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    for (name, value) in headers {
        let invalid = |error: &dyn std::fmt::Display| {
            ConnectFailure::Invalid(format!("header {name:?}: {error}"))
        };
        request.headers_mut().insert(
            HeaderName::try_from(name).map_err(|error| invalid(&error))?,
            HeaderValue::try_from(value).map_err(|error| invalid(&error))?,
        );
    }
    Ok(request)
}

/// The receiving half of a WebSocket.
pub(crate) struct Reader {
    stream: SplitStream<Stream>,
    frame: Bytes,
}

impl Incoming for Reader {
    async fn next(&mut self) -> Result<&[u8], String> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => self.frame = text.into(),
                Some(Ok(Message::Binary(bytes))) => self.frame = bytes,
                Some(Ok(Message::Close(Some(close)))) => {
                    let reason = match &*close.reason {
                        "" => String::new(),
                        reason => format!(": {reason}"),
                    };
                    let code = u16::from(close.code);
                    return Err(format!(
                        "the browser closed the WebSocket (code {code}{reason})"
                    ));
                }
                Some(Ok(Message::Close(None))) | None => {
                    return Err("the browser closed the WebSocket".into());
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Err(error)) => return Err(format!("the WebSocket broke: {error}")),
            }
            return Ok(&self.frame);
        }
    }
}

/// The sending half of a WebSocket.
pub(crate) struct Writer {
    sink: SplitSink<Stream, Message>,
}

impl Outgoing for Writer {
    async fn send(&mut self, frames: &mut Vec<String>) -> Result<(), String> {
        let sent = async {
            for frame in frames.drain(..) {
                self.sink.feed(Message::text(frame)).await?;
            }
            self.sink.flush().await
        };
        sent.await
            .map_err(|error: WebSocketError| format!("the WebSocket broke: {error}"))
    }

    async fn close(&mut self) {
        // An error means that the browser has disconnected.
        let _ = self.sink.close().await;
    }
}
