//! Searching a snapshot: matches with the lines around them, below their ancestors.

use crate::error::Result;
use crate::regexp::RegExp;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use task::compute;

/// The number of lines before and after a match.
const AROUND: usize = 3;

/// A search pattern.
#[derive(Debug, Clone)]
pub struct Pattern(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// A text in lower case, and its original.
    Text(String, String),
    /// A JavaScript regular expression, and its original.
    Regex(RegExp, String),
}

/// The result of a search.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// The number of matching lines.
    pub matches: usize,
    /// The first of them with their context; separate places are divided by a line `----`.
    pub text: String,
}

impl Pattern {
    /// Creates a case-insensitive text pattern.
    pub fn text(text: &str) -> Self {
        Self(Kind::Text(text.to_lowercase(), text.to_owned()))
    }

    /// Parses a regular expression, bare or as `/…/flags`.
    ///
    /// # Errors
    /// The syntax error that JavaScript would report.
    pub fn regex(pattern: &str) -> Result<Self, String> {
        let literal = pattern
            .strip_prefix('/')
            .and_then(|rest| rest.rsplit_once('/'))
            .filter(|(source, flags)| {
                !source.is_empty() && flags.bytes().all(|flag| b"dgimsuvy".contains(&flag))
            });
        let (source, flags) = literal.unwrap_or((pattern, ""));
        let regexp = RegExp::new(source, flags)?;
        Ok(Self(Kind::Regex(regexp, literal_of(source, flags))))
    }

    /// Searches the lines of a rendered snapshot, and shows at most the first `most` matches.
    ///
    /// # Errors
    /// If a regular expression takes too long.
    pub async fn find_in(&self, snapshot: String, most: usize) -> Result<Found> {
        let pattern = self.clone();
        compute(move || pattern.found(&snapshot, most)).await
    }

    /// Returns which of the texts contain the pattern.
    ///
    /// # Errors
    /// If a regular expression takes too long.
    pub async fn are_in(&self, texts: Vec<String>) -> Result<Vec<bool>> {
        let pattern = self.clone();
        compute(move || pattern.matches(texts.iter().map(String::as_str))).await
    }

    fn found(&self, snapshot: &str, most: usize) -> Result<Found> {
        let lines = Lines::of(snapshot);
        let matches = self.matches(lines.texts.iter().copied())?.into_iter();
        let matching: Vec<usize> = matches
            .enumerate()
            .filter_map(|(index, matches)| matches.then_some(index))
            .collect();
        let shown = &matching[..matching.len().min(most)];
        let snippets: Vec<String> = windows(shown, lines.texts.len())
            .into_iter()
            .map(|window| lines.snippet(window, shown))
            .collect();
        Ok(Found {
            matches: matching.len(),
            text: snippets.join("\n\n----\n\n"),
        })
    }

    /// Returns which of the texts contain the pattern, on the current thread, which may block.
    ///
    /// # Errors
    /// If a regular expression takes too long.
    pub fn matches<'a>(&self, texts: impl Iterator<Item = &'a str>) -> Result<Vec<bool>> {
        match &self.0 {
            Kind::Text(text, _) => Ok(texts
                .map(|line| line.to_lowercase().contains(text))
                .collect()),
            Kind::Regex(regexp, _) => regexp.matches(texts),
        }
    }
}

/// The format of answers: `"text"` or `/regex/i`.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Text(_, written) => write!(f, "\"{written}\""),
            Kind::Regex(_, written) => f.write_str(written),
        }
    }
}

/// Formats a regular expression as JavaScript does, without flags that have no effect on matching lines.
fn literal_of(source: &str, flags: &str) -> String {
    let mut literal = String::from("/");
    let mut is_escaped = false;
    let mut is_in_class = false;
    for char in source.chars() {
        match char {
            '/' if !is_escaped && !is_in_class => literal.push('\\'),
            '[' if !is_escaped => is_in_class = true,
            ']' if !is_escaped => is_in_class = false,
            _ => {}
        }
        is_escaped = char == '\\' && !is_escaped;
        literal.push(char);
    }
    literal.push('/');
    let mut flags: Vec<char> = flags
        .chars()
        .filter(|flag| !"dgy".contains(*flag))
        .collect();
    flags.sort_unstable();
    literal.extend(flags);
    literal
}

/// Returns the ranges of lines around the matches; adjacent ranges are merged.
fn windows(matching: &[usize], lines: usize) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    for index in matching {
        let window = index.saturating_sub(AROUND)..(index + AROUND + 1).min(lines);
        match windows.last_mut() {
            Some(last) if window.start <= last.end => last.end = window.end,
            _ => windows.push(window),
        }
    }
    windows
}

struct Lines<'a> {
    texts: Vec<&'a str>,
    /// The parent line of each line, by indentation.
    parents: Vec<Option<usize>>,
}

