//! The requests of the engine itself in the documents of a page. They are no requests of the page: neither its log nor its console contains
//! them.

use crate::backend::{PageEvent, RequestEvent, RequestId};
use std::collections::{HashSet, VecDeque};

/// The largest number of URLs that are recorded; the oldest are removed first.
const MAX_URLS: usize = 64;

/// The requests of the engine.
#[derive(Debug, Default)]
pub(crate) struct OwnRequests {
    /// The URLs. They stay after the request, because the browser may report later what it says about it in the console.
    urls: VecDeque<String>,
    /// The requests in progress.
    open: HashSet<RequestId>,
}

impl OwnRequests {
    /// Records the URL of a request before it is sent.
    pub(crate) fn add(&mut self, url: &str) {
        self.urls.retain(|other| other != url);
        self.urls.push_back(url.to_owned());
        while self.urls.len() > MAX_URLS {
            self.urls.pop_front();
        }
    }

    /// Returns whether an event is about one of these requests.
    pub(super) fn is_own(&mut self, event: &PageEvent) -> bool {
        if self.urls.is_empty() {
            return false;
        }
        match event {
            PageEvent::Console(message) => self.urls.iter().any(|url| {
                let location = message.location.as_ref();
                // The messages of a policy have the location of the document.
                location.is_some_and(|location| location.url == *url) || message.text.contains(url)
            }),
            PageEvent::Request(event) => match event {
                RequestEvent::Started {
                    id,
                    url,
                    is_navigation: false,
                    ..
                } if self.urls.contains(url) => {
                    self.open.insert(id.clone());
                    true
                }
                RequestEvent::Started { id, .. }
                | RequestEvent::HeadersSent { id, .. }
                | RequestEvent::ServedFromCache { id }
                | RequestEvent::Responded { id, .. }
                | RequestEvent::HeadersReceived { id, .. }
                | RequestEvent::Message { id, .. } => self.open.contains(id),
                RequestEvent::Finished { id, .. } | RequestEvent::Failed { id, .. } => {
                    self.open.remove(id)
                }
            },
            _ => false,
        }
    }
}
