//! The requests of a browser context with their bodies, as they end.

use super::entry::{Bodies, Body};
use engine::{
    BrowserContext, Page, PageId, Progress, Request, RequestOutcome, RequestRecorder, UrlPattern,
};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use std::collections::HashMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The largest number of requests whose bodies are read at the same time.
const MAX_READS: usize = 8;
/// How long a browser may take to return a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// What is read of each request.
#[derive(Debug, Clone)]
pub(crate) struct ReadOptions {
    /// Whether bodies of responses are read.
    pub(crate) reads_responses: bool,
    /// The largest body that is read, in bytes.
    pub(crate) max_body: usize,
    /// The URLs of the requests; `None`: all.
    pub(crate) url: Option<UrlPattern>,
}

/// A request, its page and its bodies.
pub(crate) type Exchange = (Page, Request, Bodies);

/// The requests of a browser context, each when it has ended. After `stop`: those whose end the browser has reported, then those in progress.
pub(crate) struct Exchanges {
    context: BrowserContext,
    ended: RequestRecorder,
    options: ReadOptions,
    stop: CancellationToken,
    is_stopped: bool,
    reads: FuturesUnordered<BoxFuture<'static, Exchange>>,
    /// The requests in progress at the end.
    pending: Option<std::vec::IntoIter<(PageId, Request)>>,
    /// Pages, which may be closed meanwhile.
    pages: HashMap<PageId, Page>,
}

impl Exchanges {
    /// Follows the requests of all pages of the context from now on.
    pub(crate) fn of(
        context: &BrowserContext,
        options: ReadOptions,
        stop: CancellationToken,
    ) -> Self {
        Self {
            context: context.clone(),
            ended: context.record_requests(),
            options,
            stop,
            is_stopped: false,
            reads: FuturesUnordered::new(),
            pending: None,
            pages: HashMap::new(),
        }
    }

    /// Begins with the requests of the current documents that ended before.
    pub(crate) async fn and_earlier(mut self) -> Self {
        for (page, request) in self.ended.take_earlier() {
            self.read(page, request).await;
        }
        self
    }

    /// Returns the next request; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Exchange> {
        while !self.is_stopped {
            tokio::select! {
                biased;
                Some(exchange) = self.reads.next(), if !self.reads.is_empty() => return Some(exchange),
                next = self.ended.next(), if self.reads.len() < MAX_READS => match next {
                    Some((page, request)) => self.read(page, request).await,
                    None => self.is_stopped = true,
                },
                () = self.stop.cancelled() => {
                    for page in self.context.pages() {
                        // Requests that the browser has reported as ended are included.
                        let _ = tokio::time::timeout(BODY_TIMEOUT, page.flush()).await;
                    }
                    self.is_stopped = true;
                }
            }
        }
        while self.reads.len() < MAX_READS
            && let Some((page, request)) = self.ended.try_next()
        {
            self.read(page, request).await;
        }
        if let Some(exchange) = self.reads.next().await {
            return Some(exchange);
        }
        loop {
            let (page, request) = self.next_pending()?;
            let Some(page) = self.page(&page) else {
                continue;
            };
            if self.options.want(&request).await {
                let bodies = Bodies {
                    request: request.body.as_ref().map(|body| body.as_bytes().to_vec()),
                    response: Body::LeftOut("The response was not complete"),
                    messages: page.stream_messages(&request.id).messages,
                };
                return Some((page, request, bodies));
            }
        }
    }

    fn next_pending(&mut self) -> Option<(PageId, Request)> {
        let pending = self.pending.get_or_insert_with(|| {
            let of_page = |page: Page| {
                let requests = page.requests().into_iter();
                let pending = requests.filter(|request| request.outcome.is_none());
                pending
                    .map(|request| (page.id().clone(), request))
                    .collect::<Vec<_>>()
            };
            let pending: Vec<_> = self.context.pages().into_iter().flat_map(of_page).collect();
            pending.into_iter()
        });
        pending.next()
    }

    /// Begins to read the bodies of a request, if it is wanted.
    async fn read(&mut self, page: PageId, request: Request) {
        if !self.options.want(&request).await {
            return;
        }
        let Some(page) = self.page(&page) else { return };
        let options = self.options.clone();
        self.reads.push(Box::pin(async move {
            let bodies = read_bodies(&page, &request, &options).await;
            if matches!(request.outcome, Some(RequestOutcome::Redirected)) {
                // The raw headers may follow the next request.
                let _ = tokio::time::timeout(BODY_TIMEOUT, page.flush()).await;
            }
            // The browser may have reported raw headers meanwhile.
            let request = page.latest(&request).unwrap_or(request);
            (page, request, bodies)
        }));
    }

    fn page(&mut self, id: &PageId) -> Option<Page> {
        if !self.pages.contains_key(id) {
            let mut open = self.context.pages().into_iter();
            self.pages
                .insert(id.clone(), open.find(|page| page.id() == id)?);
        }
        self.pages.get(id).cloned()
    }
}

impl ReadOptions {
    async fn want(&self, request: &Request) -> bool {
        let Some(pattern) = &self.url else {
            return true;
        };
        let matched = pattern.are_matched(vec![request.url.clone()]).await;
        matched.is_ok_and(|matched| matched == [true])
    }
}

/// Reads the bodies of a request and of its response.
async fn read_bodies(page: &Page, request: &Request, options: &ReadOptions) -> Bodies {
    let progress = Progress::new(BODY_TIMEOUT);
    let mut bodies = Bodies {
        messages: page.stream_messages(&request.id).messages,
        ..Bodies::default()
    };
    if let Some(body) = &request.body {
        bodies.request = Some(body.as_bytes().to_vec());
    } else if request.has_body {
        let read = page.request_body(&progress, &request.id).await;
        bodies.request = read.ok().flatten();
    }
    bodies.request.take_if(|body| body.len() > options.max_body);
    let (Some(RequestOutcome::Finished { size }), Some(response)) =
        (&request.outcome, &request.response)
    else {
        return bodies;
    };
    let is_empty = request.method == "HEAD" || matches!(response.status, 101 | 204 | 205 | 304);
    if is_empty || request.resource_type == "websocket" {
        return bodies;
    }
    let too_large = Body::LeftOut("The body is larger than the limit");
    let is_too_large = usize::try_from(*size).is_ok_and(|size| size > options.max_body);
    bodies.response = if !options.reads_responses {
        Body::LeftOut("Contents are omitted")
    } else if is_too_large {
        too_large
    } else {
        match page.response_body(&progress, &request.id).await {
            Ok(body) if body.len() > options.max_body => too_large,
            Ok(body) => Body::Bytes(body),
            Err(_) => Body::LeftOut("The browser no longer has the body"),
        }
    };
    bodies
}
