//! The requests of the engine itself in the documents of a page. They are no requests of the page: neither its log nor its console contains
//! them. Pages can request the same URLs, so what is left out is counted.

use crate::backend::{MessageKind, PageEvent, RequestEvent, RequestId};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::Instant;

/// The number of console messages that a browser adds for a request: that a policy prevented it, and that it failed.
const MAX_MESSAGES: usize = 2;

/// How long after the start of a request a browser may add messages.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// The requests of the engine.
#[derive(Debug, Default)]
pub(crate) struct OwnRequests {
    /// Those that the browser has not reported yet, or whose messages may still come.
    expected: Vec<Expected>,
    /// The requests in progress.
    open: HashSet<RequestId>,
}

#[derive(Debug)]
struct Expected {
    url: String,
    is_started: bool,
    /// The number of messages that may still come.
    messages: usize,
    until: Instant,
}

impl OwnRequests {
    /// Records the URL of a request before it is sent.
    pub(crate) fn add(&mut self, url: &str) {
        self.remove_old();
        self.expected.push(Expected {
            url: url.to_owned(),
            is_started: false,
            messages: MAX_MESSAGES,
            until: Instant::now() + MESSAGE_TIMEOUT,
        });
    }

    /// Returns whether an event is about one of these requests.
    pub(super) fn is_own(&mut self, event: &PageEvent) -> bool {
        if self.expected.is_empty() && self.open.is_empty() {
            return false;
        }
        match event {
            PageEvent::Console(message) if message.kind != MessageKind::PageError => {
                self.remove_old();
                let is_about = |expected: &&mut Expected| {
                    let location = message.location.as_ref();
                    // The messages of a policy have the location of the document.
                    expected.messages > 0
                        && (location.is_some_and(|location| location.url == expected.url)
                            || message.text.contains(&expected.url))
                };
                let found = self.expected.iter_mut().find(is_about);
                found.map(|expected| expected.messages -= 1).is_some()
            }
            PageEvent::Request(event) => match event {
                RequestEvent::Started {
                    id,
                    url,
                    is_navigation: false,
                    ..
                } => {
                    self.remove_old();
                    let mut expected = self.expected.iter_mut();
                    let found = expected.find(|it| !it.is_started && it.url == *url);
                    let Some(found) = found else { return false };
                    found.is_started = true;
                    self.open.insert(id.clone())
                }
                RequestEvent::Started { .. } => false,
                RequestEvent::SentByWorker { id, .. }
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

    fn remove_old(&mut self) {
        let now = Instant::now();
        self.expected.retain(|expected| expected.until > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::ConsoleMessage;

    fn message(text: &str) -> PageEvent {
        PageEvent::Console(ConsoleMessage {
            kind: MessageKind::Error,
            text: text.to_owned(),
            location: None,
        })
    }

    #[test]
    fn a_page_hides_nothing_behind_the_url_of_a_map() {
        let mut requests = OwnRequests::default();
        let url = "http://site.test/app.js.map";
        assert!(!requests.is_own(&message(url)));
        requests.add(url);
        assert!(!requests.is_own(&message("another")));
        assert!(requests.is_own(&message(&format!("blocked {url}"))));
        assert!(requests.is_own(&message(&format!("failed {url}"))));
        assert!(!requests.is_own(&message(&format!("of the page {url}"))));
    }
}
