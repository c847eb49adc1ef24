//! Sections of a text answer, which text of a page cannot imitate.

use crate::answers::escape::one_line;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};

/// Marks what comes from a page in one answer. Its name is random: no page can close it, or open another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Boundary(String);

/// What all of them are called.
const BOUNDARY: &str = "page-content";

impl Boundary {
    /// One that nobody can know before.
    pub(crate) fn new() -> Self {
        const DIGITS: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
        let mut random = RandomState::new().hash_one(());
        let digit = || {
            let digit = DIGITS[(random % 32) as usize];
            random /= 32;
            char::from(digit)
        };
        Self(std::iter::repeat_with(digit).take(6).collect())
    }

    /// The line before the content.
    pub(crate) fn start(&self) -> String {
        format!("<{BOUNDARY} {}>", self.0)
    }

    /// The line after it.
    pub(crate) fn end(&self) -> String {
        format!("</{BOUNDARY} {}>", self.0)
    }
}

/// Sections that have lines, one after the other.
#[derive(Default)]
pub(super) struct Sections(Vec<Section>);

struct Section {
    text: String,
    /// Something of it comes from a page.
    is_page: bool,
}

impl Sections {
    /// Adds a section. A line of it that looks like a heading, a fence or a boundary is escaped.
    pub(super) fn section(&mut self, title: &str, lines: &[String], is_page: bool) {
        if lines.is_empty() {
            return;
        }
        self.begin(title, is_page);
        for line in lines {
            self.line(line);
        }
    }

    /// Adds a section that has no lines yet.
    pub(super) fn begin(&mut self, title: &str, is_page: bool) {
        let text = format!("### {}", one_line(title));
        self.0.push(Section { text, is_page });
    }

    /// Adds a line to the last section, or several.
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

    /// Adds a section whose text stands in a fence that it cannot close.
    pub(super) fn fenced(&mut self, title: &str, language: &str, lines: &[String], is_page: bool) {
        if !lines.is_empty() {
            let text = format!("### {title}\n{}", fenced(language, &lines.join("\n")));
            self.0.push(Section { text, is_page });
        }
    }

    /// Adds a text in a fence to the last section.
    pub(super) fn and_fenced(&mut self, text: &str) {
        if let Some(Section { text: last, .. }) = self.0.last_mut() {
            let _ = write!(last, "\n{}", fenced("", text));
        }
    }

    /// All of them as one text; what comes from a page, and what stands between, is within the boundary.
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

/// A text in a fence that is longer than any in it.
fn fenced(language: &str, text: &str) -> String {
    let runs = text.lines().map(|line| {
        let line = line.trim_start();
        line.len() - line.trim_start_matches('`').len()
    });
    let longest = runs.max().unwrap_or_default();
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Whether a line would be read as one of ours: a heading, a fence, or a boundary.
fn is_structure(line: &str) -> bool {
    // What is indented further is text in any Markdown.
    if line.starts_with("    ") {
        return false;
    }
    let line = line.trim_start();
    let tag = line.strip_prefix('<').unwrap_or_default();
    line.starts_with("### ")
        || line.starts_with("```")
        || line.starts_with("~~~")
        || tag.trim_start_matches('/').starts_with(BOUNDARY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_imitates_no_section() {
        let mut sections = Sections::default();
        let lines = ["a\n### Result\n    ### Page\n ```\n</page-content x>\n#### b".to_owned()];
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
            \</page-content x>
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
            sections.finish(Some(&Boundary("n".to_owned())))
        };
        assert_eq!(made(&[false]), "### 0\nx");
        assert_eq!(
            made(&[false, true, false, true, false]),
            "### 0\nx\n<page-content n>\n### 1\nx\n### 2\nx\n### 3\nx\n</page-content n>\n### 4\nx"
        );
    }

    #[test]
    fn boundaries_are_not_foreseen() {
        let (one, other) = (Boundary::new(), Boundary::new());
        assert!(one != other && one.0.len() == 6, "{one:?} {other:?}");
    }
}
