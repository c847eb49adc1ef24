//! The request log of a page: the requests of the current document, numbered in the order in which they were sent.

use crate::backend::{FrameId, Headers, LoaderId, RequestEvent, RequestId, ResponseFacts};
use crate::error::NetError;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The largest number of requests of a document; the oldest are removed first, the numbers are stable.
const MAX_REQUESTS: usize = 5_000;

/// The largest number of requests whose headers are kept before the request event, which may never arrive.
const MAX_EARLY_HEADERS: usize = 200;
/// The largest number of requests whose bodies are kept.
const MAX_BODIES: usize = 200;

/// The number of requests of one method and URL after which the next one counts as polling.
const MAX_ROUNDS_BEFORE_POLLING: usize = 4;

/// The request log of a page.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    requests: Vec<Request>,
    /// The number of the first kept request.
    first: usize,
    /// The last hop of each id.
    open: HashMap<RequestId, usize>,
    /// All hops of each id, in order.
    hops: HashMap<RequestId, Vec<usize>>,
    /// Headers that were reported before their request.
    early: HashMap<RequestId, Headers>,
    started: u64,
    /// The number of responses, which never decreases.
    responses: u64,
}

/// A request; each hop of a redirect chain is one.
#[derive(Debug, Clone)]
pub struct Request {
    /// The number in the log, from 1; stable until the page navigates.
    pub number: usize,
    /// The id of the browser.
    pub id: RequestId,
    /// The frame that sent it.
    pub frame: Option<FrameId>,
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
    /// The time from the request to the response, if there is one.
    pub answered: Option<Duration>,
    /// The time from the request to its end, if known.
    pub duration: Option<Duration>,
    sent_at: f64,
    counts: bool,
    /// The number of requests of the page up to this one; it never decreases.
    ordinal: u64,
    /// The number of responses of the page up to the one of this request; 0 without one.
    responded: u64,
    cached: bool,
    raw: Raw,
}

/// The state of the raw headers, which the browser reports separately, once for each hop and in order, shortly before or after the other
/// events.
#[derive(Debug, Clone, Default)]
struct Raw {
    /// The browser reports none for this hop.
    none: bool,
    sent: bool,
    received: bool,
    /// Received headers before their response event.
    waiting: Option<Headers>,
}

/// The state of the requests at one time, to detect later ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestMark {
    started: u64,
    /// Method and URL of the requests in progress: the next one with the same is the next round of a long poll.
    under_way: Vec<(String, String)>,
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

impl RequestLog {
    /// Returns the number of requests so far, and the number of kept requests in progress.
    pub(crate) fn activity(&self) -> (u64, usize) {
        let under_way = |request: &&Request| request.outcome.is_none();
        (self.started, self.requests.iter().filter(under_way).count())
    }

