//! Sections of a text answer, which text of a page cannot imitate.

use crate::answers::escape::one_line;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};

/// Marks the text of a page in one answer. The number is random, so that no page can close or open a boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Boundary(u64);

/// What precedes the number of a boundary.
const BOUNDARY: &str = "page";

/// The number of possible boundaries. Nine digits are three tokens.
const BOUNDARIES: u64 = 1_000_000_000;

impl Boundary {
    /// Creates a boundary with a random number.
    pub(crate) fn new() -> Self {
        Self(RandomState::new().hash_one(()) % BOUNDARIES)
    }

    /// Returns the line before the content.
    pub(crate) fn start(&self) -> String {
        format!("<{BOUNDARY}{:09}>", self.0)
    }

    /// Returns the line after the content.
    pub(crate) fn end(&self) -> String {
        format!("</{BOUNDARY}{:09}>", self.0)
    }
}

/// Concatenated sections.
#[derive(Default)]
pub(super) struct Sections(Vec<Section>);

struct Section {
    text: String,
    /// The section contains text of a page.
    is_page: bool,
}

impl Sections {
    /// Adds a section and escapes lines that look like headings, fences or boundaries.
    pub(super) fn section(&mut self, title: &str, lines: &[String], is_page: bool) {
        if lines.is_empty() {
            return;
        }
        self.begin(title, is_page);
        for line in lines {
            self.line(line);
        }
    }

    /// Returns whether there is no section.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an empty section.
    pub(super) fn begin(&mut self, title: &str, is_page: bool) {
        let text = format!("### {}", one_line(title));
        self.0.push(Section { text, is_page });
    }

    /// Adds one or more lines to the last section.
    pub(super) fn line(&mut self, lines: &str) {
        let Some(Section { text, .. }) = self.0.last_mut() else {
            return;
        };
        for line in lines.split('\n') {
            text.push('\n');
            if is_structure(line) {
                text.push('\\');
            }
            text.push_str(line);
        }
    }

    /// Adds a section with its text in a fence that the text cannot close.
    pub(super) fn fenced(&mut self, title: &str, language: &str, lines: &[String], is_page: bool) {
        if !lines.is_empty() {
            let text = format!("### {title}\n{}", fenced(language, &lines.join("\n")));
            self.0.push(Section { text, is_page });
        }
    }

    /// Adds a text in a fence to the last section.
    pub(super) fn and_fenced(&mut self, text: &str) {
        self.and_code("", text);
    }

    /// Adds code in a fence to the last section.
    pub(super) fn and_code(&mut self, language: &str, text: &str) {
        if let Some(Section { text: last, .. }) = self.0.last_mut() {
            let _ = write!(last, "\n{}", fenced(language, text));
        }
    }

    /// Returns all sections as one text. The sections with page text, and those between them, are within the boundary.
    pub(super) fn finish(self, boundary: Option<&Boundary>) -> String {
        let first = self.0.iter().position(|section| section.is_page);
        let last = self.0.iter().rposition(|section| section.is_page);
        let mut lines = Vec::new();
        for (index, section) in self.0.into_iter().enumerate() {
            if Some(index) == first {
                lines.extend(boundary.map(Boundary::start));
            }
            lines.push(section.text);
            if Some(index) == last {
                lines.extend(boundary.map(Boundary::end));
            }
        }
        lines.join("\n")
    }
}

/// Returns a text in a fence that is longer than any fence in the text.
fn fenced(language: &str, text: &str) -> String {
    let runs = text.lines().map(|line| {
        let line = line.trim_start();
        line.len() - line.trim_start_matches('`').len()
    });
    let longest = runs.max().unwrap_or_default();
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Returns whether a line would be read as a heading, a fence or a boundary.
fn is_structure(line: &str) -> bool {
    // Lines with a deeper indentation are text in any Markdown.
    if line.starts_with("    ") {
        return false;
    }
    let line = line.trim_start();
    let tag = line.strip_prefix('<').unwrap_or_default();
    let name = tag.trim_start_matches('/').strip_prefix(BOUNDARY);
    line.starts_with("### ")
        || line.starts_with("```")
        || line.starts_with("~~~")
        || name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_imitates_no_section() {
        let mut sections = Sections::default();
        let lines =
            ["a\n### Result\n    ### Page\n ```\n</page482913057>\n<pages>\n#### b".to_owned()];
        sections.section("Error", &lines, true);
        sections.fenced(
            "Snapshot",
            "yaml",
            &["- a\n````\n### Page".to_owned()],
            true,
        );
        expect_test::expect![[r"
            ### Error
            a
            \### Result
                ### Page
            \ ```
            \</page482913057>
            <pages>
            #### b
            ### Snapshot
            `````yaml
            - a
            ````
            ### Page
            `````"]]
        .assert_eq(&sections.finish(None));
    }

    #[test]
    fn the_boundary_reaches_from_the_first_section_of_the_page_to_the_last() {
        let made = |pages: &[bool]| {
            let mut sections = Sections::default();
            for (index, is_page) in pages.iter().enumerate() {
                sections.section(&index.to_string(), &["x".to_owned()], *is_page);
            }
            sections.finish(Some(&Boundary(7)))
        };
        assert_eq!(made(&[false]), "### 0\nx");
        assert_eq!(
            made(&[false, true, false, true, false]),
            "### 0\nx\n<page000000007>\n### 1\nx\n### 2\nx\n### 3\nx\n</page000000007>\n### 4\nx"
        );
    }

    #[test]
    fn boundaries_are_not_foreseen() {
        let (one, other) = (Boundary::new(), Boundary::new());
        assert_ne!(one, other);
    }
}
