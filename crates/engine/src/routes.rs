//! Routes: rules that abort, fulfill or change requests, and their URL patterns.

use crate::error::{Error, Result};
use crate::regexp::RegExp;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use task::{compute, spawn};

/// The names and values of headers.
type Headers = Vec<(String, String)>;

/// A rule about requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The pattern of URLs; default: all.
    pub url: Option<UrlPattern>,
    /// The resource type in Playwright's words; default: all.
    pub resource_type: Option<String>,
    /// The effect on matching requests.
    pub answer: RouteAnswer,
    /// The text in lists; `None`: derived from the effect.
    pub details: Option<String>,
}

/// The effect of a route on a request.
#[derive(Debug, Clone, PartialEq)]
pub enum RouteAnswer {
    /// Abort the request.
    Block,
    /// Fulfill the request with a mock response.
    Mock(Arc<Mock>),
    /// Continue the request with changed headers.
    Rewrite(Arc<HeaderChanges>),
}

/// Changes to the headers of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderChanges {
    /// The headers to set.
    pub set: Headers,
    /// The names of headers to remove, after others were set.
    pub remove: Vec<String>,
}

impl HeaderChanges {
    /// Returns the changed headers.
    pub(crate) fn apply(&self, mut headers: Headers) -> Headers {
        let set = self.set.iter().map(|(name, _)| name);
        for name in set.chain(&self.remove) {
            headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        }
        let is_removed = |name: &String| {
            let mut removed = self.remove.iter();
            removed.any(|other| other.eq_ignore_ascii_case(name))
        };
        let kept = self.set.iter().filter(|(name, _)| !is_removed(name));
        headers.extend(kept.cloned());
        headers
    }
}

/// A mock response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mock {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The delay of the response.
    pub delay: Duration,
}

impl Mock {
    /// Calls `fulfill` with status, headers and body of the response to a request with these headers, after the delay.
    pub(crate) fn respond(
        self: &Arc<Self>,
        request: &Headers,
        fulfill: impl FnOnce(u16, Headers, Vec<u8>) + Send + 'static,
    ) {
        if self.delay.is_zero() {
            let (status, headers, body) = self.response_to(request);
            return fulfill(status, headers, body);
        }
        let (mock, request) = (self.clone(), request.clone());
        spawn("mock", async move {
            tokio::time::sleep(mock.delay).await;
            let (status, headers, body) = mock.response_to(&request);
            fulfill(status, headers, body);
        })
        .detach();
    }

    /// Adds CORS headers, because a page of another origin is expected to be able to read the response.
    fn response_to(&self, request: &Headers) -> (u16, Headers, Vec<u8>) {
        let sent = |wanted: &str| {
            let mut headers = request.iter();
            let found = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.clone())
        };
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

/// The routes of a context, oldest first. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Routes(Arc<Vec<Route>>);

impl From<Vec<Route>> for Routes {
    fn from(routes: Vec<Route>) -> Self {
        Self(Arc::new(routes))
    }
}

impl Routes {
    /// Returns whether there are no routes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the routes.
    pub fn iter(&self) -> impl Iterator<Item = &Route> {
        self.0.iter()
    }

    /// Passes the decision of the newest matching route to a callback: at once if matching is fast, otherwise from a task.
    pub(crate) fn decide(
        &self,
        url: &str,
        resource_type: &'static str,
        then: impl FnOnce(Option<RouteAnswer>) + Send + 'static,
    ) {
        let is_slow = |route: &Route| route.url.as_ref().is_some_and(|it| it.is_slow(url));
        if !self.0.iter().any(is_slow) {
            return then(self.answer_to(url, resource_type));
        }
        let (routes, url) = (self.clone(), url.to_owned());
        spawn("matching a URL", async move {
            then(compute(move || routes.answer_to(&url, resource_type)).await);
        })
        .detach();
    }

