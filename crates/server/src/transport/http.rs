//! The HTTP endpoints, and the checks that every request passes first.

use super::dashboard;
use super::handover;
use super::listener::ConnectionSlot;
use super::request_policy::{RequestPolicy, cors};
use super::sse::Streams;
use super::upgrade::WebSocketUpgrade;
use super::websocket;
use crate::access::principal::{Permission, Principal};
use crate::config::HttpSettings;
use crate::server::Server;
use crate::telemetry::metrics::MEDIA_TYPE;
use crate::telemetry::{REQUEST_ID, RequestId};
use crate::transport::auth::{self, AuthError, Authenticator, Identity, RequestTarget};
use crate::transport::mcp::{self, Answer, Streamable};
use axum::body::{Body, HttpBody};
use axum::extract::{Extension, Query, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use bytes::{Bytes, BytesMut};
use http::{HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Frame, SizeHint};
use serde::Deserialize;
use serde_json::json;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// How long the body of a request may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The state that all endpoints share.
pub(crate) struct Site {
    server: Arc<Server>,
    streamable: Streamable,
    streams: Streams,
    policy: Arc<RequestPolicy>,
    authenticator: Arc<Authenticator>,
    largest: usize,
    /// The responses that are not sent completely.
    answers: TaskTracker,
    /// Cancelled when no new requests are accepted.
    stop: CancellationToken,
    /// Cancelled when streams and connections must end.
    end: CancellationToken,
}

/// The steps of a graceful shutdown.
#[derive(Clone, Default)]
pub(crate) struct Ending {
    /// No new requests are accepted.
    pub(crate) stop: CancellationToken,
    /// The responses to POST requests that are not sent completely.
    pub(crate) answers: TaskTracker,
    /// Streams and connections end.
    pub(crate) end: CancellationToken,
}

/// Returns the router of everything that is served at `address` to clients that `authenticator` accepts.
pub(crate) fn router(
    server: Arc<Server>,
    settings: &HttpSettings,
    address: SocketAddr,
    authenticator: Authenticator,
    Ending { stop, answers, end }: Ending,
) -> Router {
    let policy = Arc::new(RequestPolicy::new(settings, address));
    let authenticator = Arc::new(authenticator);
    let handovers = server.handovers().clone();
    let dashboard = match server.has_dashboard() {
        true => dashboard::pages(
            server.clone(),
            policy.clone(),
            authenticator.clone(),
            address,
            settings.tls.is_some(),
            end.clone(),
        ),
        false => Router::new(),
    };
    let site = Arc::new(Site {
        streamable: Streamable::new(&server, settings, end.clone()),
        server,
        streams: Streams::default(),
        policy: policy.clone(),
        authenticator,
        largest: settings.max_request,
        answers,
        stop,
        end,
    });
    let known = Router::new()
        .route("/", any(streamable))
        .route("/mcp", any(streamable))
        .route("/message", any(message))
        .route("/sse", get(sse).post(sse_post).fallback(no_such_method))
        .route("/ws", any(web_socket))
        .route("/metrics", get(metrics))
        .layer(middleware::from_fn_with_state(site.clone(), known));
    Router::new()
        .merge(known)
        .route("/health", get(health))
        .merge(handover::pages(handovers))
        .merge(dashboard)
        .route(auth::METADATA, get(metadata))
        .route(&format!("{}/{{*path}}", auth::METADATA), get(metadata))
        .layer(middleware::from_fn_with_state(policy, cors))
        .layer(middleware::from_fn_with_state(site.clone(), admit))
        .layer(middleware::from_fn(identify))
        .with_state(site)
}

/// Gives each request an identifier, which its response and its log lines have.
async fn identify(mut request: Request, next: Next) -> Response {
    let id = RequestId::of_headers(request.headers());
    let header = id.header();
    request.extensions_mut().insert(id);
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.extend(header.map(|id| (REQUEST_ID, id)));
    response
}

/// Checks each request against the request policy, and rejects all during shutdown.
async fn admit(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    if let Err(refusal) = site.policy.check(request.uri(), request.headers()) {
        return *refusal;
    }
    if site.stop.is_cancelled() {
        let retry = [(header::RETRY_AFTER, HeaderValue::from_static("1"))];
        return (
            StatusCode::SERVICE_UNAVAILABLE,
            retry,
            "The server is shutting down",
        )
            .into_response();
    }
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let token = site.answers.token();
    let answer = next.run(request).await;
    answer.map(|body| {
        Body::new(Tracked {
            body,
            _token: token,
        })
    })
}

/// A body that is tracked until it is sent completely.
struct Tracked {
    body: Body,
    _token: TaskTrackerToken,
}

impl HttpBody for Tracked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Authenticates requests to protected endpoints, and applies the rate limit.
async fn known(State(site): State<Arc<Site>>, mut request: Request, next: Next) -> Response {
    let asked = RequestTarget::at(request.uri().path(), request.uri(), request.headers());
    let identity = match site.authenticator.identify(asked, request.headers()).await {
        Ok(identity) => identity,
        // The rate limit also applies to attempts to guess keys.
        Err(denied) => {
            return match site.policy.count(&Principal::anonymous()) {
                Ok(()) => refused(&denied),
                Err(refusal) => *refusal,
            };
        }
    };
    if let Err(refusal) = site.policy.count(&identity.principal) {
        return *refusal;
    }
    if let Some(place) = request.extensions().get::<ConnectionSlot>() {
        place.on_authenticated();
    }
    // No code after this needs the credentials, so it cannot disclose them.
    auth::forget(request.headers_mut());
    request.extensions_mut().insert(identity.principal.clone());
    request.extensions_mut().insert(identity);
    next.run(request).await
}

fn refused(denied: &AuthError) -> Response {
    denied.response().map(Body::from)
}

impl Site {
    /// Rejects a call that needs a token with more scopes than that of the request.
    fn allow(&self, identity: Option<&Identity>, body: &[u8]) -> Result<(), Box<Response>> {
        let Some(identity) =
            identity.filter(|identity| identity.principal.permission() < Permission::Admin)
        else {
            return Ok(());
        };
        let Some(tool) = mcp::tool_called(body) else {
            return Ok(());
        };
        let needed = self.server.permission_for(&tool);
        let allowed = self.authenticator.allow(identity, &tool, needed);
        allowed.map_err(|denied| Box::new(refused(&denied)))
    }
}

/// The metadata that OAuth clients read before they request a token.
async fn metadata(State(site): State<Arc<Site>>, request: Request) -> Response {
    let path = request.uri().path();
    let path = path.strip_prefix(auth::METADATA).unwrap_or_default();
    let asked = RequestTarget::at(path, request.uri(), request.headers());
    match site.authenticator.metadata(&asked) {
        Some(metadata) => Json(metadata).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// `/mcp`.
async fn streamable(
    State(site): State<Arc<Site>>,
    Extension(identity): Extension<Identity>,
    request: Request,
) -> Response {
    let request = match whole(&site, request).await {
        Ok(request) => request,
        Err(refusal) => return *refusal,
    };
    let has_no_end = mcp::has_no_end(&request);
    let Identity {
        principal, until, ..
    } = identity;
    let answer = opened(site.streamable.answer(principal, request).await);
    match has_no_end {
        true => answer.map(|body| {
            Body::new(Until {
                body,
                over: Box::pin(Identity::expired(until)),
            })
        }),
        false => answer,
    }
}

/// A body that ends when the credentials of its client expire.
struct Until {
    body: Body,
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HttpBody for Until {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.over.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => Pin::new(&mut self.body).poll_frame(context),
        }
    }
}

/// `/message`: one request and one response, without a session.
async fn message(
    State(site): State<Arc<Site>>,
    Extension(principal): Extension<Principal>,
    mut request: Request,
) -> Response {
    // Clients that do not send the `Accept` header of MCP get JSON.
    let both = HeaderValue::from_static("application/json, text/event-stream");
    request.headers_mut().insert(header::ACCEPT, both);
    match whole(&site, request).await {
        Ok(request) => opened(site.streamable.answer_stateless(principal, request).await),
        Err(refusal) => *refusal,
    }
}

fn opened(answer: Answer) -> Response {
    answer.map(Body::new)
}

/// Returns the request with its complete body, or the response to an invalid message.
async fn whole(site: &Site, request: Request) -> Result<Request<Full<Bytes>>, Box<Response>> {
    let (parts, body) = request.into_parts();
    let mut body = read(body, site.largest).await?;
    let is_json = parts
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.to_ascii_lowercase().starts_with("application/json"));
    if parts.method == Method::POST && is_json {
        body = match mcp::body(body) {
            mcp::Body::Message(message) => message,
            mcp::Body::Nothing => return Err(Box::new(StatusCode::ACCEPTED.into_response())),
            mcp::Body::Refused(refusal) => {
                let json = [(header::CONTENT_TYPE, "application/json")];
                let refusal = (StatusCode::BAD_REQUEST, json, refusal);
                return Err(Box::new(refusal.into_response()));
            }
        };
    }
    site.allow(parts.extensions.get(), &body)?;
    Ok(Request::from_parts(parts, Full::new(body)))
}

async fn read(body: Body, largest: usize) -> Result<Bytes, Box<Response>> {
    let refusal = |status: StatusCode, message: String| {
        let close = [(header::CONNECTION, "close")];
        Box::new((status, close, message).into_response())
    };
    match tokio::time::timeout(BODY_TIMEOUT, collected(body, largest)).await {
        Ok(Ok(Some(body))) => Ok(body),
        Ok(Ok(None)) => Err(refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("Request body exceeds {largest} bytes (--max-request-size)"),
        )),
        Ok(Err(error)) => Err(refusal(StatusCode::BAD_REQUEST, error.to_string())),
        Err(_) => Err(refusal(
            StatusCode::REQUEST_TIMEOUT,
            format!(
                "Timed out reading the request body after {} s",
                BODY_TIMEOUT.as_secs()
            ),
        )),
    }
}

