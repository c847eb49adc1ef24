//! The interfaces that receive events of a browser.

use super::{
    ContextBackend, DownloadEvent, PageBackend, PageEvent, PageId, PausedRequest, RunningWorker,
};
use std::sync::{Arc, OnceLock};

/// Receives the events of a context that do not belong to a page.
pub trait ContextObserver: Send + Sync {
    /// A page was opened: by a command, by a script (then `opener` is set), or by the user. Returns the observer of the page.
    fn page_opened(
        &self,
        page: Arc<dyn PageBackend>,
        opener: Option<PageId>,
    ) -> Arc<dyn PageObserver>;
    /// A popup was closed at once, because the page has opened too many.
    fn page_refused(&self, _opener: &PageId) {}
    /// A shared or service worker of the context was started. Returns the observer of its console and its requests.
    fn worker_started(&self, worker: &RunningWorker) -> Arc<dyn PageObserver>;
    /// The state of a download changed.
    fn download(&self, event: DownloadEvent);
    /// The context is ready. Called once, before any page is reported.
    fn attached(&self, _context: &Arc<dyn ContextBackend>) {}
}

/// Receives the events of a page in the order of the browser.
pub trait PageObserver: Send + Sync {
    /// Receives an event. Must not block.
    fn event(&self, event: PageEvent);

    /// Receives a paused request. Returns whether the observer decides about it. Must not block.
    fn paused(&self, _request: PausedRequest) -> bool {
        false
    }
}

/// Passes the events of a page to its observer, once it has one.
#[derive(Default)]
pub(crate) struct Reporter(OnceLock<Arc<dyn PageObserver>>);

impl Reporter {
    /// Sets the observer of all further events. Called once, when the page is prepared.
    pub(crate) fn set_observer(&self, observer: Arc<dyn PageObserver>) {
        let _ = self.0.set(observer);
    }

    pub(crate) fn report(&self, event: PageEvent) {
        if let Some(observer) = self.0.get() {
            observer.event(event);
        }
    }

    /// Passes a paused request to the observer. Returns whether the observer decides about it.
    pub(crate) fn offer(&self, request: PausedRequest) -> bool {
        self.0
            .get()
            .is_some_and(|observer| observer.paused(request))
    }
}