impl<'a> Lines<'a> {
    fn of(snapshot: &'a str) -> Self {
        let texts: Vec<&str> = snapshot.lines().collect();
        let mut parents = Vec::with_capacity(texts.len());
        let mut open: Vec<usize> = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            while open
                .last()
                .is_some_and(|it| indent(texts[*it]) >= indent(text))
            {
                open.pop();
            }
            parents.push(open.last().copied());
            open.push(index);
        }
        Self { texts, parents }
    }

    fn ancestors(&self, line: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parents[line], |line| self.parents[*line])
    }

    /// Returns the lines of a range below their ancestors. Ancestors of a match only show its position; below other ancestors, a line of
    /// dots marks omitted lines.
    fn snippet(&self, window: Range<usize>, matching: &[usize]) -> String {
        let from = matching.partition_point(|line| *line < window.start);
        let path: BTreeSet<usize> = matching[from..]
            .iter()
            .take_while(|line| window.contains(line))
            .flat_map(|line| self.ancestors(*line))
            .collect();
        let mut shown: BTreeSet<usize> = window.clone().collect();
        shown.extend(window.flat_map(|line| self.ancestors(line)));
        let mut snippet: Vec<String> = Vec::with_capacity(shown.len());
        let mut next = 0;
        for line in shown {
            let is_off_path = self.parents[line].is_some_and(|parent| !path.contains(&parent));
            if line > next && is_off_path {
                snippet.push(format!("{}...", " ".repeat(indent(self.texts[line]))));
            }
            snippet.push(self.texts[line].to_owned());
            next = line + 1;
        }
        snippet.join("\n")
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const PAGE: &str = r#"- generic [active] [ref=e1]:
  - banner [ref=e2]:
    - link "Home" [ref=e3]:
      - /url: /
  - main [ref=e4]:
    - list [ref=e5]:
      - listitem [ref=e6]: One
      - listitem [ref=e7]: Two
      - listitem [ref=e8]: Three
    - iframe [ref=e9]:
      - generic [ref=f1e1]:
        - paragraph [ref=f1e2]: First
        - paragraph [ref=f1e3]: Frame text
    - paragraph [ref=e10]: "Yes"
    - paragraph [ref=e11]: "123"
    - paragraph [ref=e12]: "- dash"
    - paragraph [ref=e13]: a/b
  - contentinfo [ref=e14]: End"#;

    #[test]
    fn a_match_is_shown_with_its_neighbours_and_ancestors() {
        let found = Pattern::text("DASH").found(PAGE, usize::MAX).unwrap();
        assert_eq!(found.matches, 1);
        expect![[r#"
            - generic [active] [ref=e1]:
              - main [ref=e4]:
                - iframe [ref=e9]:
                  - generic [ref=f1e1]:
                    ...
                    - paragraph [ref=f1e3]: Frame text
                - paragraph [ref=e10]: "Yes"
                - paragraph [ref=e11]: "123"
                - paragraph [ref=e12]: "- dash"
                - paragraph [ref=e13]: a/b
              - contentinfo [ref=e14]: End"#]]
        .assert_eq(&found.text);
    }

    #[test]
    fn distant_matches_are_separate_snippets() {
        let found = Pattern::regex("/home|a.b$/i").expect("it is a regular expression");
        let found = found.found(PAGE, usize::MAX).unwrap();
        assert_eq!(found.matches, 2);
        expect![[r#"
            - generic [active] [ref=e1]:
              - banner [ref=e2]:
                - link "Home" [ref=e3]:
                  - /url: /
              - main [ref=e4]:
                - list [ref=e5]:

            ----

            - generic [active] [ref=e1]:
              - main [ref=e4]:
                - paragraph [ref=e10]: "Yes"
                - paragraph [ref=e11]: "123"
                - paragraph [ref=e12]: "- dash"
                - paragraph [ref=e13]: a/b
              - contentinfo [ref=e14]: End"#]]
        .assert_eq(&found.text);
    }

    #[test]
    fn an_empty_snapshot_has_no_match() {
        let found = Pattern::text("x").found("", usize::MAX).unwrap();
        assert_eq!((found.matches, found.text.as_str()), (0, ""));
    }

    #[test]
    fn patterns_are_named_as_javascript_prints_them() {
        let name = |pattern| Pattern::regex(pattern).map(|it| it.to_string()).ok();
        assert_eq!(name("/LINK/i").as_deref(), Some("/LINK/i"));
        assert_eq!(name("/link/gi").as_deref(), Some("/link/i"));
        assert_eq!(name("a/b").as_deref(), Some(r"/a\/b/"));
        assert_eq!(name(r"a\/b[/]").as_deref(), Some(r"/a\/b[/]/"));
        assert_eq!(name("/x/zz").as_deref(), Some(r"/\/x\/zz/"));
        assert_eq!(name("("), None);
        assert_eq!(Pattern::text("a\"b").to_string(), "\"a\"b\"");
    }
}
