//! The WebSocket that the extension connects to.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use subtle::ConstantTimeEq as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::http::header::{ORIGIN, USER_AGENT};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::tabs::{Messages, Tabs};
use super::transport::{self, text_of};
use crate::error::{ConnectFailure, Error, Result};
use crate::rpc::{Connection, EventStream};
use crate::transport::NoDelayStream;

/// The version of the protocol, a parameter of the page that the extension connects from.
pub const PROTOCOL_VERSION: u32 = 2;
/// How long a handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// A WebSocket on a free port of the loopback interface, for one extension.
pub struct ExtensionRelay {
    listener: TcpListener,
    address: SocketAddr,
    path: String,
    origin: String,
    admits: fn(SocketAddr, SocketAddr) -> bool,
}

/// A connection through the extension, with the queue of its browser-level events.
pub type ExtensionConnection = (Connection, EventStream);

/// The accepted WebSocket, and the `User-Agent` header of its browser.
type Accepted = (WebSocketStream<NoDelayStream>, String);

impl ExtensionRelay {
    /// Listens for the extension of that id. Its requests must have the secret in their path, which other users of the machine can read in
    /// the arguments of the browser: `admits` returns whether a connection from that client to that address is accepted.
    pub async fn start(
        extension: &str,
        secret: &str,
        admits: fn(SocketAddr, SocketAddr) -> bool,
    ) -> Result<Self> {
        let failed = |error: std::io::Error| connect_error(error.to_string());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(failed)?;
        Ok(Self {
            address: listener.local_addr().map_err(failed)?,
            listener,
            path: format!("/extension/{secret}"),
            origin: format!("chrome-extension://{extension}"),
            admits,
        })
    }

    /// Returns the URL that the extension must connect to.
    pub fn url(&self) -> String {
        format!("ws://{}{}", self.address, self.path)
    }

    /// Waits until the extension has connected and has given the tabs that the user chose. Nothing listens afterwards. In the background,
    /// no tab is activated.
    pub async fn accept(self, background: bool) -> Result<ExtensionConnection> {
        let (mut stream, user_agent) = self.first_handshake().await?;
        let mut tabs = Tabs::new(user_agent, background);
        let mut out = Messages::default();
        while !tabs.is_ready() {
            if let Some(text) = text_of(stream.next().await).map_err(connect_error)? {
                tabs.on_message(&text, &mut out);
            }
        }
        let (reader, writer, writing) = transport::open(stream, tabs, out);
        spawn(writing);
        Ok(Connection::start(reader, writer))
    }

    /// Returns the first WebSocket whose request is that of the extension.
    async fn first_handshake(&self) -> Result<Accepted> {
        let mut handshakes = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let (socket, peer) = accepted.map_err(|error| connect_error(error.to_string()))?;
                    if !(self.admits)(peer, self.address) {
                        tracing::warn!(%peer, "a connection of another user was closed");
                        continue;
                    }
                    // A client that sends nothing delays no other.
                    handshakes.push(tokio::time::timeout(HANDSHAKE_TIMEOUT, self.handshake(socket)));
                }
                Some(done) = handshakes.next() => {
                    if let Ok(Some(accepted)) = done {
                        return Ok(accepted);
                    }
                }
            }
        }
    }

    async fn handshake(&self, socket: TcpStream) -> Option<Accepted> {
        let mut user_agent = String::new();
        #[expect(
            clippy::result_large_err,
            reason = "the signature of tungstenite's callback"
        )]
        let check = |request: &Request, response: Response| {
            let header = |name| {
                let value = request.headers().get(name)?;
                Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
            };
            let status = self.check(request.uri().path(), header(ORIGIN).as_deref());
            if status != StatusCode::SWITCHING_PROTOCOLS {
                let mut refusal = ErrorResponse::new(None);
                *refusal.status_mut() = status;
                return Err(refusal);
            }
            user_agent = header(USER_AGENT).unwrap_or_default();
            Ok(response)
        };
        // Complete DOMs and screenshots are single messages.
        let config = WebSocketConfig::default()
            .max_message_size(None)
            .max_frame_size(None);
        let socket = NoDelayStream::new(socket);
        let accepted =
            tokio_tungstenite::accept_hdr_async_with_config(socket, check, Some(config)).await;
        match accepted {
            Ok(stream) => Some((stream, user_agent)),
            Err(error) => {
                tracing::warn!(%error, "a connection to the relay of the extension was refused");
                None
            }
        }
    }

    /// Returns the status of the response to a request. The path is compared in constant time, because it contains the secret.
    fn check(&self, path: &str, origin: Option<&str>) -> StatusCode {
        if !bool::from(path.as_bytes().ct_eq(self.path.as_bytes())) {
            return StatusCode::NOT_FOUND;
        }
        match origin == Some(&self.origin) {
            true => StatusCode::SWITCHING_PROTOCOLS,
            false => StatusCode::FORBIDDEN,
        }
    }
}

fn connect_error(message: String) -> Error {
    Error::Connect {
        endpoint: "the browser extension".to_owned(),
        cause: ConnectFailure::Extension(message),
    }
}

/// Starts the task that writes to the WebSocket. It ends with the connection.
#[expect(
    clippy::disallowed_methods,
    reason = "the connection owns the queue that the task reads"
)]
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

    async fn is_accepted(admits: fn(SocketAddr, SocketAddr) -> bool) -> bool {
        let relay = ExtensionRelay::start("abc", "secret", admits);
        let relay = relay.await.expect("a port");
        let mut request = relay.url().into_client_request().expect("a URL");
        let origin = "chrome-extension://abc".parse().expect("a header");
        request.headers_mut().insert(ORIGIN, origin);
        let stream = TcpStream::connect(relay.address).await.expect("it listens");
        let connecting = tokio_tungstenite::client_async(request, stream);
        tokio::select! {
            connected = connecting => connected.is_ok(),
            accepted = relay.first_handshake() => accepted.is_ok(),
        }
    }

    #[tokio::test]
    async fn a_connection_of_another_user_is_closed() {
        assert!(is_accepted(|_, _| true).await);
        assert!(!is_accepted(|_, _| false).await);
    }
}
