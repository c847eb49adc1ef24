//! Comparing expected replies with answers: placeholders, wildcards, and the printed differences.

use std::fmt::Write as _;
use std::path::Path;

use regress::Regex;

use crate::site::Site;

/// Values that change between runs, and their placeholders.
pub struct Placeholders {
    literal: Vec<(String, &'static str)>,
    time: Regex,
    page: Regex,
    picture: Regex,
    /// The escape sequences of terminal colours.
    colour: Regex,
    /// Refs, if their numbers depend on the timing of a page.
    refs: Option<Regex>,
}

impl Placeholders {
    /// Creates the placeholders of a site and a workspace; with `any_refs` the numbers of refs are masked.
    pub fn new(site: &Site, workspace: &Path, any_refs: bool) -> Self {
        let host = |url: String| url.trim_start_matches("http://").to_owned();
        Self {
            literal: vec![
                (site.base_url(), "{site}"),
                (site.cross_origin_url(), "{cross}"),
                (host(site.base_url()), "{host}"),
                (host(site.cross_origin_url()), "{cross-host}"),
                (workspace.display().to_string(), "{workspace}"),
            ],
            time: Regex::new(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z").expect("a valid pattern"),
            refs: any_refs.then(|| Regex::new(r"\[ref=(?:f\d+)?e\d+\]").expect("a valid pattern")),
            picture: Regex::new(r"(playwright:///screenshot/[^/]+/[^/]+/)\d{4}-\d\d-\d\dT[\d:.]+Z")
                .expect("a valid pattern"),
            page: Regex::new(r"(playwright:///\w+/\w+/)(?:[0-9A-F]{32}|[0-9A-Fa-f-]{36})")
                .expect("a valid pattern"),
            colour: Regex::new(r"\x1b\[\d*m").expect("a valid pattern"),
        }
    }

    /// Replaces placeholders in pages and arguments by addresses.
    pub fn fill(&self, text: &str) -> String {
        self.literal
            .iter()
            .fold(text.to_owned(), |text, (real, name)| {
                text.replace(name, real)
            })
    }

    /// Replaces addresses in an answer by placeholders.
    pub fn mask(&self, text: &str) -> String {
        let text = self
            .literal
            .iter()
            .fold(text.to_owned(), |text, (real, name)| {
                text.replace(real, name)
            });
        let masked = self.time.replace_all(&text, "{time}");
        let masked = self.picture.replace_all(&masked, "$1{time}");
        let masked = self.page.replace_all(&masked, "$1{page}");
        let mut masked = self.colour.replace_all(&masked, "");
        if let Some(refs) = &self.refs {
            masked = refs.replace_all(&masked, "[ref]");
        }
        masked
            .lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n")
            .trim_end()
            .to_owned()
    }
}

/// Returns whether `actual` matches `expected`: `...` alone on a line matches any lines, `{any}` any text within a line, `{n}` a number.
pub(crate) fn matches(expected: &str, actual: &str) -> bool {
    let expected: Vec<_> = expected.trim_end().lines().map(str::trim_end).collect();
    let actual: Vec<_> = actual.trim_end().lines().map(str::trim_end).collect();
    lines_match(&expected, &actual)
}

fn lines_match(expected: &[&str], actual: &[&str]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((first, rest)) if first.trim() == "..." => {
            (0..=actual.len()).any(|skip| lines_match(rest, &actual[skip..]))
        }
        Some((first, rest)) => actual
            .split_first()
            .is_some_and(|(line, below)| line_matches(first, line) && lines_match(rest, below)),
    }
}

fn line_matches(expected: &str, actual: &str) -> bool {
    if !expected.contains("{any}") && !expected.contains("{n}") {
        return expected == actual;
    }
    let mut pattern = String::from("^");
    for character in expected.chars() {
        if !character.is_alphanumeric() && character.is_ascii() {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    let pattern = pattern
        .replace(r"\{any\}", ".*")
        .replace(r"\{n\}", r"\d+(?:\.\d+)?")
        + "$";
    Regex::new(&pattern).is_ok_and(|pattern| pattern.find(actual).is_some())
}

/// Returns the lines of both, `-` expected, `+` actual.
pub fn difference(expected: &str, actual: &str) -> String {
    let (expected, actual): (Vec<_>, Vec<_>) =
        (expected.lines().collect(), actual.lines().collect());
    // Length of the longest common subsequence of the tails, from the end.
    let mut common = vec![vec![0_usize; actual.len() + 1]; expected.len() + 1];
    for (i, left) in expected.iter().enumerate().rev() {
        for (j, right) in actual.iter().enumerate().rev() {
            common[i][j] = if left == right {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut text) = (0, 0, String::new());
    while i < expected.len() || j < actual.len() {
        if i < expected.len() && j < actual.len() && expected[i] == actual[j] {
            let _ = writeln!(text, "      {}", expected[i]);
            (i, j) = (i + 1, j + 1);
        } else if i < expected.len() && (j == actual.len() || common[i + 1][j] >= common[i][j + 1])
        {
            let _ = writeln!(text, "    - {}", expected[i]);
            i += 1;
        } else {
            let _ = writeln!(text, "    + {}", actual[j]);
            j += 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_what_they_stand_for() {
        assert!(matches("a\n...\nd", "a\nb\nc\nd"));
        assert!(matches("...\nd\n", "d"));
        assert!(matches("took {n} ms (.*)", "took 1.5 ms (.*)"));
        assert!(matches("- [Snapshot]({any}.yml)", "- [Snapshot](x/y.yml)"));
        assert!(!matches("took {n} ms", "took x ms"));
        assert!(!matches("a\n...", "b\na"));
        assert!(!matches("", "something"));
    }

    #[test]
    fn a_difference_shows_only_what_differs() {
        assert_eq!(
            difference("a\nb\nc", "a\nx\nc"),
            "      a\n    - b\n    + x\n      c\n"
        );
    }

    #[tokio::test]
    async fn addresses_and_times_have_placeholders() {
        let site = Site::start().await;
        let names = Placeholders::new(&site, Path::new("/tmp/work"), false);
        let text = format!(
            "{} {} /tmp/work/page-2026-11-21T08-09-16-908Z.yml playwright:///page/default/99639E2819B59BB7C00FB88992A6B3B8/x",
            site.url("/x"),
            site.cross_origin_url()
        );
        let masked = names.mask(&text);
        assert_eq!(
            masked,
            "{site}/x {cross} {workspace}/page-{time}.yml playwright:///page/default/{page}/x"
        );
        assert_eq!(
            names.fill("{cross-host}"),
            format!("localhost:{}", site.port())
        );
    }
}
