//! Paused requests and the decisions about them.

use super::{FrameId, Headers, RequestId};
use crate::error::{Error, NetError, Result};
use crate::routes::RouteAnswer;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// A request that is paused until a decision.
#[derive(Debug, Clone)]
pub struct PausedRequest {
    /// The identifier of the request in events, which redirects do not change.
    pub id: Option<RequestId>,
    /// The frame of the request.
    pub frame: FrameId,
    /// The URL without its fragment.
    pub url: String,
    /// The HTTP method: `GET`, `POST`, …
    pub method: String,
    /// The headers that are known before the request is sent.
    pub headers: Headers,
    /// The body, if the browser reports it.
    pub body: Option<Vec<u8>>,
    /// The resource type, as in [`super::RequestEvent`].
    pub resource_type: String,
    /// Whether the request loads a document of a frame.
    pub is_navigation: bool,
    /// The backend's identifier of the paused request.
    pub(crate) key: String,
}

/// The response to a request that is still paused.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The HTTP status.
    pub status: u16,
    /// The reason phrase.
    pub status_text: String,
    /// The headers of the response.
    pub headers: Headers,
    /// The body, decoded; empty for a redirect.
    pub body: Vec<u8>,
}

/// A decision about a paused request.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// The request is sent, with these changes.
    Continue {
        /// Another URL, which the page cannot see.
        url: Option<String>,
        /// Another method.
        method: Option<String>,
        /// A replacement of all headers.
        headers: Option<Headers>,
        /// Another body.
        body: Option<Vec<u8>>,
    },
    /// The request gets a mock response.
    Fulfill {
        /// The HTTP status.
        status: u16,
        /// The headers of the response.
        headers: Headers,
        /// The body of the response.
        body: Vec<u8>,
    },
    /// The request fails.
    Abort(FailureReason),
}

/// The reason for which a request fails, with Playwright's name: `failed`, `aborted`, `timedout`, `accessdenied`, …
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames,
)]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "their names say it")]
pub enum FailureReason {
    Failed,
    Aborted,
    TimedOut,
    AccessDenied,
    ConnectionClosed,
    ConnectionReset,
    ConnectionRefused,
    ConnectionAborted,
    ConnectionFailed,
    NameNotResolved,
    InternetDisconnected,
    AddressUnreachable,
    BlockedByClient,
    BlockedByResponse,
}

impl FailureReason {
    /// Returns the net error of a request that is aborted for this reason.
    pub(crate) fn net_error(self) -> NetError {
        match self {
            Self::Failed => NetError::Failed,
            Self::Aborted => NetError::Aborted,
            Self::TimedOut => NetError::TimedOut,
            Self::AccessDenied => NetError::AccessDenied,
            Self::ConnectionClosed => NetError::ConnectionClosed,
            Self::ConnectionReset => NetError::ConnectionReset,
            Self::ConnectionRefused => NetError::ConnectionRefused,
            Self::ConnectionAborted => NetError::ConnectionAborted,
            Self::ConnectionFailed => NetError::ConnectionFailed,
            Self::NameNotResolved => NetError::NameNotResolved,
            Self::InternetDisconnected => NetError::InternetDisconnected,
            Self::AddressUnreachable => NetError::AddressUnreachable,
            Self::BlockedByClient => NetError::BlockedByClient,
            Self::BlockedByResponse => NetError::BlockedByResponse,
        }
    }
}

/// Calls `apply` with the decision of a route about a request with these headers: at once, or after the delay of a mock response.
pub(crate) fn apply_route(
    answer: RouteAnswer,
    headers: Headers,
    apply: impl FnOnce(Verdict) + Send + 'static,
) {
    match answer {
        RouteAnswer::Block => apply(Verdict::Abort(FailureReason::BlockedByClient)),
        RouteAnswer::Mock(mock) => mock.respond(&headers, |status, headers, body| {
            apply(Verdict::Fulfill {
                status,
                headers,
                body,
            });
        }),
        RouteAnswer::Rewrite(changes) => apply(Verdict::Continue {
            url: None,
            method: None,
            headers: Some(changes.apply(headers)),
            body: None,
        }),
    }
}

/// Decodes the body of a message to bytes.
pub(crate) fn decode_body(method: &str, body: String, is_base64: bool) -> Result<Vec<u8>> {
    if !is_base64 {
        return Ok(body.into_bytes());
    }
    let bytes = BASE64_STANDARD.decode(body);
    bytes.map_err(|error| Error::protocol(method, error))
}

/// Returns the standard reason phrase of a status, for HTTP/2, which has none.
/// <https://www.rfc-editor.org/rfc/rfc9110#section-15>
pub(crate) fn status_text(status: u16) -> &'static str {
    let status = http::StatusCode::from_u16(status).ok();
    status
        .and_then(|status| status.canonical_reason())
        .unwrap_or_default()
}

impl Verdict {
    /// Returns the decision to send the request unchanged.
    pub(crate) fn unchanged() -> Self {
        Self::Continue {
            url: None,
            method: None,
            headers: None,
            body: None,
        }
    }
}
