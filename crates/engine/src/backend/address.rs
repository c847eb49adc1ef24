//! What can be derived from a URL before a browser navigates to it.

use crate::error::{Error, NetError};
use url::Url;

/// A URL as browsers write it; an invalid one is returned unchanged.
fn written(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), String::from)
}

/// The error of a navigation to a URL that failed.
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

/// Whether it is a script instead of an address.
pub(crate) fn is_script(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.scheme() == "javascript")
}

/// Whether the browser opens it itself, so that it can end without a document in good order; what other programs open it does not.
pub(crate) fn is_opened_here(url: &str) -> bool {
    let scheme = Url::parse(url).map(|url| url.scheme().to_owned());
    matches!(
        scheme.as_deref(),
        Ok("http" | "https" | "file" | "blob" | "data" | "about" | "chrome")
    )
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
}
