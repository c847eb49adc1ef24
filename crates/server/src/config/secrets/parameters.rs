//! URL parameters whose values are masked (`--redact-url-params`).

use std::sync::Arc;

/// What is shown instead of a value.
const MASK: &str = "<redacted>";

/// The names of the parameters. They match in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parameters(Arc<[String]>);

impl Parameters {
    pub(super) fn new(names: Vec<String>) -> Self {
        Self(names.into_iter().filter(|name| !name.is_empty()).collect())
    }

    /// Replaces the values of the parameters in the queries and fragments of URLs.
    pub(super) fn redacted(&self, text: String) -> String {
        let mut shown = String::new();
        let mut done = 0;
        for (at, _) in text
            .match_indices(['?', '&', '#'])
            .filter(|_| !self.0.is_empty())
        {
            let rest = &text[at + 1..];
            let Some(name) = self.0.iter().find(|name| begins_with(rest, name)) else {
                continue;
            };
            let from = at + 1 + name.len() + 1;
            let value = &text[from..];
            let length = value.find(ends_value).unwrap_or(value.len());
            if length > 0 && from >= done {
                shown += &text[done..from];
                shown += MASK;
                done = from + length;
            }
        }
        match done {
            0 => text,
            _ => shown + &text[done..],
        }
    }
}

/// Returns whether a query begins with the parameter of that name.
fn begins_with(query: &str, name: &str) -> bool {
    let own = query.get(..name.len());
    own.is_some_and(|own| own.eq_ignore_ascii_case(name)) && query[name.len()..].starts_with('=')
}

/// Returns whether a character ends the value of a parameter.
fn ends_value(c: char) -> bool {
    c.is_whitespace() || "&#\"'<>()[]`\\".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_parameters_are_masked_in_queries_and_fragments() {
        let parameters = Parameters::new(vec!["code".into(), "access_token".into()]);
        for (text, shown) in [
            ("/a?code=1&x=2", "/a?code=<redacted>&x=2"),
            ("/a?x=2&CODE=1#b", "/a?x=2&CODE=<redacted>#b"),
            (
                "[Page](https://a/#access_token=ab.c&code=é) code=1",
                "[Page](https://a/#access_token=<redacted>&code=<redacted>) code=1",
            ),
            ("/a?encode=1&code=&codec=2", "/a?encode=1&code=&codec=2"),
            ("?é=1&code", "?é=1&code"),
        ] {
            assert_eq!(parameters.redacted(text.to_owned()), shown);
        }
        let none = Parameters::default();
        assert_eq!(none.redacted("?code=1".to_owned()), "?code=1");
    }
}
