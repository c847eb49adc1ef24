//! Searching the text of a snapshot: matches with the lines around them, below the lines that say where they are.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// How many lines are shown before and after a match.
const AROUND: usize = 3;

/// What to search a snapshot for.
#[derive(Debug)]
pub enum Pattern {
    /// A text, in any case.
    Text(String),
    /// A JavaScript regular expression, and how it was written.
    Regex(Box<regress::Regex>, String),
}

/// The pattern is not a JavaScript regular expression.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidPattern(#[from] regress::Error);

/// What a search came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// How many lines match.
    pub matches: usize,
    /// The lines with their surroundings; places far from each other stand apart by a line `----`.
    pub text: String,
}

impl Pattern {
    /// A regular expression, bare or as `/…/flags`.
    ///
    /// # Errors
    /// When JavaScript would refuse it.
    pub fn regex(pattern: &str) -> Result<Self, InvalidPattern> {
        let literal = pattern
            .strip_prefix('/')
            .and_then(|rest| rest.rsplit_once('/'))
            .filter(|(source, flags)| {
                !source.is_empty() && flags.bytes().all(|flag| b"dgimsuvy".contains(&flag))
            });
        let (source, flags) = literal.unwrap_or((pattern, ""));
        let regex = regress::Regex::with_flags(source, flags)?;
        Ok(Self::Regex(Box::new(regex), literal_of(source, flags)))
    }

    /// Searches the lines of a rendered snapshot.
    #[must_use]
    pub fn find_in(&self, snapshot: &str) -> Found {
        let lines = Lines::of(snapshot);
        let matching: Vec<usize> = (0..lines.texts.len())
            .filter(|index| self.matches(lines.texts[*index]))
            .collect();
        let snippets: Vec<String> = windows(&matching, lines.texts.len())
            .into_iter()
            .map(|window| lines.snippet(window, &matching))
            .collect();
        Found {
            matches: matching.len(),
            text: snippets.join("\n\n----\n\n"),
        }
    }

    /// Whether it is in this line.
    #[must_use]
    pub fn matches(&self, line: &str) -> bool {
        match self {
            Self::Text(text) => line.to_lowercase().contains(&text.to_lowercase()),
            Self::Regex(regex, _) => regex.find(line).is_some(),
        }
    }
}

/// As answers name it: `"text"` or `/regex/i`.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Regex(_, written) => f.write_str(written),
        }
    }
}

/// A regular expression as JavaScript prints it. Flags that make no difference to whether a line matches are left out.
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

/// The stretches of lines around the matches; those that meet are one.
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
    /// The line that each line is indented below.
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

    /// The lines of a window below their ancestors. Ancestors of a match tell only where it is; where lines are left out
    /// below any other ancestor, a line of dots says so.
    fn snippet(&self, window: Range<usize>, matching: &[usize]) -> String {
        let path: BTreeSet<usize> = matching
            .iter()
            .filter(|line| window.contains(line))
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
    fn a_match_stands_among_its_neighbours_below_its_ancestors() {
        let found = Pattern::Text("DASH".into()).find_in(PAGE);
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
    fn places_far_from_each_other_stand_apart() {
        let found = Pattern::regex("/home|a.b$/i").expect("it is a regular expression");
        let found = found.find_in(PAGE);
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
    fn nothing_is_found_in_nothing() {
        let found = Pattern::Text("x".into()).find_in("");
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
        assert_eq!(Pattern::Text("a\"b".into()).to_string(), "\"a\"b\"");
    }
}
