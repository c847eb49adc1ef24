//! Rules by which requests are refused, or answered without a server, and the patterns that say which requests.

use std::sync::Arc;
use std::time::Duration;

/// A rule about requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// Which URLs; all if none.
    pub url: Option<UrlPattern>,
    /// Which resource type, as Playwright names it; all if none.
    pub resource_type: Option<String>,
    /// What becomes of those requests.
    pub answer: RouteAnswer,
}

/// What becomes of a request that a rule is about.
#[derive(Debug, Clone, PartialEq)]
pub enum RouteAnswer {
    /// It fails.
    Block,
    /// It is answered so, without a server.
    Mock(Arc<Mock>),
}

/// An answer without a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mock {
    /// HTTP status.
    pub status: u16,
    /// All headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How long the answer takes.
    pub delay: Duration,
}

impl Mock {
    /// Status, headers and body of the answer to a request, by its headers; a page of another origin may read it, as whoever wrote the
    /// rule has meant.
    pub(crate) fn answer(
        &self,
        sent: impl Fn(&str) -> Option<String>,
    ) -> (u16, Vec<(String, String)>, Vec<u8>) {
        let (mut status, mut headers, mut body) =
            (self.status, self.headers.clone(), self.body.clone());
        let mut add = |name: &str, value: String| {
            let there = |(other, _): &(String, String)| other.eq_ignore_ascii_case(name);
            if !headers.iter().any(there) {
                headers.push((name.to_owned(), value));
            }
        };
        if let Some(origin) = sent("origin") {
            add("access-control-allow-origin", origin);
            add("access-control-allow-credentials", "true".to_owned());
        }
        if let Some(method) = sent("access-control-request-method") {
            add("access-control-allow-methods", method);
            if let Some(names) = sent("access-control-request-headers") {
                add("access-control-allow-headers", names);
            }
            (status, body) = (204, Vec::new());
        }
        (status, headers, body)
    }
}

/// All rules of a context, oldest first. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Routes(Arc<Vec<Route>>);

impl From<Vec<Route>> for Routes {
    fn from(routes: Vec<Route>) -> Self {
        Self(Arc::new(routes))
    }
}

impl Routes {
    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rules.
    pub fn iter(&self) -> impl Iterator<Item = &Route> {
        self.0.iter()
    }

    /// What the newest rule about such a request says.
    pub(crate) fn answer_to(&self, url: &str, resource_type: &str) -> Option<&RouteAnswer> {
        let about = |route: &&Route| {
            let kind = route.resource_type.as_deref();
            kind.is_none_or(|kind| kind == resource_type)
                && route
                    .url
                    .as_ref()
                    .is_none_or(|pattern| pattern.matches(url))
        };
        self.0.iter().rev().find(about).map(|route| &route.answer)
    }
}

/// Which URLs: a glob (`**/*.png`, with `*`, `**` and `{a,b}`), a regular expression between slashes (`/\.png$/`), a whole URL, or a part
/// of one. Query and fragment may be left out.
#[derive(Debug, Clone)]
pub struct UrlPattern {
    source: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Regex(regress::Regex),
    Glob(regress::Regex),
    Whole,
    Part,
}

impl PartialEq for UrlPattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl std::fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.source)
    }
}

impl UrlPattern {
    /// Reads a pattern; says what is wrong with one that cannot be read.
    pub fn new(source: &str) -> Result<Self, String> {
        let kind = if let Some((pattern, flags)) = expression(source) {
            let regex = regress::Regex::with_flags(pattern, flags);
            Kind::Regex(regex.map_err(|error| error.to_string())?)
        } else if source.contains('*') {
            let regex = regress::Regex::new(&expression_of(source));
            Kind::Glob(regex.map_err(|error| error.to_string())?)
        } else if source.contains("://") {
            Kind::Whole
        } else if source.is_empty() {
            return Err("An empty pattern matches nothing".to_owned());
        } else {
            Kind::Part
        };
        Ok(Self {
            source: source.to_owned(),
            kind,
        })
    }

    /// Whether it matches a URL.
    pub fn matches(&self, url: &str) -> bool {
        let document = url.split('#').next().unwrap_or(url);
        let path = document.split('?').next().unwrap_or(document);
        let any = |matches: &dyn Fn(&str) -> bool| [url, document, path].into_iter().any(matches);
        match &self.kind {
            Kind::Regex(regex) => regex.find(url).is_some(),
            Kind::Glob(regex) => any(&|url| regex.find(url).is_some()),
            Kind::Whole => {
                any(&|url| url.trim_end_matches('/') == self.source.trim_end_matches('/'))
            }
            Kind::Part => url.contains(&self.source),
        }
    }
}

