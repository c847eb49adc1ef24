//! The requests of a browser context with their bodies, as they end.

use super::entry::{Bodies, Body};
use engine::{
    BrowserContext, Page, PageId, Progress, Request, RequestOutcome, RequestRecorder, UrlPattern,
};
use futures_util::future::{BoxFuture, Fuse, join_all};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The largest number of requests whose bodies are read at the same time.
const MAX_READS: usize = 8;
/// How long a browser may take to return a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long all pages and all bodies may take after the stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// A body that exceeds the limit.
const TOO_LARGE: Body = Body::LeftOut("The body is larger than the limit");

/// What is read of each request.
#[derive(Debug, Clone)]
pub(crate) struct ReadOptions {
    /// Whether bodies of responses are read.
    pub(crate) reads_responses: bool,
    /// The largest body that is read, in bytes.
    pub(crate) max_body: usize,
    /// The URLs of the requests; `None`: all.
    pub(crate) url: Option<UrlPattern>,
    /// Whether the requests of the current documents that ended before come first.
    pub(crate) includes_earlier: bool,
}

/// A request, its page and its bodies.
pub(crate) type Exchange = (Page, Request, Bodies);

/// The requests of a browser context, each when it has ended. After `stop`: those whose end the browser has reported, then those in progress.
pub(crate) struct Exchanges {
    context: BrowserContext,
    ended: RequestRecorder,
    /// Whether `ended` has no further requests.
    is_complete: bool,
    options: ReadOptions,
    /// Ends after the stop, when all pages have reported what ended before it.
    flushed: Fuse<BoxFuture<'static, ()>>,
    /// Ends when the time after the stop has passed.
    deadline: Fuse<BoxFuture<'static, ()>>,
    /// Ends all reads, after the deadline.
    give_up: CancellationToken,
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
        let (context, stopped) = (context.clone(), stop.clone());
        let deadline = async move {
            stopped.cancelled().await;
            sleep(STOP_TIMEOUT).await;
        };
        Self {
            ended: context.record_requests(options.includes_earlier),
            is_complete: false,
            options,
            flushed: flush(context.clone(), stop).boxed().fuse(),
            deadline: deadline.boxed().fuse(),
            give_up: CancellationToken::new(),
            reads: FuturesUnordered::new(),
            pending: None,
            pages: HashMap::new(),
            context,
        }
    }

    /// Returns the next request; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Exchange> {
        while !self.is_complete || !self.reads.is_empty() {
            tokio::select! {
                biased;
                () = &mut self.deadline => self.give_up.cancel(),
                () = &mut self.flushed => self.ended.close(),
                Some(exchange) = self.reads.next() => return Some(exchange),
                next = self.ended.next(), if !self.is_complete && self.reads.len() < MAX_READS => match next {
                    Some((page, request)) => self.read(page, request).await,
                    None => self.is_complete = true,
                },
            }
        }
        loop {
            let (page, request) = self.next_pending()?;
            let Some(page) = self.page(&page) else {
                continue;
            };
            if self.options.want(&request).await {
                let bodies = Bodies {
                    request: match &request.body {
                        Some(body) => self.options.bounded(body.as_bytes().to_vec()),
                        None => Body::None,
                    },
                    response: Body::LeftOut("The response was not complete"),
                    messages: page.stream_messages(&request.id),
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
        let give_up = self.give_up.clone();
        self.reads.push(Box::pin(async move {
            let progress = Progress::cancelled_by(BODY_TIMEOUT, give_up);
            let bodies = read_bodies(&page, &request, &options, &progress).await;
            if matches!(request.outcome, Some(RequestOutcome::Redirected)) {
                // The raw headers may follow the next request.
                let flush = async {
                    page.flush().await;
                    Ok(())
                };
                let _ = progress.run(flush).await;
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
    fn bounded(&self, body: Vec<u8>) -> Body {
        match body.len() > self.max_body {
            true => TOO_LARGE,
            false => Body::Bytes(body),
        }
    }

    async fn want(&self, request: &Request) -> bool {
        let Some(pattern) = &self.url else {
            return true;
        };
        let matched = pattern.are_matched(vec![request.url.clone()]).await;
        matched.is_ok_and(|matched| matched == [true])
    }
}

/// Returns after the stop, when all pages have reported what ended before it, or when the time for that has passed.
async fn flush(context: BrowserContext, stop: CancellationToken) {
    stop.cancelled().await;
    let pages = context.pages();
    let flushed = join_all(pages.iter().map(Page::flush));
    let _ = timeout(STOP_TIMEOUT, flushed).await;
}

/// Reads the bodies of a request and of its response.
async fn read_bodies(
    page: &Page,
    request: &Request,
    options: &ReadOptions,
    progress: &Progress,
) -> Bodies {
    let mut bodies = Bodies {
        messages: page.stream_messages(&request.id),
        ..Bodies::default()
    };
    if let Some(body) = &request.body {
        bodies.request = options.bounded(body.as_bytes().to_vec());
    } else if request.has_body {
        bodies.request = match page.request_body(progress, &request.id).await {
            Ok(Some(body)) => options.bounded(body),
            Ok(None) => Body::None,
            Err(error) => not_read(&error),
        };
    }
    let (Some(RequestOutcome::Finished { size }), Some(response)) =
        (&request.outcome, &request.response)
    else {
        return bodies;
    };
    let is_empty = request.method == "HEAD" || matches!(response.status, 101 | 204 | 205 | 304);
    if is_empty || request.resource_type == "websocket" {
        return bodies;
    }
    let is_too_large = usize::try_from(*size).is_ok_and(|size| size > options.max_body);
    bodies.response = if !options.reads_responses {
        Body::LeftOut("Contents are omitted")
    } else if is_too_large {
        TOO_LARGE
    } else {
        match page.response_body(progress, &request.id).await {
            Ok(body) => options.bounded(body),
            Err(error) => not_read(&error),
        }
    };
    bodies
}

/// Returns the reason why a body could not be read.
fn not_read(error: &engine::Error) -> Body {
    Body::LeftOut(match error {
        engine::Error::Timeout { .. } | engine::Error::Cancelled {} => {
            "The browser did not return the body in time"
        }
        _ => "The browser no longer has the body",
    })
}