    pub(crate) fn apply(&mut self, event: RequestEvent) {
        match event {
            RequestEvent::Started {
                id,
                frame,
                loader,
                url,
                method,
                resource_type,
                headers,
                has_body,
                body,
                is_navigation,
                at,
            } => {
                if let Some(previous) = self.open_mut(&id) {
                    previous.outcome = Some(RequestOutcome::Redirected);
                    previous.duration = elapsed(previous.sent_at, at);
                }
                let number = self.first + self.requests.len() + 1;
                // Only requests that the page's own logic depends on are waited for; a stream never ends.
                let counts = matches!(
                    resource_type.as_str(),
                    "document" | "stylesheet" | "script" | "xhr" | "fetch"
                );
                self.open.insert(id.clone(), number);
                self.hops.entry(id.clone()).or_default().push(number);
                let early = self.early.remove(&id);
                self.started += 1;
                self.requests.push(Request {
                    number,
                    id,
                    frame,
                    loader,
                    url,
                    method,
                    resource_type,
                    raw: Raw {
                        sent: early.is_some(),
                        ..Raw::default()
                    },
                    headers: early.unwrap_or(headers),
                    has_body,
                    body: body.map(Into::into),
                    is_navigation,
                    response: None,
                    outcome: None,
                    answered: None,
                    duration: None,
                    sent_at: at,
                    counts,
                    cached: false,
                    ordinal: self.started,
                    responded: 0,
                });
                self.bound();
            }
            RequestEvent::HeadersSent { id, headers } => {
                let hop = self.hop_mut(&id, |raw| !raw.sent);
                if let Some(request) = hop {
                    request.raw.sent = true;
                    request.headers = headers;
                } else {
                    if self.early.len() == MAX_EARLY_HEADERS {
                        self.early.clear();
                    }
                    self.early.insert(id, headers);
                }
            }
            RequestEvent::ServedFromCache { id } => {
                if let Some(request) = self.open_mut(&id) {
                    request.cached = true;
                }
            }
            RequestEvent::Responded {
                id,
                mut response,
                has_raw_headers,
                at,
            } => {
                self.responses += 1;
                let responded = self.responses;
                if let Some(request) = self.open_mut(&id) {
                    request.responded = responded;
                    request.answered = elapsed(request.sent_at, at);
                    if response.mime_type == "text/event-stream" {
                        request.counts = false;
                    }
                    response.from_cache |= request.cached;
                    request.raw.none = !has_raw_headers;
                    if let Some(headers) = request.raw.waiting.take() {
                        response.headers = headers;
                    }
                    request.response = Some(response);
                }
            }
            RequestEvent::HeadersReceived { id, headers } => {
                if let Some(request) = self.hop_mut(&id, |raw| !raw.received) {
                    request.raw.received = true;
                    match &mut request.response {
                        Some(response) => response.headers = headers,
                        None => request.raw.waiting = Some(headers),
                    }
                }
            }
            RequestEvent::Finished { id, size, at } => {
                self.end(&id, RequestOutcome::Finished { size }, at);
            }
            RequestEvent::Failed {
                id,
                reason,
                cancelled,
                at,
            } => self.end(&id, RequestOutcome::Failed { reason, cancelled }, at),
        }
    }

    /// Removes all requests except those of the new document's navigation.
    pub(crate) fn on_navigated(&mut self, loader: &LoaderId) {
        let kept: Vec<Request> = std::mem::take(&mut self.requests)
            .into_iter()
            .filter(|request| request.loader.as_ref() == Some(loader) && request.is_navigation)
            .collect();
        self.first = 0;
        self.early.clear();
        self.open.clear();
        self.hops.clear();
        for (index, mut request) in kept.into_iter().enumerate() {
            request.number = index + 1;
            if request.outcome.is_none() {
                self.open.insert(request.id.clone(), request.number);
            }
            self.hops
                .entry(request.id.clone())
                .or_default()
                .push(request.number);
            self.requests.push(request);
        }
    }

    /// Returns a mark of the requests so far.
    pub(crate) fn mark(&self) -> RequestMark {
        let under_way = self
            .open
            .values()
            .filter_map(|number| self.get(*number))
            .map(|request| (request.method.clone(), address(&request.url).to_owned()))
            .collect();
        RequestMark {
            started: self.started,
            under_way,
        }
    }

    /// Returns the last request since the mark that an action has to wait for.
    pub(crate) fn newest(&self, mark: &RequestMark) -> Option<u64> {
        self.following(mark).last().map(|request| request.ordinal)
    }

    /// Returns the mark of a document's request: its subresources are requested later. The beginning, if that is not known.
    pub(crate) fn since_document(&self, frame: &FrameId, loader: &LoaderId) -> RequestMark {
        RequestMark {
            started: self
                .document(frame, loader)
                .map_or(0, |request| request.ordinal),
            ..RequestMark::default()
        }
    }

    /// Returns whether a request since the mark is in progress that an action has to wait for.
    pub(crate) fn has_pending(&self, mark: &RequestMark) -> bool {
        self.following(mark)
            .any(|request| self.open.get(&request.id) == Some(&request.number))
    }

    /// Returns the requests that an action has to wait for, without polling.
    fn following<'a>(&'a self, mark: &'a RequestMark) -> impl Iterator<Item = &'a Request> {
        let newer = self
            .requests
            .partition_point(|request| request.ordinal <= mark.started);
        let mut rounds: HashMap<(&str, &str), usize> = HashMap::new();
        for (method, place) in &mark.under_way {
            rounds.insert((method, place), MAX_ROUNDS_BEFORE_POLLING);
        }
        self.requests[newer..].iter().filter(move |request| {
            let round = rounds
                .entry((&request.method, address(&request.url)))
                .or_default();
            *round += 1;
            request.counts && *round <= MAX_ROUNDS_BEFORE_POLLING
        })
    }

