//! A request of a page and its response.

use crate::backend::{FrameId, Headers, LoaderId, RequestId, RequestingWorker, ResponseFacts};
use crate::error::NetError;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A request; each hop of a redirect chain is one.
#[derive(Debug, Clone)]
pub struct Request {
    /// The number among the requests of the page, from 1.
    pub number: u64,
    /// The number of WebSockets among the earlier requests of the page.
    pub sockets_before: u64,
    /// The id of the browser.
    pub id: RequestId,
    /// The frame that sent it.
    pub frame: Option<FrameId>,
    /// The worker that sent it, if it was one and the browser reports it.
    pub worker: Option<RequestingWorker>,
    /// The navigation that it belongs to.
    pub loader: Option<LoaderId>,
    /// The URL without fragment.
    pub url: String,
    /// `GET`, `POST`, …
    pub method: String,
    /// The resource type in Playwright's words, e.g. `document`, `fetch`.
    pub resource_type: String,
    /// The request headers, as far as known.
    pub headers: Headers,
    /// Whether there is a body, which can be read.
    pub has_body: bool,
    /// The body of recent requests, if it is a short text.
    pub body: Option<Arc<str>>,
    /// Whether it loads the document of a frame.
    pub is_navigation: bool,
    /// The response, if there is one.
    pub response: Option<ResponseFacts>,
    /// The outcome, if it has ended.
    pub outcome: Option<RequestOutcome>,
    /// The URL of the next hop, if the response is a redirect.
    pub redirected_to: Option<String>,
    /// The time from the request to the response, if there is one.
    pub answered: Option<Duration>,
    /// The time from the request to its end, if known.
    pub duration: Option<Duration>,
    /// The time at which the engine was informed of it.
    pub sent: SystemTime,
    pub(super) sent_at: f64,
    pub(super) counts: bool,
    /// The number of responses of the page up to the one of this request; 0 without one.
    pub(super) responded: u64,
    pub(super) cached: bool,
    pub(super) raw: Raw,
}

/// The state of the raw headers, which the browser reports separately, once for each hop and in order, shortly before or after the other
/// events.
#[derive(Debug, Clone, Default)]
pub(super) struct Raw {
    /// The browser reports none for this hop.
    pub(super) none: bool,
    pub(super) sent: bool,
    pub(super) received: bool,
    /// Received headers before their response event.
    pub(super) waiting: Option<Headers>,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The response is complete.
    Finished {
        /// The bytes on the network, including headers if the browser counts them.
        size: u64,
    },
    /// A redirect; the next hop is a separate request.
    Redirected,
    /// The request failed.
    Failed {
        /// The net error, e.g. `net::ERR_CONNECTION_REFUSED`.
        reason: NetError,
        /// Whether the page or the browser cancelled it.
        cancelled: bool,
    },
}

impl Request {
    /// Returns how much later than another request it was sent.
    pub fn since(&self, other: &Self) -> Option<Duration> {
        elapsed(other.sent_at, self.sent_at)
    }
}

pub(super) fn elapsed(from: f64, to: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(to - from).ok()
}
