//! URL patterns of routes.

use crate::error::{Error, Result};
use crate::regexp::RegExp;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use task::compute;

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

    pub(super) fn is_slow(&self, url: &str) -> bool {
        url.len() > MAX_INLINE_URL_LENGTH || matches!(self.kind, Kind::Regex(_))
    }

    pub(super) fn matches(&self, url: &str) -> Result<bool> {
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
    use super::UrlPattern;

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
}