/// The inside and the flags of `/…/i`.
fn expression(source: &str) -> Option<(&str, &str)> {
    let (pattern, flags) = source.strip_prefix('/')?.rsplit_once('/')?;
    let known = flags.chars().all(|flag| "dgimsuvy".contains(flag));
    // What looks like a path is one.
    let special = pattern.contains(['\\', '^', '$', '(', '[', '|', '+', '*', '.', '?']);
    (known && special && !pattern.is_empty() && !pattern.contains("**")).then_some((pattern, flags))
}

/// A glob as a regular expression. One that has no scheme may begin anywhere.
fn expression_of(glob: &str) -> String {
    let mut regex = String::from("^");
    if !glob.contains("://") && !glob.starts_with("**") {
        regex += ".*";
    }
    let mut chars = glob.chars().peekable();
    let mut depth = 0;
    while let Some(char) = chars.next() {
        match char {
            '*' if chars.peek() == Some(&'*') => {
                while chars.next_if_eq(&'*').is_some() {}
                // `**/` may stand for nothing at all.
                if chars.next_if_eq(&'/').is_some() {
                    regex += "(?:.*/)?";
                } else {
                    regex += ".*";
                }
            }
            '*' => regex += "[^/]*",
            '{' => {
                depth += 1;
                regex += "(?:";
            }
            '}' if depth > 0 => {
                depth -= 1;
                regex.push(')');
            }
            ',' if depth > 0 => regex.push('|'),
            char if "\\^$.|?+()[]{}".contains(char) => regex.extend(['\\', char]),
            char => regex.push(char),
        }
    }
    regex.push('$');
    regex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_what_they_say() {
        let cases = [
            ("**/*.png", "http://a/b/c.png", true),
            ("**/*.png", "http://a/b/c.png?v=1", true),
            ("**/*.png", "http://a/b/c.png.html", false),
            ("*.png", "http://a/c.png", true),
            ("/api/*", "http://a/x/api/users?page=2", true),
            ("/api/*", "http://a/api/users/1", false),
            ("**/*.{png,jpg}", "http://a/x.jpg", true),
            ("**/*.{png,jpg}", "http://a/x.gif", false),
            ("http://a/**", "http://a/", true),
            ("http://a/**", "http://ab/", false),
            ("http://a/api", "http://a/api?x=1#y", true),
            ("http://a/api", "http://a/api2", false),
            ("http://a", "http://a/", true),
            ("/api/", "http://a/api/users", true),
            ("users", "http://a/api/users", true),
            (r"/\.(png|jpg)$/", "http://a/x.jpg", true),
            (r"/\.(png|jpg)$/i", "http://a/x.JPG", true),
            (r"/\.(png|jpg)$/", "http://a/x.jpg?1", false),
        ];
        for (pattern, url, expected) in cases {
            let matches = UrlPattern::new(pattern).unwrap().matches(url);
            assert_eq!(matches, expected, "{pattern} {url}");
        }
        assert!(UrlPattern::new("/(/").is_err());
        assert!(UrlPattern::new("").is_err());
    }

    #[test]
    fn the_newest_rule_decides() {
        let rule = |url: Option<&str>, kind: Option<&str>, status| Route {
            url: url.map(|url| UrlPattern::new(url).unwrap()),
            resource_type: kind.map(str::to_owned),
            answer: match status {
                None => RouteAnswer::Block,
                Some(status) => RouteAnswer::Mock(Arc::new(Mock {
                    status,
                    headers: vec![],
                    body: vec![],
                    delay: Duration::ZERO,
                })),
            },
        };
        let routes = Routes::from(vec![
            rule(Some("/api"), None, Some(200)),
            rule(None, Some("image"), None),
            rule(Some("/api/new"), None, Some(201)),
        ]);
        let status = |url: &str, kind: &str| match routes.answer_to(url, kind) {
            Some(RouteAnswer::Mock(mock)) => Some(mock.status),
            Some(RouteAnswer::Block) => Some(0),
            None => None,
        };
        assert_eq!(status("http://a/api/new", "image"), Some(201));
        assert_eq!(status("http://a/api", "image"), Some(0));
        assert_eq!(status("http://a/api", "fetch"), Some(200));
        assert_eq!(status("http://a/", "fetch"), None);
    }
}
