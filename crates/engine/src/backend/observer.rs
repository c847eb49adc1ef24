//! Observers of what happens in a browser.

use super::{ContextBackend, DownloadEvent, PageBackend, PageEvent, PageId, PausedRequest};
use std::sync::{Arc, OnceLock};

/// Hears what happens in a context outside its pages.
pub trait ContextObserver: Send + Sync {
    /// A page came to be: opened by us, by a script (then `opener` is known), or by the user. Returns who hears of it.
    fn page_opened(
        &self,
        page: Arc<dyn PageBackend>,
        opener: Option<PageId>,
    ) -> Arc<dyn PageObserver>;
    /// A page opened one more than pages may have open; it was closed at once.
    fn page_refused(&self, _opener: &PageId) {}
    /// A download went on.
    fn download(&self, event: DownloadEvent);
    /// The context is ready to be used; called once, before any page is reported.
    fn attached(&self, _context: &Arc<dyn ContextBackend>) {}
}

/// Hears what happens in one page, in the browser's order.
pub trait PageObserver: Send + Sync {
    /// Takes note; must return at once.
    fn event(&self, event: PageEvent);

    /// Takes over a request that waits, if somebody decides about it; must return at once.
    fn paused(&self, _request: PausedRequest) -> bool {
        false
    }
}

/// Reports a page's events to its observer, once it has one.
#[derive(Default)]
pub(crate) struct Reporter(OnceLock<Arc<dyn PageObserver>>);

impl Reporter {
    /// Sets the observer of everything from here on; once, by whoever prepares the page.
    pub(crate) fn set_observer(&self, observer: Arc<dyn PageObserver>) {
        let _ = self.0.set(observer);
    }

    pub(crate) fn report(&self, event: PageEvent) {
        if let Some(observer) = self.0.get() {
            observer.event(event);
        }
    }

    /// Offers a paused request to the observer; whether it decides about it.
    pub(crate) fn offer(&self, request: PausedRequest) -> bool {
        self.0
            .get()
            .is_some_and(|observer| observer.paused(request))
    }
}