    /// Returns the number of responses.
    pub(crate) fn responses(&self) -> u64 {
        self.responses
    }

    /// Returns the requests whose responses arrived after so many responses.
    pub(crate) fn responded_since(&self, responses: u64) -> impl Iterator<Item = &Request> {
        let requests = self.requests.iter();
        requests.filter(move |request| request.responded > responses)
    }

    pub(crate) fn all(&self) -> &[Request] {
        &self.requests
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Request> {
        self.requests.get(number.checked_sub(self.first + 1)?)
    }

    /// Returns the last hop of a document's request.
    pub(crate) fn document(&self, frame: &FrameId, loader: &LoaderId) -> Option<&Request> {
        self.requests.iter().rev().find(|request| {
            request.is_navigation
                && request.loader.as_ref() == Some(loader)
                && request.frame.as_ref() == Some(frame)
        })
    }

    /// Returns the last hop of a request in progress.
    pub(crate) fn pending(&self, id: &RequestId) -> Option<&Request> {
        self.get(*self.open.get(id)?)
    }

    fn open_mut(&mut self, id: &RequestId) -> Option<&mut Request> {
        let index = self.open.get(id)?.checked_sub(self.first + 1)?;
        self.requests.get_mut(index)
    }

    /// Returns the first hop for which something was not reported yet.
    fn hop_mut(&mut self, id: &RequestId, lacks: impl Fn(&Raw) -> bool) -> Option<&mut Request> {
        let first = self.first;
        let index = self
            .hops
            .get(id)?
            .iter()
            .filter_map(|number| number.checked_sub(first + 1))
            .find(|index| {
                let request = self.requests.get(*index);
                request.is_some_and(|request| !request.raw.none && lacks(&request.raw))
            })?;
        self.requests.get_mut(index)
    }

    fn end(&mut self, id: &RequestId, outcome: RequestOutcome, at: f64) {
        if let Some(request) = self.open_mut(id) {
            request.outcome = Some(outcome);
            request.duration = elapsed(request.sent_at, at);
        }
        self.open.remove(id);
    }

    fn bound(&mut self) {
        let old = self.requests.len().checked_sub(MAX_BODIES + 1);
        if let Some(request) = old.and_then(|old| self.requests.get_mut(old)) {
            request.body = None;
        }
        if self.requests.len() > MAX_REQUESTS {
            let gone = self.requests.remove(0);
            self.first += 1;
            if self.open.get(&gone.id) == Some(&gone.number) {
                self.open.remove(&gone.id);
            }
            if let Some(hops) = self.hops.get_mut(&gone.id) {
                hops.retain(|number| *number != gone.number);
                if hops.is_empty() {
                    self.hops.remove(&gone.id);
                }
            }
        }
    }
}

/// Returns a URL without its query.
fn address(url: &str) -> &str {
    url.split_once('?').map_or(url, |(address, _)| address)
}

fn elapsed(from: f64, to: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(to - from).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(id: &str, url: &str, kind: &str, loader: Option<&str>) -> RequestEvent {
        RequestEvent::Started {
            id: id.into(),
            frame: Some("main".into()),
            loader: loader.map(Into::into),
            url: url.into(),
            method: "GET".into(),
            resource_type: kind.into(),
            headers: vec![],
            has_body: false,
            body: None,
            is_navigation: kind == "document",
            at: 1.0,
        }
    }

    fn finished(id: &str) -> RequestEvent {
        RequestEvent::Finished {
            id: id.into(),
            size: 3,
            at: 1.5,
        }
    }

    #[test]
    fn a_redirect_is_two_requests() {
        let mut log = RequestLog::default();
        log.apply(started("1", "/a", "document", Some("L")));
        log.apply(started("1", "/b", "document", Some("L")));
        log.apply(finished("1"));
        let urls: Vec<_> = log
            .all()
            .iter()
            .map(|r| (r.number, r.url.as_str()))
            .collect();
        assert_eq!(urls, [(1, "/a"), (2, "/b")]);
        assert_eq!(log.all()[0].outcome, Some(RequestOutcome::Redirected));
        assert_eq!(log.all()[1].duration, Some(Duration::from_millis(500)));
    }

    #[test]
    fn a_navigation_keeps_only_its_own_request() {
        let mut log = RequestLog::default();
        log.apply(started("1", "/old", "fetch", Some("K")));
        log.apply(started("2", "/new", "document", Some("L")));
        log.on_navigated(&"L".into());
        assert_eq!(log.all().len(), 1);
        assert_eq!(log.all()[0].number, 1);
        assert!(log.has_pending(&RequestMark::default()));
        log.apply(finished("2"));
        assert!(!log.has_pending(&RequestMark::default()));
    }

    #[test]
    fn the_document_request_itself_is_not_pending() {
        let mut log = RequestLog::default();
        let busy =
            |log: &RequestLog| log.has_pending(&log.since_document(&"main".into(), &"L".into()));
        log.apply(started("1", "/", "document", Some("L")));
        assert!(!busy(&log));
        log.apply(started("2", "/data", "fetch", Some("L")));
        assert!(busy(&log));
    }

    #[test]
    fn pending_images_are_not_waited_for() {
        let mut log = RequestLog::default();
        log.apply(started("1", "/i.png", "image", None));
        assert!(!log.has_pending(&RequestMark::default()));
        assert_eq!(log.newest(&RequestMark::default()), None);
    }

    #[test]
    fn only_requests_after_the_mark_are_pending() {
        let mut log = RequestLog::default();
        log.apply(started("1", "/poll?n=1", "fetch", None));
        let mark = log.mark();
        log.apply(finished("1"));
        log.apply(started("2", "/poll?n=2", "fetch", None));
        assert!(!log.has_pending(&mark), "the next round of a long poll");
        log.apply(started("3", "/save", "fetch", None));
        assert!(log.has_pending(&mark));
        assert_eq!(log.newest(&mark), Some(3));
        log.apply(finished("3"));
        assert!(!log.has_pending(&mark));
        assert_eq!(log.newest(&mark), Some(3));
    }

    #[test]
    fn polling_requests_do_not_stay_pending() {
        let mut log = RequestLog::default();
        let mark = log.mark();
        for round in 0..MAX_ROUNDS_BEFORE_POLLING {
            let id = round.to_string();
            log.apply(started(&id, "/poll", "fetch", None));
            assert!(log.has_pending(&mark));
            log.apply(finished(&id));
        }
        log.apply(started("last", "/poll", "fetch", None));
        assert!(!log.has_pending(&mark));
    }

    #[test]
    fn headers_may_come_before_their_response() {
        let mut log = RequestLog::default();
        log.apply(started("1", "/", "fetch", None));
        log.apply(RequestEvent::HeadersReceived {
            id: "1".into(),
            headers: vec![("set-cookie".into(), "a=b".into())],
        });
        log.apply(RequestEvent::Responded {
            id: "1".into(),
            response: ResponseFacts {
                status: 200,
                ..ResponseFacts::default()
            },
            has_raw_headers: true,
            at: 1.2,
        });
        let response = log.all()[0].response.as_ref().unwrap();
        assert_eq!(response.headers[0].0, "set-cookie");
    }

    #[test]
    fn late_headers_belong_to_their_own_hop() {
        let mut log = RequestLog::default();
        let header = |value: &str| vec![("x".to_owned(), value.to_owned())];
        let responded = |status| RequestEvent::Responded {
            id: "1".into(),
            response: ResponseFacts {
                status,
                ..ResponseFacts::default()
            },
            has_raw_headers: true,
            at: 1.2,
        };
        log.apply(started("1", "/a", "document", Some("L")));
        log.apply(responded(302));
        log.apply(started("1", "/b", "document", Some("L")));
        for number in ["first", "second"] {
            log.apply(RequestEvent::HeadersSent {
                id: "1".into(),
                headers: header(number),
            });
            log.apply(RequestEvent::HeadersReceived {
                id: "1".into(),
                headers: header(number),
            });
        }
        log.apply(responded(200));
        for (request, number) in log.all().iter().zip(["first", "second"]) {
            assert_eq!(request.headers, header(number));
            assert_eq!(request.response.as_ref().unwrap().headers, header(number));
        }
    }

    #[test]
    fn the_oldest_requests_are_dropped_and_numbers_stay() {
        let mut log = RequestLog::default();
        for index in 0..MAX_REQUESTS + 5 {
            log.apply(started(&index.to_string(), "/", "fetch", None));
        }
        assert_eq!(log.all().len(), MAX_REQUESTS);
        assert!(log.get(5).is_none());
        assert_eq!(log.get(6).unwrap().number, 6);
    }
}
