//! Properties of a URL that do not depend on a browser.

use crate::error::{Error, NetError};
use url::Url;

/// Returns a URL in the serialization of browsers, or an invalid one unchanged.
fn written(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), String::from)
}

/// Returns the error of a failed navigation to a URL.
pub(crate) fn navigation_failed(url: &str, reason: NetError) -> Error {
    let url = written(url);
    Error::NavigationFailed { url, reason }
}

/// Whether a navigation from one URL to another stays within the document.
pub(crate) fn is_within_document(from: &str, to: &str) -> bool {
    let (Ok(mut from), Ok(mut to)) = (Url::parse(from), Url::parse(to)) else {
        return false;
    };
    if to.fragment().is_none() {
        return false;
    }
    from.set_fragment(None);
    to.set_fragment(None);
    from == to
}

/// Returns the origin of a URL; `null` if it is opaque.
pub(crate) fn origin_of(url: &str) -> String {
    let opaque = || "null".to_owned();
    Url::parse(url).map_or_else(|_| opaque(), |url| url.origin().ascii_serialization())
}

/// Whether a URL has an origin that is not opaque.
pub(crate) fn is_of_origin(url: &str, origin: &str) -> bool {
    let rest = url.strip_prefix(origin);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
}

/// Whether a URL has the scheme `javascript:`.
pub(crate) fn is_script(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.scheme() == "javascript")
}

/// Whether the browser itself loads a URL, so that a navigation can end without a document and without an error. URLs for other programs
/// always end without a document.
pub(crate) fn is_opened_here(url: &str) -> bool {
    let scheme = Url::parse(url).map(|url| url.scheme().to_owned());
    matches!(
        scheme.as_deref(),
        Ok("http" | "https" | "file" | "blob" | "data" | "about" | "chrome")
    )
}

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
pub(crate) fn is_external(url: &str) -> bool {
    let mut internal = INTERNAL.iter().chain(INTERNAL_PAGES);
    Url::parse(url).is_ok_and(|url| !internal.any(|scheme| *scheme == url.scheme()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_fragment_is_a_same_document_navigation() {
        let page = "https://a.test/p?q=1";
        assert!(is_within_document(page, "https://a.test/p?q=1#x"));
        assert!(is_within_document(
            "https://a.test/p?q=1#x",
            "https://a.test/p?q=1#y"
        ));
        assert!(!is_within_document("https://a.test/p?q=1#x", page));
        assert!(!is_within_document(page, "https://a.test/p?q=2#x"));
    }

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
