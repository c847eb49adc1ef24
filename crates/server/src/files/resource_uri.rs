//! Resource URIs: `playwright:///KIND/SESSION/…`.

use std::borrow::Cow;
use std::fmt;
use url::Url;

/// A parsed resource URI.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ResourceUri {
    /// A session.
    Session { session: String },
    /// A page of a session.
    Page { session: String, page: String },
    /// An element of a page: a ref or a selector.
    Element {
        session: String,
        page: String,
        element: String,
    },
    /// A screenshot of a page.
    Screenshot {
        session: String,
        page: String,
        time: String,
    },
    /// The request log of a page.
    NetworkLog { session: String, page: String },
    /// A file that a tool wrote.
    Artifact {
        session: String,
        number: u64,
        name: String,
    },
}

/// The resource templates (RFC 6570): name, template, description, MIME type.
pub(crate) const TEMPLATES: &[(&str, &str, &str, Option<&str>)] = &[
    (
        "session",
        "playwright:///session/{sessionId}",
        "A session: its pages and their addresses",
        Some("application/json"),
    ),
    (
        "page",
        "playwright:///page/{sessionId}/{pageId}",
        "A page: URL, title, viewport, when it was opened",
        Some("application/json"),
    ),
    (
        "element",
        "playwright:///element/{sessionId}/{pageId}/{elementId}",
        "An element by its ref from a snapshot, or by a selector: tag, attributes, text, box",
        Some("application/json"),
    ),
    (
        "screenshot",
        "playwright:///screenshot/{sessionId}/{pageId}/{timestamp}",
        "A screenshot that a tool took",
        None,
    ),
    (
        "network-log",
        "playwright:///network-log/{sessionId}/{pageId}",
        "What a page requested, and how that went",
        Some("application/json"),
    ),
    (
        "artifact",
        "playwright:///artifact/{sessionId}/{number}/{name}",
        "A file that a tool wrote: snapshot, PDF, download, log",
        None,
    ),
];

impl ResourceUri {
    /// Parses a URI; returns `None` if it is not a resource URI.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        let url = Url::parse(uri).ok().filter(|url| {
            url.scheme() == "playwright"
                && url.host_str().unwrap_or_default().is_empty()
                && url.query().is_none()
                && url.fragment().is_none()
        })?;
        let segments = url.path().strip_prefix('/')?.split('/').map(decoded);
        let segments: Vec<String> = segments.collect::<Option<_>>()?;
        if segments.iter().any(String::is_empty) {
            return None;
        }
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        Some(match segments[..] {
            ["session", session] => Self::Session {
                session: session.to_owned(),
            },
            ["page", session, page] => Self::Page {
                session: session.to_owned(),
                page: page.to_owned(),
            },
            ["element", session, page, element] => Self::Element {
                session: session.to_owned(),
                page: page.to_owned(),
                element: element.to_owned(),
            },
            ["screenshot", session, page, time] => Self::Screenshot {
                session: session.to_owned(),
                page: page.to_owned(),
                time: time.to_owned(),
            },
            ["network-log", session, page] => Self::NetworkLog {
                session: session.to_owned(),
                page: page.to_owned(),
            },
            ["artifact", session, number, name] => Self::Artifact {
                session: session.to_owned(),
                number: number.parse().ok()?,
                name: name.to_owned(),
            },
            _ => return None,
        })
    }

    /// Returns the session of the resource.
    pub(crate) fn session(&self) -> &str {
        match self {
            Self::Session { session }
            | Self::Page { session, .. }
            | Self::Element { session, .. }
            | Self::Screenshot { session, .. }
            | Self::NetworkLog { session, .. }
            | Self::Artifact { session, .. } => session,
        }
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("playwright:///")?;
        let segments: [&str; 4] = match self {
            Self::Session { session } => ["session", session, "", ""],
            Self::Page { session, page } => ["page", session, page, ""],
            Self::Element {
                session,
                page,
                element,
            } => ["element", session, page, element],
            Self::Screenshot {
                session,
                page,
                time,
            } => ["screenshot", session, page, time],
            Self::NetworkLog { session, page } => ["network-log", session, page, ""],
            Self::Artifact {
                session,
                number,
                name,
            } => {
                return write!(
                    f,
                    "artifact/{}/{number}/{}",
                    encoded(session),
                    encoded(name)
                );
            }
        };
        let shown = segments.iter().filter(|segment| !segment.is_empty());
        for (index, segment) in shown.enumerate() {
            let slash = if index == 0 { "" } else { "/" };
            write!(f, "{slash}{}", encoded(segment))?;
        }
        Ok(())
    }
}

/// Encodes a path segment: RFC 3986 permits `:` and the unreserved characters.
fn encoded(segment: &str) -> String {
    let mut text = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' | b':' | b'.' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    // A parser would interpret them as relative references.
    match &*text {
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        _ => text,
    }
}

fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                bytes.push(u8::try_from(digit(high)? * 16 + digit(low)?).ok()?);
                tail
            }
            (b'%', _) => return None,
            _ => {
                bytes.push(*first);
                tail
            }
        };
    }
    String::from_utf8(bytes).ok()
}

/// The longest part of a client's text that an answer repeats, in characters.
const MAX_REPEATED_CHARS: usize = 200;

/// Returns the part of a client's text that an answer repeats.
pub(crate) fn brief(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_REPEATED_CHARS) {
        None => text.into(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::timestamp;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_address_is_read_as_it_was_written(parts in proptest::collection::vec("[^/]{1,12}", 3), number: u64) {
            let [session, page, element] = &parts[..] else { unreachable!() };
            prop_assume!(parts.iter().all(|part| part != "." && part != ".."));
            for address in [
                ResourceUri::Session { session: session.clone() },
                ResourceUri::Page { session: session.clone(), page: page.clone() },
                ResourceUri::Element { session: session.clone(), page: page.clone(), element: element.clone() },
                ResourceUri::Screenshot { session: session.clone(), page: page.clone(), time: element.clone() },
                ResourceUri::NetworkLog { session: session.clone(), page: page.clone() },
                ResourceUri::Artifact { session: session.clone(), number, name: page.clone() },
            ] {
                prop_assert_eq!(ResourceUri::parse(&address.to_string()), Some(address));
            }
        }
    }

    #[test]
    fn resource_uris_have_the_form_of_the_requirements() {
        let address = ResourceUri::Screenshot {
            session: "abc123".to_owned(),
            page: "page-1".to_owned(),
            time: timestamp(std::time::SystemTime::UNIX_EPOCH),
        };
        assert_eq!(
            address.to_string(),
            "playwright:///screenshot/abc123/page-1/1970-01-01T00:00:00.000Z"
        );
    }

    #[test]
    fn what_is_no_address_is_none() {
        for uri in [
            "",
            "playwright:///",
            "playwright:///page/a",
            "playwright:///page/a/b/c/d",
            "playwright://host/session/a",
            "playwright:///session/",
            "file:///etc/passwd",
            "playwright:///artifact/a/x/b",
            "playwright:///artifact/a/1/../../b",
            "playwright:///session/a?b",
            "playwright:///session/%FF",
        ] {
            assert_eq!(ResourceUri::parse(uri), None, "{uri}");
        }
    }
}
