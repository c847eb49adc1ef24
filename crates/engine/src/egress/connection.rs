//! A connection of a browser to the egress proxy: its owner, and the destinations of its requests.

use super::Shared;
use super::dial::Failure;
use super::pool::PooledConnection;
use super::rules::Destination;
use super::throttle::Throttled;
use super::tunnel::{SchemeRules, Server, Tunnel};
use crate::error::NetError;
use crate::peer::is_same_user;
use bytes::Bytes;
use http::header::{CONNECTION, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{Either, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpStream;

/// How long a browser may take to send the head of its next request.
const IDLE_TIMEOUT: Duration = Duration::from_mins(5);

/// The limits of the head of a request or response, in bytes and in fields.
pub(super) const MAX_HEAD_BYTES: usize = 256 * 1024;
pub(super) const MAX_HEADERS: usize = 512;

pub(super) type Body = Either<Incoming, Empty<Bytes>>;

/// One connection of a browser.
pub(super) struct Connection {
    pub(super) shared: Arc<Shared>,
    /// The connection that forwarded its last request.
    pub(super) held: Mutex<Option<PooledConnection>>,
    /// The tunnel that follows the last response, if any.
    pub(super) tunnel: Mutex<Option<Tunnel>>,
}

/// Serves a connection until either side closes it.
pub(super) async fn serve(shared: Arc<Shared>, stream: TcpStream, peer: SocketAddr) {
    if !is_same_user(peer, shared.address) {
        tracing::warn!(%peer, "a connection of another user was closed");
        return;
    }
    // Otherwise small responses are delayed.
    let _ = stream.set_nodelay(true);
    let stream = Throttled::new(stream, shared.throttle.clone());
    let connection = Arc::new(Connection {
        shared,
        held: Mutex::default(),
        tunnel: Mutex::default(),
    });
    let service = service_fn(|request| {
        let connection = connection.clone();
        async move { connection.answer(request).await }
    });
    let serving = http1::Builder::new()
        .preserve_header_case(true)
        .title_case_headers(true)
        .auto_date_header(false)
        .max_headers(MAX_HEADERS)
        .max_header_size(MAX_HEAD_BYTES)
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    if let Err(error) = serving.await {
        tracing::debug!(%error, "a browser's connection was closed");
    }
    let tunnel = connection.tunnel.lock().expect("not poisoned").take();
    if let Some(tunnel) = tunnel
        && let Err(error) = tunnel.run(&connection.shared).await
    {
        tracing::debug!(%error, "a tunnel has ended");
    }
}

impl Connection {
    /// Handles a request. An error closes the connection without a response, which is a network failure for the page.
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Failure> {
        if *self.shared.offline.borrow() {
            return Err(Failure::new(NetError::InternetDisconnected, "offline"));
        }
        match *request.method() {
            Method::CONNECT => self.connect(request).await,
            _ => self.forward(request).await,
        }
    }

    /// Handles `CONNECT`: <https://www.rfc-editor.org/rfc/rfc9110#CONNECT>.
    async fn connect(&self, request: Request<Incoming>) -> Result<Response<Body>, Failure> {
        let authority = request.uri().authority();
        let destination = authority.and_then(|it| Destination::of_authority(it, None));
        let Some(destination) = destination else {
            return Ok(closing(StatusCode::BAD_REQUEST));
        };
        let rules = SchemeRules::of(&self.shared, &destination);
        let server = match rules.verdict()? {
            true => match self.shared.open(&destination).await {
                Ok(stream) => Server::Connected(stream, destination),
                Err(failure @ Failure::Refused(_)) => return Err(failure),
                Err(Failure::Failed { .. }) => return Ok(closing(StatusCode::BAD_GATEWAY)),
            },
            false => Server::Undecided(destination, rules),
        };
        *self.tunnel.lock().expect("not poisoned") = Some(Tunnel {
            browser: hyper::upgrade::on(request),
            server,
        });
        Ok(empty(StatusCode::OK))
    }
}

pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Either::Right(Empty::new()));
    *response.status_mut() = status;
    response
}

/// Returns a response after which the connection is closed.
pub(super) fn closing(status: StatusCode) -> Response<Body> {
    let mut response = empty(status);
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}
