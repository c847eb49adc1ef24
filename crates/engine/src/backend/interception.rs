//! Paused requests and the decisions about them.

use super::{FrameId, Headers, RequestId};
use crate::error::{Error, Result};
use crate::routes::{FailureReason, ResponseChanges, RouteAnswer};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use task::spawn;

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

/// Calls `apply` with the decision of a route about a request with these headers: at once, or after the delay of the route. The changes of
/// the response come with it.
pub(crate) fn apply_route(
    answer: RouteAnswer,
    headers: Headers,
    apply: impl FnOnce(Verdict, Option<ResponseChanges>) + Send + 'static,
) {
    match answer {
        RouteAnswer::Abort(reason) => apply(Verdict::Abort(reason), None),
        RouteAnswer::Mock(mock) => mock.respond(&headers, |status, headers, body| {
            let verdict = Verdict::Fulfill {
                status,
                headers,
                body,
            };
            apply(verdict, None);
        }),
        RouteAnswer::Rewrite(changes) => {
            let verdict = Verdict::Continue {
                url: changes.url.clone(),
                method: changes.method.clone(),
                body: changes.body.clone(),
                headers: Some(changes.apply(headers)),
            };
            if changes.delay.is_zero() {
                return apply(verdict, changes.response.clone());
            }
            spawn("a delayed request", async move {
                tokio::time::sleep(changes.delay).await;
                apply(verdict, changes.response.clone());
            })
            .detach();
        }
        // Routes decide with the response of the HAR.
        RouteAnswer::Har(_) => apply(Verdict::Abort(FailureReason::Failed), None),
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
