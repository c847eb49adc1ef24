//! URLs of external protocols, which a browser would open with another program.

use super::{Page, PageState};
use crate::backend::address::is_external;
use crate::backend::{PageEvent, RequestEvent};
use crate::text::shorten;

/// The largest number of URLs that are kept until they are reported.
const MAX_URLS: usize = 10;
/// The longest text of a URL that is kept, in bytes.
const MAX_LENGTH: usize = 300;

impl PageState {
    /// Records the URL of an external protocol that an event says the page has navigated to. Returns whether the event is the start of that
    /// navigation, which has no end: the document stays.
    pub(super) fn record_external_url(&mut self, event: &PageEvent) -> bool {
        let url = match event {
            PageEvent::NavigationStarted { url, .. } => url,
            PageEvent::Request(RequestEvent::Started {
                url, is_navigation, ..
            }) if *is_navigation => url,
            PageEvent::Request(RequestEvent::Responded { response, .. })
                if (300..400).contains(&response.status) =>
            {
                let mut headers = response.headers.iter();
                match headers.find(|(name, _)| name.eq_ignore_ascii_case("location")) {
                    Some((_, url)) => url,
                    None => return false,
                }
            }
            _ => return false,
        };
        if !is_external(url) {
            return false;
        }
        let mut url = url.clone();
        shorten(&mut url, MAX_LENGTH);
        if self.external_urls.len() < MAX_URLS && !self.external_urls.contains(&url) {
            self.external_urls.push(url);
        }
        matches!(event, PageEvent::NavigationStarted { .. })
    }
}

impl Page {
    /// Returns the URLs of external protocols that the page has navigated to since the last call of this function. No browser opens them.
    pub fn take_external_urls(&self) -> Vec<String> {
        std::mem::take(&mut self.state().external_urls)
    }
}
