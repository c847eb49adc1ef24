//! The request log of a page: the requests of the current document and the newest of those before, numbered in the order in which they were
//! sent.

use super::messages::{MessageLog, StreamMessages};
use super::request::{Raw, Request, RequestOutcome, elapsed};
use crate::backend::{
    FrameId, Headers, LoaderId, PageId, RequestEvent, RequestId, RequestingWorker,
};
use std::collections::{HashMap, VecDeque};
use std::time::SystemTime;
use tokio::sync::mpsc;

/// The largest number of requests of a document; the oldest are removed first, the numbers are stable.
const MAX_REQUESTS: usize = 5_000;

/// The largest number of requests whose headers are kept before the request event, which may never arrive.
const MAX_EARLY_HEADERS: usize = 200;
/// The largest number of requests whose bodies are kept.
const MAX_BODIES: usize = 200;
/// The largest size of the kept bodies together, in bytes. The browser may still have others.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// The largest number of requests of earlier documents.
const MAX_EARLIER: usize = 500;

/// The number of requests of one method and URL after which the next one counts as polling.
const MAX_ROUNDS_BEFORE_POLLING: usize = 4;

/// A recorder of the requests of several pages.
#[derive(Debug)]
struct Recorder {
    page: PageId,
    sender: mpsc::Sender<(PageId, Request)>,
}

/// The request log of a page.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    requests: Vec<Request>,
    /// The number of the last hop of each id.
    open: HashMap<RequestId, u64>,
    /// The numbers of all hops of each id, in order.
    hops: HashMap<RequestId, Vec<u64>>,
    early: HashMap<RequestId, EarlyHeaders>,
    started: u64,
    /// How many of them shared and service workers have sent.
    started_by_others: u64,
    /// The number of responses, which never decreases.
    responses: u64,
    /// The newest requests of earlier documents.
    earlier: VecDeque<Request>,
    /// The number of WebSockets.
    sockets: u64,
    messages: MessageLog,
    /// The recorders of ended requests.
    recorders: Vec<Recorder>,
}

/// Headers that were reported before their hops, in order: another process of the browser reports them.
#[derive(Debug, Default)]
struct EarlyHeaders {
    sent: VecDeque<Headers>,
    received: VecDeque<Headers>,
}

/// The state of the requests at one time, to detect later ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestMark {
    started: u64,
    /// Method and URL of the requests in progress: the next one with the same is the next round of a long poll.
    under_way: Vec<(String, String)>,
}