/// Reads a complete body; `None` if it is larger than the limit.
async fn collected(mut body: Body, largest: usize) -> Result<Option<Bytes>, axum::Error> {
    let mut whole = BytesMut::new();
    let mut size = 0;
    // A client that is still sending when the connection closes does not receive the response: so the rest is read, up to a limit.
    while let Some(frame) = body.frame().await
        && size < largest.saturating_mul(4)
    {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        size += data.len();
        match size <= largest {
            true => whole.extend_from_slice(&data),
            false => whole = BytesMut::new(),
        }
    }
    Ok((size <= largest).then(|| whole.freeze()))
}

/// `GET /sse`.
async fn sse(State(site): State<Arc<Site>>, Extension(identity): Extension<Identity>) -> Response {
    site.streams.begin(&site.server, identity, site.end.clone())
}

async fn no_such_method() -> Response {
    let allow = [(header::ALLOW, "GET, POST")];
    (StatusCode::METHOD_NOT_ALLOWED, allow, "Method not allowed").into_response()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Posted {
    session_id: Option<String>,
}

/// `POST /sse?sessionId=…`.
async fn sse_post(
    State(site): State<Arc<Site>>,
    Extension(principal): Extension<Principal>,
    Extension(identity): Extension<Identity>,
    Query(posted): Query<Posted>,
    request: Request,
) -> Response {
    match read(request.into_body(), site.largest).await {
        Ok(body) => {
            if let Err(refusal) = site.allow(Some(&identity), &body) {
                return *refusal;
            }
            let id = posted.session_id.as_deref();
            site.streams.post(&principal, id, &body).await
        }
        Err(refusal) => *refusal,
    }
}

/// `/ws`.
async fn web_socket(
    State(site): State<Arc<Site>>,
    Extension(identity): Extension<Identity>,
    Extension(place): Extension<ConnectionSlot>,
    upgrade: WebSocketUpgrade,
) -> Response {
    websocket::serve(
        upgrade,
        site.largest,
        site.policy.clone(),
        site.server.clone(),
        identity,
        place,
        site.end.clone(),
    )
}

/// `/health`: for monitoring. It discloses no data of clients.
async fn health(State(site): State<Arc<Site>>) -> impl IntoResponse {
    let health_stats = site.server.health_stats();
    Json(json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "browsers": health_stats.browsers,
        "sessions": health_stats.sessions,
        "uptime": health_stats.uptime.as_secs(),
    }))
}

/// `/metrics`: the text format of OpenMetrics, which Prometheus reads.
async fn metrics(State(site): State<Arc<Site>>) -> impl IntoResponse {
    let kind = [(header::CONTENT_TYPE, MEDIA_TYPE)];
    (kind, site.server.metrics(site.streamable.sessions()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_not_waited_for() {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let refused = read(Body::from_stream(never), 10).await.unwrap_err();
        assert_eq!(refused.status(), StatusCode::REQUEST_TIMEOUT);
    }
}
