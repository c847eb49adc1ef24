//! Interception of requests. The newest interceptor decides first, and may pass a request on to older ones.

use super::{Page, Shared};
use crate::backend::{Fetched, PausedRequest, Verdict};
use crate::error::Result;
use crate::progress::Progress;
use std::sync::{Arc, PoisonError};
use task::spawn;
use tokio::sync::mpsc;

/// The largest number of requests that wait for one interceptor.
const MAX_QUEUED_REQUESTS: usize = 4_096;

/// An interceptor of a page's requests, which is removed when dropped.
#[derive(Debug)]
pub struct Interceptor {
    page: Page,
    number: u64,
    paused: mpsc::Receiver<PausedRequest>,
}

/// A paused request. When dropped, it is passed on.
#[derive(Debug)]
pub struct Intercepted {
    page: Page,
    number: u64,
    request: Option<PausedRequest>,
}

/// The interceptors of a page in the order of their creation.
#[derive(Debug, Default)]
pub(crate) struct Interceptors {
    all: Vec<(u64, mpsc::Sender<PausedRequest>)>,
    last: u64,
}

impl Interceptors {
    /// Passes a request to the interceptor before `number`, or to the newest one; returns it if there is none.
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
    /// Returns whether an interceptor received it.
    pub(super) fn intercept_request(&self, request: PausedRequest) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.deciders.offer(request, None).is_none()
    }
}

impl Page {
    /// Intercepts every request of the page's documents from now on.
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
    /// Returns the next paused request; `None` when the page has closed.
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
                // Another interceptor may have been created meanwhile.
                if wanted() {
                    page.backend.set_interception(true).await?;
                }
                Ok(())
            });
        }
    }
}

impl Intercepted {
    /// Returns the paused request.
    pub fn request(&self) -> Option<&PausedRequest> {
        self.request.as_ref()
    }

    /// Sends the request with the changes of a [`Verdict::Continue`], and pauses its response, to which the decision then applies.
    pub async fn fetch(&self, progress: &Progress, changes: Verdict) -> Result<Fetched> {
        let key = self.request.as_ref().map_or("", |request| &request.key);
        progress.run(self.page.backend.fetch(key, changes)).await
    }

    /// Executes a decision.
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
            // A closed page needs no decision.
            drop(work.await);
        })
        .detach();
    }
}
