//! Requests that wait until somebody decides what becomes of them.

use super::{FrameId, Headers, RequestId};
use crate::error::{Error, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// A request that waits.
#[derive(Debug, Clone)]
pub struct PausedRequest {
    /// The browser's name for the request, the same as in its events; a redirect keeps it.
    pub id: Option<RequestId>,
    /// The frame that sent it.
    pub frame: FrameId,
    /// The URL, fragment excluded.
    pub url: String,
    /// `GET`, `POST`, …
    pub method: String,
    /// As far as known before it is sent.
    pub headers: Headers,
    /// The body, where the browser has it at hand.
    pub body: Option<Vec<u8>>,
    /// As in [`super::RequestEvent`].
    pub resource_type: String,
    /// It loads a document for a frame.
    pub is_navigation: bool,
    /// The backend's name for the waiting.
    pub(crate) key: String,
}

/// What a server answered to a request that still waits.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// HTTP status.
    pub status: u16,
    /// The words beside it.
    pub status_text: String,
    /// Headers of the answer.
    pub headers: Headers,
    /// The body, decoded; empty for a redirect.
    pub body: Vec<u8>,
}

/// What becomes of a request.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// It is sent, with these changes.
    Continue {
        /// Another URL; the page does not see it.
        url: Option<String>,
        /// Another method.
        method: Option<String>,
        /// Other headers, all of them.
        headers: Option<Headers>,
        /// Another body.
        body: Option<Vec<u8>>,
    },
    /// It is answered without a server.
    Fulfill {
        /// HTTP status.
        status: u16,
        /// Headers of the answer.
        headers: Headers,
        /// The answer's body.
        body: Vec<u8>,
    },
    /// It fails.
    Abort(FailureReason),
}

/// Why a request fails, by Playwright's names: `failed`, `aborted`, `timedout`, `accessdenied`, …
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
    /// What Chromium's network stack calls it, as failures are called in all browsers: `net::ERR_…`.
    pub(crate) fn net_error(self) -> &'static str {
        match self {
            Self::Failed => "net::ERR_FAILED",
            Self::Aborted => "net::ERR_ABORTED",
            Self::TimedOut => "net::ERR_TIMED_OUT",
            Self::AccessDenied => "net::ERR_ACCESS_DENIED",
            Self::ConnectionClosed => "net::ERR_CONNECTION_CLOSED",
            Self::ConnectionReset => "net::ERR_CONNECTION_RESET",
            Self::ConnectionRefused => "net::ERR_CONNECTION_REFUSED",
            Self::ConnectionAborted => "net::ERR_CONNECTION_ABORTED",
            Self::ConnectionFailed => "net::ERR_CONNECTION_FAILED",
            Self::NameNotResolved => "net::ERR_NAME_NOT_RESOLVED",
            Self::InternetDisconnected => "net::ERR_INTERNET_DISCONNECTED",
            Self::AddressUnreachable => "net::ERR_ADDRESS_UNREACHABLE",
            Self::BlockedByClient => "net::ERR_BLOCKED_BY_CLIENT",
            Self::BlockedByResponse => "net::ERR_BLOCKED_BY_RESPONSE",
        }
    }
}

/// A body as a protocol carries it, as bytes.
pub(crate) fn decode_body(method: &str, body: String, is_base64: bool) -> Result<Vec<u8>> {
    if !is_base64 {
        return Ok(body.into_bytes());
    }
    let bytes = BASE64_STANDARD.decode(body);
    bytes.map_err(|error| Error::protocol(method, error))
}

/// What a server says beside a status that none was sent with: HTTP/2 has no words for it.
/// <https://www.rfc-editor.org/rfc/rfc9110#section-15>
pub(crate) fn status_text(status: u16) -> &'static str {
    let status = http::StatusCode::from_u16(status).ok();
    status
        .and_then(|status| status.canonical_reason())
        .unwrap_or_default()
}

impl Verdict {
    /// Sent as it is.
    pub(crate) fn unchanged() -> Self {
        Self::Continue {
            url: None,
            method: None,
            headers: None,
            body: None,
        }
    }
}
