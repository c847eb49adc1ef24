//! Requests that wait until somebody decides what becomes of them.

use super::{FrameId, Headers, RequestId};

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
    /// It fails, by one of Playwright's names for it: `failed`, `aborted`, `timedout`, `accessdenied`, `connectionclosed`,
    /// `connectionreset`, `connectionrefused`, `connectionaborted`, `connectionfailed`, `namenotresolved`, `internetdisconnected`,
    /// `addressunreachable`, `blockedbyclient`, `blockedbyresponse`.
    Abort(String),
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
