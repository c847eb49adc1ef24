//! The origins that the pages of a context have visited.

use crate::backend::{PageEvent, PageObserver, PausedRequest};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The largest number of origins of a context.
const MAX_ORIGINS: usize = 1_000;

/// The visited origins that can have storage. Cheap to clone; all clones share the set.
#[derive(Debug, Clone, Default)]
pub(crate) struct VisitedOrigins(Arc<Mutex<BTreeSet<String>>>);

impl VisitedOrigins {
    /// Adds the origin of a URL.
    pub(crate) fn add(&self, url: &str) {
        let Ok(url) = url::Url::parse(url) else {
            return;
        };
        let mut origins = self.known();
        // Other schemes have opaque origins, or none that can be visited again.
        if matches!(url.scheme(), "http" | "https") && origins.len() < MAX_ORIGINS {
            origins.insert(url.origin().ascii_serialization());
        }
    }

    /// Returns all origins, sorted.
    pub(crate) fn origins(&self) -> Vec<String> {
        self.known().iter().cloned().collect()
    }

    /// Forwards a page's events, and records the origins of its navigations.
    pub(super) fn recording(&self, page: Arc<dyn PageObserver>) -> Arc<dyn PageObserver> {
        Arc::new(RecordingObserver {
            page,
            visited_origins: self.clone(),
        })
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct RecordingObserver {
    page: Arc<dyn PageObserver>,
    visited_origins: VisitedOrigins,
}

impl PageObserver for RecordingObserver {
    fn event(&self, event: PageEvent) {
        if let PageEvent::NavigationCommitted { url, .. } = &event {
            self.visited_origins.add(url);
        }
        self.page.event(event);
    }

    fn paused(&self, request: PausedRequest) -> bool {
        self.page.paused(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_origins_are_recorded() {
        let visited_origins = VisitedOrigins::default();
        for url in [
            "http://a:80/x?y#z",
            "https://b/",
            "about:blank",
            "data:,x",
            "file:///x",
            "http://a/",
        ] {
            visited_origins.add(url);
        }
        assert_eq!(visited_origins.origins(), ["http://a", "https://b"]);
    }
}