impl RequestLog {
    /// Returns the number of requests so far, and the number of kept requests in progress, without those of shared and service workers.
    pub(crate) fn activity(&self) -> (u64, usize) {
        let under_way = |request: &&Request| {
            let is_own = request.worker.as_ref().is_none_or(RequestingWorker::is_own);
            request.outcome.is_none() && request.resource_type != "websocket" && is_own
        };
        let own = self.started - self.started_by_others;
        (own, self.requests.iter().filter(under_way).count())
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
                    previous.redirected_to = Some(url.clone());
                    previous.duration = elapsed(previous.sent_at, at);
                    let previous = previous.clone();
                    self.record(&previous);
                }
                self.started += 1;
                let number = self.started;
                // Only requests that the page's own logic depends on are waited for; a stream never ends.
                let counts = matches!(
                    resource_type.as_str(),
                    "document" | "stylesheet" | "script" | "xhr" | "fetch"
                );
                self.open.insert(id.clone(), number);
                self.hops.entry(id.clone()).or_default().push(number);
                let early = self.early.get_mut(&id);
                let (sent, received) = early.map_or((None, None), |early| {
                    (early.sent.pop_front(), early.received.pop_front())
                });
                let sockets_before = self.sockets;
                self.sockets += u64::from(resource_type == "websocket");
                self.requests.push(Request {
                    number,
                    sockets_before,
                    sent: SystemTime::now(),
                    id,
                    frame,
                    worker: None,
                    loader,
                    url,
                    method,
                    resource_type,
                    raw: Raw {
                        sent: sent.is_some(),
                        received: received.is_some(),
                        waiting: received,
                        ..Raw::default()
                    },
                    headers: sent.unwrap_or(headers),
                    has_body,
                    body: body.map(Into::into),
                    is_navigation,
                    response: None,
                    outcome: None,
                    redirected_to: None,
                    answered: None,
                    duration: None,
                    sent_at: at,
                    counts,
                    cached: false,
                    responded: 0,
                });
                self.bound();
            }
            RequestEvent::SentByWorker { id, worker } => {
                self.started_by_others += u64::from(!worker.is_own());
                if let Some(request) = self.open_mut(&id) {
                    // Actions of the page do not wait for what other workers do by themselves.
                    request.counts &= worker.is_own();
                    request.worker = Some(worker);
                }
            }
            RequestEvent::HeadersSent { id, headers } => {
                let hop = self.hop_mut(&id, |raw| !raw.sent);
                if let Some(request) = hop {
                    request.raw.sent = true;
                    request.headers = headers;
                } else {
                    self.early(id).sent.push_back(headers);
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
                } else {
                    self.early(id).received.push_back(headers);
                }
            }
            RequestEvent::Message { id, message } => self.messages.add(id, message),
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
        let (kept, gone): (Vec<Request>, Vec<Request>) = std::mem::take(&mut self.requests)
            .into_iter()
            .partition(|request| request.loader.as_ref() == Some(loader) && request.is_navigation);
        for request in &gone {
            if request.outcome.is_none() {
                self.record(request);
            }
        }
        self.earlier.extend(gone);
        let surplus = self.earlier.len().saturating_sub(MAX_EARLIER);
        self.earlier.drain(..surplus);
        self.messages.clear();
        self.early.clear();
        self.open.clear();
        self.hops.clear();
        for request in kept {
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
        self.following(mark).last().map(|request| request.number)
    }

    /// Returns the mark of a document's request: its subresources are requested later. The beginning, if that is not known.
    pub(crate) fn since_document(&self, frame: &FrameId, loader: &LoaderId) -> RequestMark {
        RequestMark {
            started: self
                .document(frame, loader)
                .map_or(0, |request| request.number),
            ..RequestMark::default()
        }
    }

    /// Returns whether a request since the mark is in progress that an action has to wait for.
    pub(crate) fn has_pending(&self, mark: &RequestMark) -> bool {
        self.pending_since(mark).next().is_some()
    }

    /// Returns the requests since the mark that are in progress and that an action has to wait for.
    pub(crate) fn pending_since<'a>(
        &'a self,
        mark: &'a RequestMark,
    ) -> impl Iterator<Item = &'a Request> {
        self.following(mark)
            .filter(|request| self.open.get(&request.id) == Some(&request.number))
    }

    /// Returns whether a WebSocket since the mark is open and has received nothing. Firefox, which does not report messages, reports the end
    /// of the request with the handshake.
    pub(crate) fn has_silent_socket(&self, mark: &RequestMark) -> bool {
        let mut sockets = self.sockets(mark);
        sockets.any(|socket| socket.outcome.is_none() && self.messages.received(&socket.id) == 0)
    }

    /// Returns the number of messages that the WebSockets since the mark have received; `None` if there are no WebSockets. It is zero in
    /// Firefox.
    pub(crate) fn received_messages(&self, mark: &RequestMark) -> Option<usize> {
        let received = self.sockets(mark).map(|it| self.messages.received(&it.id));
        received.reduce(|sum, count| sum + count)
    }

    fn sockets(&self, mark: &RequestMark) -> impl Iterator<Item = &Request> {
        self.requests.iter().filter(|request| {
            request.number > mark.started
                && request.resource_type == "websocket"
                && request.worker.as_ref().is_none_or(RequestingWorker::is_own)
        })
    }

    /// Returns whether a response is received as a stream of events.
    pub(crate) fn has_stream(&self) -> bool {
        self.requests.iter().any(|request| {
            request.outcome.is_none()
                && match &request.response {
                    Some(response) => response.mime_type == "text/event-stream",
                    None => request.resource_type == "eventsource",
                }
        })
    }

    /// Returns the requests that an action has to wait for, without polling.
    fn following<'a>(&'a self, mark: &'a RequestMark) -> impl Iterator<Item = &'a Request> {
        let newer = self
            .requests
            .partition_point(|request| request.number <= mark.started);
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

    /// Returns the number of requests, which never decreases.
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    /// Returns the requests, also of earlier documents, that were sent after so many requests.
    pub(crate) fn sent_since(&self, started: u64) -> impl Iterator<Item = &Request> {
        let requests = self.earlier.iter().chain(&self.requests);
        requests.filter(move |request| request.number > started)
    }

    /// Returns the requests, also of earlier documents, whose responses arrived after so many responses.
    pub(crate) fn responded_since(&self, responses: u64) -> impl Iterator<Item = &Request> {
        let requests = self.earlier.iter().chain(&self.requests);
        requests.filter(move |request| request.responded > responses)
    }

    /// Returns the newest version of a request, also of an earlier document.
    pub(crate) fn latest(&self, request: &Request) -> Option<&Request> {
        self.get(request.number)
    }

    /// Sends each request that ends from now on to a recorder, with the identifier of the page.
    pub(crate) fn add_recorder(&mut self, page: PageId, sender: mpsc::Sender<(PageId, Request)>) {
        self.recorders.push(Recorder { page, sender });
    }

    /// Returns the requests of the document that have ended.
    pub(crate) fn ended(&self) -> Vec<Request> {
        let ended = self.requests.iter().filter(|it| it.outcome.is_some());
        ended.cloned().collect()
    }

    fn record(&mut self, request: &Request) {
        // A recorder with a full queue misses requests rather than to delay the page.
        self.recorders.retain(|recorder| {
            use mpsc::error::TrySendError;
            let sent = recorder
                .sender
                .try_send((recorder.page.clone(), request.clone()));
            !matches!(sent, Err(TrySendError::Closed(_)))
        });
    }

    /// Returns the messages of a WebSocket or of an event source.
    pub(crate) fn messages(&self, id: &RequestId) -> StreamMessages {
        self.messages.of(id)
    }

    pub(crate) fn all(&self) -> &[Request] {
        &self.requests
    }

    /// Returns the request of that number, also of an earlier document.
    pub(crate) fn get(&self, number: u64) -> Option<&Request> {
        let mut all = self.requests.iter().rev().chain(self.earlier.iter().rev());
        all.find(|request| request.number == number)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Request> {
        let requests = &mut self.requests;
        let index = requests.binary_search_by_key(&number, |request| request.number);
        requests.get_mut(index.ok()?)
    }

    /// Returns the newest complete request of a script, also of an earlier document.
    pub(crate) fn script(&self, url: &str) -> Option<&Request> {
        let mut all = self.requests.iter().rev().chain(self.earlier.iter().rev());
        all.find(|request| {
            let is_complete = matches!(request.outcome, Some(RequestOutcome::Finished { .. }));
            request.url == url && is_complete && request.resource_type == "script"
        })
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
        self.get_mut(*self.open.get(id)?)
    }

    /// Returns the first hop for which something was not reported yet.
    fn hop_mut(&mut self, id: &RequestId, lacks: impl Fn(&Raw) -> bool) -> Option<&mut Request> {
        let mut hops = self.hops.get(id)?.iter().copied();
        let is_lacking = |number: &u64| {
            let request = self.get(*number);
            request.is_some_and(|request| !request.raw.none && lacks(&request.raw))
        };
        let number = hops.find(is_lacking)?;
        self.get_mut(number)
    }

    /// Returns the headers of a request that its next hops begin with.
    fn early(&mut self, id: RequestId) -> &mut EarlyHeaders {
        if self.early.len() == MAX_EARLY_HEADERS {
            self.early.clear();
        }
        self.early.entry(id).or_default()
    }

    fn end(&mut self, id: &RequestId, outcome: RequestOutcome, at: f64) {
        if let Some(request) = self.open_mut(id) {
            request.outcome = Some(outcome);
            request.duration = elapsed(request.sent_at, at);
            let request = request.clone();
            self.record(&request);
        }
        self.open.remove(id);
    }

    fn bound(&mut self) {
        self.bound_bodies();
        if self.requests.len() > MAX_REQUESTS {
            let gone = self.requests.remove(0);
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

impl RequestLog {
    /// Drops the oldest bodies above the limits.
    fn bound_bodies(&mut self) {
        if self
            .requests
            .last()
            .is_none_or(|request| request.body.is_none())
        {
            return;
        }
        let (mut count, mut bytes) = (0, 0);
        let newest = self.requests.iter_mut().rev();
        for request in newest.chain(self.earlier.iter_mut().rev()) {
            let Some(body) = &request.body else { continue };
            count += 1;
            bytes += body.len();
            if count > MAX_BODIES || bytes > MAX_BODY_BYTES {
                request.body = None;
            }
        }
    }
}

/// Returns a URL without its query.
fn address(url: &str) -> &str {
    url.split_once('?').map_or(url, |(address, _)| address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::ResponseFacts;
    use std::time::Duration;

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
    fn a_navigation_keeps_its_own_request_and_all_numbers() {
        let mut log = RequestLog::default();
        log.apply(started("1", "/old", "fetch", Some("K")));
        log.apply(started("2", "/new", "document", Some("L")));
        log.on_navigated(&"L".into());
        assert_eq!(log.all().len(), 1);
        assert_eq!(log.all()[0].number, 2);
        assert_eq!(log.get(1).map(|request| &*request.url), Some("/old"));
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
    fn headers_belong_to_their_own_hop_whenever_they_are_reported() {
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
        let hops = || {
            vec![
                started("1", "/a", "document", Some("L")),
                responded(302),
                started("1", "/b", "document", Some("L")),
            ]
        };
        let of_hop = |number: &str| {
            [
                RequestEvent::HeadersSent {
                    id: "1".into(),
                    headers: header(number),
                },
                RequestEvent::HeadersReceived {
                    id: "1".into(),
                    headers: header(number),
                },
            ]
        };
        let headers = || ["first", "second"].into_iter().flat_map(of_hop).collect();
        let orders: [(Vec<_>, Vec<_>); 2] = [(hops(), headers()), (headers(), hops())];
        for (first, second) in orders {
            let mut log = RequestLog::default();
            for event in first.into_iter().chain(second).chain([responded(200)]) {
                log.apply(event);
            }
            for (request, number) in log.all().iter().zip(["first", "second"]) {
                assert_eq!(request.headers, header(number));
                assert_eq!(request.response.as_ref().unwrap().headers, header(number));
            }
        }
    }

    #[test]
    fn bodies_are_bounded_also_those_of_earlier_documents() {
        let mut log = RequestLog::default();
        let post = |index: usize, size: usize| {
            let mut event = started(&index.to_string(), "/", "fetch", Some("L"));
            if let RequestEvent::Started { has_body, body, .. } = &mut event {
                *has_body = true;
                *body = Some("x".repeat(size));
            }
            event
        };
        let kept = |log: &RequestLog| -> usize {
            let all = log.earlier.iter().chain(&log.requests);
            all.filter_map(|request| request.body.as_ref())
                .map(|body| body.len())
                .sum()
        };
        for round in 0..4 {
            for index in 0..10 {
                log.apply(post(index, MAX_BODY_BYTES / 4));
                assert!(kept(&log) <= MAX_BODY_BYTES, "{round}");
            }
            log.on_navigated(&"M".into());
        }
        log.apply(post(1, 3));
        assert_eq!(
            log.all()
                .last()
                .and_then(|last| last.body.as_ref())
                .map(|body| body.len()),
            Some(3)
        );
        // One that is too large is left to the browser.
        log.apply(post(2, MAX_BODY_BYTES * 10));
        assert!(
            log.all()
                .last()
                .is_some_and(|last| last.body.is_none() && last.has_body)
        );
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
