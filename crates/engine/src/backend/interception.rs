//! Paused requests, and what can be done with them.

use super::{FrameId, Headers, RequestId};
use crate::error::{Error, NetError, Result};
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
    /// The net error of the request that is aborted for this reason.
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
