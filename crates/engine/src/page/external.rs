//! URLs of external protocols, which a browser would open with another program.

use super::{Page, PageState};
use crate::backend::{PageEvent, RequestEvent};
use url::Url;

/// The largest number of URLs that are kept until they are reported.
const MAX_URLS: usize = 10;
/// The longest text of a URL that is kept, in bytes.
const MAX_LENGTH: usize = 300;

/// The schemes of internal pages of Chromium browsers.
pub const INTERNAL_PAGES: &[&str] = &[
    "brave",
    "chrome",
    "chrome-error",
    "chrome-extension",
    "chrome-native",
    "chrome-search",
    "chrome-untrusted",
    "devtools",
    "edge",
    "opera",
    "vivaldi",
];

/// The other schemes of URLs that browsers open themselves.
const INTERNAL: &[&str] = &[
    "about",
    "blob",
    "data",
    "file",
    "filesystem",
    "http",
    "https",
    "isolated-app",
    "jar",
    "javascript",
    "moz-extension",
    "resource",
    "view-source",
    "webkit",
    "ws",
    "wss",
];

/// Returns whether a URL has the scheme of an external protocol.
fn is_external(url: &str) -> bool {
    let mut internal = INTERNAL.iter().chain(INTERNAL_PAGES);
    Url::parse(url).is_ok_and(|url| !internal.any(|scheme| *scheme == url.scheme()))
}

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
        let url = match url.len() > MAX_LENGTH {
            true => format!("{}…", &url[..url.floor_char_boundary(MAX_LENGTH)]),
            false => url.clone(),
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_protocols_are_those_that_no_browser_knows() {
        for url in [
            "mailto:a@b.example",
            "tel:1",
            "web+own:x",
            "MAGNET:?x",
            "x-own://a/b",
            "ftp://a.example/b",
        ] {
            assert!(is_external(url), "{url}");
        }
        for url in [
            "https://a.example/",
            "about:blank",
            "blob:https://a.example/1",
            "chrome-error://chromewebdata/",
            "brave://settings",
            "/relative?to=mailto:a",
            "",
        ] {
            assert!(!is_external(url), "{url}");
        }
    }
}