    fn answer_to(&self, url: &str, resource_type: &str) -> Option<RouteAnswer> {
        for route in self.0.iter().rev() {
            let kind = route.resource_type.as_deref();
            if kind.is_some_and(|kind| kind != resource_type) {
                continue;
            }
            let Some(pattern) = &route.url else {
                return Some(route.answer.clone());
            };
            match pattern.matches(url) {
                Ok(true) => return Some(route.answer.clone()),
                Ok(false) => {}
                // The route may be intended to keep the request from a server.
                Err(error) => {
                    tracing::warn!(%error, "a request is refused, as no rule decides about it");
                    return Some(RouteAnswer::Block);
                }
            }
        }
        None
    }
}

/// A pattern of URLs: a glob (`**/*.png`, with `*`, `**` and `{a,b}`), a regular expression between slashes (`/\.png$/`), a complete URL,
/// or a part of one. Query and fragment are optional.
#[derive(Debug, Clone)]
pub struct UrlPattern {
    source: String,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Regex(Arc<Expression>),
    Glob(regex::Regex),
    Exact(regex::Regex),
    Whole,
    Part,
}

#[derive(Debug)]
struct Expression {
    regexp: RegExp,
    /// Whether it exceeded its limits on a URL, after which it is no longer evaluated.
    given_up: AtomicBool,
}

/// The longest URL that is matched on the thread that serves clients, in bytes.
const MAX_INLINE_URL_LENGTH: usize = 16 * 1024;

/// The longest pattern, in bytes.
const MAX_PATTERN_LENGTH: usize = 8 * 1024;

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
    /// Parses a pattern; returns the syntax error.
    pub fn new(source: &str) -> Result<Self, String> {
        if source.len() > MAX_PATTERN_LENGTH {
            return Err(format!(
                "The pattern is longer than {MAX_PATTERN_LENGTH} bytes"
            ));
        }
        let kind = if let Some((pattern, flags)) = expression(source) {
            Kind::Regex(Arc::new(Expression {
                regexp: RegExp::new(pattern, flags)?,
                given_up: AtomicBool::default(),
            }))
        } else if source.contains('*') {
            let regex = regex::Regex::new(&expression_of(source));
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

    /// Parses a glob of Playwright: it must match the complete URL, including the query.
    pub fn glob(source: &str) -> Result<Self, String> {
        if source.len() > MAX_PATTERN_LENGTH {
            return Err(format!(
                "The pattern is longer than {MAX_PATTERN_LENGTH} bytes"
            ));
        }
        let (expression, unclosed) = exact_expression_of(source);
        if unclosed {
            return Err("A group is not closed: expected \"}\"".to_owned());
        }
        let regex = regex::Regex::new(&expression).map_err(|error| error.to_string())?;
        Ok(Self {
            source: source.to_owned(),
            kind: Kind::Exact(regex),
        })
    }

    /// Returns which of the URLs match.
    ///
    /// # Errors
    /// If a regular expression takes too long.
    pub async fn are_matched(&self, urls: Vec<String>) -> Result<Vec<bool>> {
        let pattern = self.clone();
        compute(move || match &pattern.kind {
            Kind::Regex(expression) => expression.regexp.matches(urls.iter().map(String::as_str)),
            _ => urls.iter().map(|url| pattern.matches(url)).collect(),
        })
        .await
    }

    fn is_slow(&self, url: &str) -> bool {
        url.len() > MAX_INLINE_URL_LENGTH || matches!(self.kind, Kind::Regex(_))
    }

    fn matches(&self, url: &str) -> Result<bool> {
        let document = url.split('#').next().unwrap_or(url);
        let path = document.split('?').next().unwrap_or(document);
        let any = |matches: &dyn Fn(&str) -> bool| [url, document, path].into_iter().any(matches);
        Ok(match &self.kind {
            Kind::Regex(expression) => expression.matches(url)?,
            Kind::Exact(regex) => {
                // A URL without a path is displayed with one.
                regex.is_match(document) || document.strip_suffix('/') == Some(self.source.as_str())
            }
            Kind::Glob(regex) => any(&|url| regex.is_match(url)),
            Kind::Whole => {
                any(&|url| url.trim_end_matches('/') == self.source.trim_end_matches('/'))
            }
            Kind::Part => url.contains(&self.source),
        })
    }
}

impl Expression {
    fn matches(&self, url: &str) -> Result<bool> {
        if self.given_up.load(Ordering::Relaxed) {
            return Err(self.regexp.too_slow());
        }
        let matched = self.regexp.matches([url]);
        if matches!(matched, Err(Error::PatternTooSlow { .. })) {
            self.given_up.store(true, Ordering::Relaxed);
        }
        Ok(matched?[0])
    }
}

/// Returns the source and the flags of `/…/i`.
fn expression(source: &str) -> Option<(&str, &str)> {
    let (pattern, flags) = source.strip_prefix('/')?.rsplit_once('/')?;
    let known = flags.chars().all(|flag| "dgimsuvy".contains(flag));
    // A text that looks like a path is a path.
    let special = pattern.contains(['\\', '^', '$', '(', '[', '|', '+', '*', '.', '?']);
    (known && special && !pattern.is_empty() && !pattern.contains("**")).then_some((pattern, flags))
}

/// Converts a glob to a regular expression. A glob without a scheme matches anywhere.
fn expression_of(glob: &str) -> String {
    let mut regex = String::from("(?s)^");
    if !glob.contains("://") && !glob.starts_with("**") {
        regex += ".*";
    }
    let mut chars = glob.chars().peekable();
    let mut depth = 0;
    while let Some(char) = chars.next() {
        match char {
            '*' if chars.peek() == Some(&'*') => {
                while chars.next_if_eq(&'*').is_some() {}
                // `**/` also matches an empty text.
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
            char => regex += &regex::escape(char.encode_utf8(&mut [0; 4])),
        }
    }
    regex.push('$');
    regex
}

/// Converts a glob of Playwright to a regular expression; also returns whether a group is unclosed.
fn exact_expression_of(glob: &str) -> (String, bool) {
    let mut regex = String::from("(?s)^");
    let mut chars = glob.chars().peekable();
    let (mut before, mut in_group) = (None, false);
    while let Some(char) = chars.next() {
        match char {
            '*' if chars.peek() == Some(&'*') => {
                while chars.next_if_eq(&'*').is_some() {}
                let starts = before.is_none_or(|char| char == '/');
                // `/**/` also matches one slash.
                if starts && chars.next_if_eq(&'/').is_some() {
                    regex += "(?:.*/)?";
                } else {
                    regex += ".*";
                }
            }
            '*' => regex += "[^/]*",
            '{' if !in_group => {
                in_group = true;
                regex += "(?:";
            }
            '}' if in_group => {
                in_group = false;
                regex.push(')');
            }
            ',' if in_group => regex.push('|'),
            char => {
                let literal = match char {
                    '\\' => chars.next().unwrap_or(char),
                    char => char,
                };
                regex += &regex::escape(literal.encode_utf8(&mut [0; 4]));
            }
        }
        before = Some(char);
    }
    regex.push('$');
    (regex, in_group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_patterns_match() {
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
            let matches = UrlPattern::new(pattern).unwrap().matches(url).unwrap();
            assert_eq!(matches, expected, "{pattern} {url}");
        }
        assert!(UrlPattern::new("/(/").is_err());
        assert!(UrlPattern::new("").is_err());
    }

    #[tokio::test]
    async fn a_long_url_is_matched_in_linear_time_and_a_slow_expression_blocks() {
        let long = format!("http://a/{}", "a".repeat(1_000_000));
        for glob in [
            "*ads*",
            "**/*ads*/**",
            "*{a,aa,{aaa,b}*}*c*",
            "http://a/**/a*b",
        ] {
            assert!(
                !UrlPattern::new(glob).unwrap().matches(&long).unwrap(),
                "{glob}"
            );
        }
        let slow = Routes::from(vec![Route {
            url: Some(UrlPattern::new("/(a+)+$/").unwrap()),
            resource_type: None,
            details: None,
            answer: RouteAnswer::Mock(Arc::new(Mock {
                status: 200,
                headers: vec![],
                body: vec![],
                delay: Duration::ZERO,
            })),
        }]);
        let decided = async |url: String| {
            let (tell, told) = tokio::sync::oneshot::channel();
            slow.decide(&url, "fetch", |answer| tell.send(answer).unwrap());
            told.await.unwrap()
        };
        assert!(matches!(
            decided("http://a/aaa".into()).await,
            Some(RouteAnswer::Mock(_))
        ));
        assert_eq!(decided("http://a/x".into()).await, None);
        let bad = format!("http://a/{}!", "a".repeat(64));
        assert_eq!(decided(bad).await, Some(RouteAnswer::Block));
        // It is not evaluated again for any URL.
        assert_eq!(decided("http://a/x".into()).await, Some(RouteAnswer::Block));
    }

    #[test]
    fn globs_of_playwright_match_whole_urls() {
        let cases = [
            ("**/api/data", "http://a/api/data", true),
            ("**/api/data", "http://a/api/data#x", true),
            ("**/api/data", "http://a/api/data?x=1", false),
            ("**/api/data*", "http://a/api/data?x=1", true),
            ("api/data", "http://a/api/data", false),
            ("http://a/*", "http://a/x", true),
            ("http://a/*", "http://a/x/y", false),
            ("http://a/**/y", "http://a/y", true),
            ("http://a", "http://a/", true),
            ("**/*.{png,jpg}", "http://a/x.jpg", true),
            ("**/x?y=1", "http://a/x?y=1", true),
            ("**/x?y=1", "http://a/xzy=1", false),
            (r"**/x\*", "http://a/x*", true),
            (r"**/x\*", "http://a/xy", false),
            ("**", "http://a/x?y", true),
            ("", "http://a/", false),
        ];
        for (pattern, url, expected) in cases {
            let matches = UrlPattern::glob(pattern).unwrap().matches(url).unwrap();
            assert_eq!(matches, expected, "{pattern} {url}");
        }
        assert!(UrlPattern::glob("{a").is_err());
    }

    #[test]
    fn headers_are_set_and_removed_whatever_their_case() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let changes = HeaderChanges {
            set: vec![header("X-A", "1"), header("Accept", "2")],
            remove: vec!["COOKIE".to_owned(), "x-a".to_owned()],
        };
        let sent = vec![
            header("accept", "0"),
            header("cookie", "0"),
            header("te", "0"),
        ];
        assert_eq!(
            changes.apply(sent),
            [header("te", "0"), header("Accept", "2")]
        );
    }

    #[test]
    fn the_newest_route_wins() {
        let rule = |url: Option<&str>, kind: Option<&str>, status| Route {
            url: url.map(|url| UrlPattern::new(url).unwrap()),
            resource_type: kind.map(str::to_owned),
            details: None,
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
            _ => None,
        };
        assert_eq!(status("http://a/api/new", "image"), Some(201));
        assert_eq!(status("http://a/api", "image"), Some(0));
        assert_eq!(status("http://a/api", "fetch"), Some(200));
        assert_eq!(status("http://a/", "fetch"), None);
    }
}
