//! MCP over HTTP: with MCP sessions in revisions up to 2025-11-25, and without in 2026-07-28.
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>

mod events;
mod pump;
mod sessions;
mod watched;

use super::connection::Connection;
use super::text;
use crate::access::principal::Principal;
use crate::config::HttpSettings;
use crate::server::Server;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use sessions::HttpSessions;
pub(super) use sessions::{ClientState, ClientStatus};
use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

/// The header that names an MCP session.
const SESSION: &str = "mcp-session-id";

/// A response, which may be a stream of events.
pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The two endpoints.
#[derive(Clone)]
pub(crate) struct Streamable {
    sessions: Arc<HttpSessions>,
    with_sessions: StreamableHttpService<Connection, HttpSessions>,
    without: StreamableHttpService<Connection, NeverSessionManager>,
}

impl Streamable {
    /// Creates the endpoints, whose streams and sessions end with `end`.
    pub(crate) fn new(
        server: &Arc<Server>,
        settings: &HttpSettings,
        end: CancellationToken,
    ) -> Self {
        let sessions = HttpSessions::new(settings.client_timeout);
        let config = StreamableHttpServerConfig::default()
            // The request policy checks both headers for every endpoint.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(settings.max_request)
            .with_cancellation_token(end);
        let connection = |server: &Arc<Server>| {
            let server = server.clone();
            move || Ok(Connection::over_http(server.clone()))
        };
        Self {
            with_sessions: StreamableHttpService::new(
                connection(server),
                sessions.clone(),
                config.clone(),
            ),
            without: StreamableHttpService::new(
                connection(server),
                Arc::default(),
                config
                    .with_legacy_session_mode(false)
                    .with_json_response(true),
            ),
            sessions,
        }
    }

    /// Handles a request of `principal`, which may name an MCP session.
    pub(crate) async fn answer(
        &self,
        principal: Principal,
        mut request: Request<Full<Bytes>>,
    ) -> Answer {
        if request.method() == http::Method::GET && !accepts_events(request.headers()) {
            return match session_of(request.headers()) {
                Some(_) => not_acceptable(),
                None => plain(StatusCode::BAD_REQUEST, "Invalid request"),
            };
        }
        let named = session_of(request.headers()).map(str::to_owned);
        let deleted = request.method() == http::Method::DELETE;
        if let Some(id) = &named {
            let owner = self.sessions.owner(id);
            let is_unknown = owner.as_ref().map_or(deleted, |owner| *owner != principal);
            if is_unknown {
                return plain(StatusCode::NOT_FOUND, "Session not found");
            }
        }
        if resumed_of(request.headers()).is_some_and(|id| {
            let owner = self.sessions.owner(id);
            owner.is_none_or(|owner| owner != principal)
        }) {
            return plain(StatusCode::NOT_FOUND, "Session not found");
        }
        request.extensions_mut().insert(principal.clone());
        match &named {
            Some(id) => {
                let line = self.sessions.line(id);
                line.has_ended().fetch_or(deleted, Ordering::Relaxed);
                request.extensions_mut().insert(line);
            }
            None if !self.sessions.make_room(&principal).await => {
                return plain(
                    StatusCode::TOO_MANY_REQUESTS,
                    "Too many MCP sessions are active",
                );
            }
            None => {}
        }
        let calls_tool = calls_tool(request.headers());
        let mut service = self.with_sessions.clone();
        let Ok(mut answer) = service.call(request).await;
        if calls_tool {
            found(&mut answer);
        }
        match session_of(answer.headers()) {
            Some(id) if named.is_none() => self.sessions.set_owner(id, &principal),
            _ => {}
        }
        if deleted && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::OK;
        }
        answer
    }

    /// Handles a single request without an MCP session, with a JSON response if that is complete.
    pub(crate) async fn answer_stateless(
        &self,
        principal: Principal,
        mut request: Request<Full<Bytes>>,
    ) -> Answer {
        request.headers_mut().remove(SESSION);
        request.extensions_mut().insert(principal);
        let calls_tool = calls_tool(request.headers());
        let mut service = self.without.clone();
        let Ok(mut answer) = service.call(request).await;
        if calls_tool {
            found(&mut answer);
        }
        answer
    }

    /// Returns the number of MCP sessions.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions.len()
    }
}

fn session_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

/// Returns the session whose own stream is resumed. The ids of other streams are known only to the client of the request.
fn resumed_of(headers: &HeaderMap) -> Option<&str> {
    let last = headers.get("last-event-id")?.to_str().ok()?;
    Some(last.split_once(":common")?.0)
}

/// Returns whether a client of 2026-07-28 calls a tool.
fn calls_tool(headers: &HeaderMap) -> bool {
    headers
        .get("mcp-method")
        .is_some_and(|method| method == "tools/call")
}

/// Replaces the status 404 of an unknown tool: clients interpret it as a missing method.
fn found(answer: &mut Answer) {
    let kind = answer.headers().get(http::header::CONTENT_TYPE);
    let is_json = kind.is_some_and(|kind| kind == "application/json");
    if is_json && answer.status() == StatusCode::NOT_FOUND {
        *answer.status_mut() = StatusCode::OK;
    }
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(http::header::ACCEPT).iter();
    accepted
        .filter_map(|accept| accept.to_str().ok())
        .any(|accept| accept.to_ascii_lowercase().contains("text/event-stream"))
}

fn not_acceptable() -> Answer {
    let error = json!({
        "jsonrpc": "2.0",
        "error": { "code": -32000, "message": "Not Acceptable: Client must accept text/event-stream" },
        "id": null,
    });
    let mut answer = Response::new(BoxBody::new(Full::new(Bytes::from(error.to_string()))));
    *answer.status_mut() = StatusCode::NOT_ACCEPTABLE;
    let json = http::HeaderValue::from_static("application/json");
    answer
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, json);
    answer
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(BoxBody::new(Full::new(Bytes::from_static(text.as_bytes()))));
    *answer.status_mut() = status;
    answer
}

/// Returns the tool that a message calls.
pub(crate) fn tool_called(body: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(body).ok()?;
    let name = message["params"]["name"].as_str()?;
    (message["method"] == "tools/call").then(|| name.to_owned())
}

/// Returns whether the response to a request is an endless stream: that of an MCP session, or of a subscription in 2026-07-28, whose
/// clients must send the method in a header.
pub(crate) fn has_no_end<B>(request: &Request<B>) -> bool {
    let method = request.headers().get("mcp-method");
    request.method() == http::Method::GET
        || method.is_some_and(|method| method == "subscriptions/listen")
}

/// A parsed body.
pub(crate) enum Body {
    /// A message, in normalized form.
    Message(Bytes),
    /// A notification that the server ignores.
    Nothing,
    /// Not a message: the JSON-RPC error of the response.
    Refused(String),
}

/// Parses the body of a request.
pub(crate) fn body(bytes: Bytes) -> Body {
    match text::read(&bytes) {
        Ok(Some(_)) => match text::readable(&bytes) {
            Cow::Borrowed(same) => Body::Message(bytes.slice_ref(same)),
            Cow::Owned(readable) => Body::Message(readable.into()),
        },
        Ok(None) => Body::Nothing,
        Err(refusal) => Body::Refused(refusal.to_string()),
    }
}
