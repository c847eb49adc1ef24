//! Deciding about requests before they are sent. Whoever began last decides first, and may pass a request on to who began before.

use super::{Page, Shared};
use crate::backend::{Fetched, PausedRequest, Verdict};
use crate::error::Result;
use crate::progress::Progress;
use std::sync::{Arc, PoisonError};
use task::spawn;
use tokio::sync::mpsc;

/// Requests that may wait for one decider.
const MAX_QUEUED_REQUESTS: usize = 4_096;

/// Who decides about the requests of a page, until dropped.
#[derive(Debug)]
pub struct Interceptor {
    page: Page,
    number: u64,
    paused: mpsc::Receiver<PausedRequest>,
}

/// A request that waits for a decision. Dropped, it is passed on.
#[derive(Debug)]
pub struct Intercepted {
    page: Page,
    number: u64,
    request: Option<PausedRequest>,
}

/// Everybody who decides about a page's requests, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Interceptors {
    all: Vec<(u64, mpsc::Sender<PausedRequest>)>,
    last: u64,
}

impl Interceptors {
    /// Gives a request to who comes before `number`, or to the newest of all; gives it back if there is nobody.
    fn offer(&self, mut request: PausedRequest, number: Option<u64>) -> Option<PausedRequest> {
        let earlier = |own: &u64| number.is_none_or(|number| *own < number);
        for (_, decider) in self.all.iter().rev().filter(|(own, _)| earlier(own)) {
            match decider.try_send(request) {
                Ok(()) => return None,
                Err(error) => request = error.into_inner(),
            }
        }
        Some(request)
    }
}

impl Shared {
    /// Whether somebody took it.
    pub(super) fn intercept_request(&self, request: PausedRequest) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.deciders.offer(request, None).is_none()
    }
}

impl Page {
    /// Has every request of the page's documents wait for a decision from now on.
    pub async fn intercept(&self, progress: &Progress) -> Result<Interceptor> {
        let (decider, paused) = mpsc::channel(MAX_QUEUED_REQUESTS);
        let number = {
            let mut state = self.state();
            state.deciders.last += 1;
            let number = state.deciders.last;
            state.deciders.all.push((number, decider));
            number
        };
        let interceptor = Interceptor {
            page: self.clone(),
            number,
            paused,
        };
        progress.run(self.backend.set_interception(true)).await?;
        Ok(interceptor)
    }
}

impl Interceptor {
    /// The next request that waits; `None` when the page is gone.
    pub async fn next(&mut self) -> Option<Intercepted> {
        let request = self.paused.recv().await?;
        Some(self.intercepted(request))
    }

    fn intercepted(&self, request: PausedRequest) -> Intercepted {
        Intercepted {
            page: self.page.clone(),
            number: self.number,
            request: Some(request),
        }
    }
}

impl Drop for Interceptor {
    fn drop(&mut self) {
        let last = {
            let mut state = self.page.state();
            state.deciders.all.retain(|(own, _)| *own != self.number);
            state.deciders.all.is_empty()
        };
        self.paused.close();
        while let Ok(request) = self.paused.try_recv() {
            drop(self.intercepted(request));
        }
        if last && !self.page.is_closed() {
            let page = self.page.clone();
            in_background(async move {
                let wanted = || !page.state().deciders.all.is_empty();
                if !wanted() {
                    page.backend.set_interception(false).await?;
                }
                // Somebody may have begun meanwhile.
                if wanted() {
                    page.backend.set_interception(true).await?;
                }
                Ok(())
            });
        }
    }
}

impl Intercepted {
    /// What waits.
    pub fn request(&self) -> Option<&PausedRequest> {
        self.request.as_ref()
    }

    /// Sends it, with the changes of a [`Verdict::Continue`]; what the server answers waits then, and is decided about instead.
    pub async fn fetch(&self, progress: &Progress, changes: Verdict) -> Result<Fetched> {
        let key = self.request.as_ref().map_or("", |request| &request.key);
        progress.run(self.page.backend.fetch(key, changes)).await
    }

    /// Decides.
    pub async fn decide(mut self, progress: &Progress, verdict: Verdict) -> Result<()> {
        let Some(request) = self.request.take() else {
            return Ok(());
        };
        let backend = &self.page.backend;
        progress.run(backend.decide(&request.key, verdict)).await
    }
}

impl Drop for Intercepted {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else {
            return;
        };
        let left = self.page.state().deciders.offer(request, Some(self.number));
        let backend: Arc<_> = self.page.backend.clone();
        if let Some(request) = left {
            in_background(async move { backend.decide(&request.key, Verdict::unchanged()).await });
        }
    }
}

fn in_background(work: impl Future<Output = Result<()>> + Send + 'static) {
    if tokio::runtime::Handle::try_current().is_ok() {
        spawn("requests", async move {
            // A page that has gone needs no decision.
            drop(work.await);
        })
        .detach();
    }
}
