//! Addresses of links: shortened, on one line.

use super::quote::{is_like_ref, push_quoted};

/// The longest address that is written whole, in characters.
const MAX_ADDRESS: usize = 80;

/// Writes an address without the origin of its document, and without what follows its first 80 characters.
pub(super) fn address(out: &mut String, url: &str, origin: &str) {
    let scheme = origin.find("//").unwrap_or_default();
    let short = [origin, &origin[scheme..]].into_iter().find_map(|origin| {
        let rest = url.strip_prefix(origin).filter(|_| !origin.is_empty())?;
        // Another host may begin with the same characters.
        (rest.is_empty() || rest.starts_with(['/', '?', '#'])).then_some(rest)
    });
    let short = match short {
        Some("") => "/",
        short => short.unwrap_or(url),
    };
    let mut text = short;
    let mut end = "";
    if let Some((cut, _)) = short.char_indices().nth(MAX_ADDRESS) {
        (text, end) = (&short[..cut], "…");
    }
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"\"()|".contains(c);
    match !text.is_empty()
        && text.chars().all(is_plain)
        && !is_like_ref(text)
        && !text.ends_with(':')
    {
        true => {
            out.push_str(text);
            out.push_str(end);
        }
        false => push_quoted(out, &format!("{text}{end}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_the_origin_of_its_document() {
        let shown = |url: &str| {
            let mut out = String::new();
            address(&mut out, url, "http://shop.test:80");
            out
        };
        for (url, expected) in [
            ("http://shop.test:80/a?b#c", "/a?b#c"),
            ("//shop.test:80/a", "/a"),
            ("http://shop.test:80", "/"),
            ("http://shop.test:8080/a", "http://shop.test:8080/a"),
            (
                "http://shop.test:80.evil.test/",
                "http://shop.test:80.evil.test/",
            ),
            ("/a b", "\"/a b\""),
            ("e5", "\"e5\""),
            ("", "\"\""),
        ] {
            assert_eq!(shown(url), expected);
        }
        let long = shown(&format!("/{}", "ä".repeat(100)));
        assert_eq!(long.chars().count(), MAX_ADDRESS + 1);
        assert!(long.ends_with("ä…"), "{long}");
    }
}
