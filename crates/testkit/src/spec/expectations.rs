//! The known failures of an engine, each with its reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The beginning of the reason of a case that passes at other times.
const SOMETIMES: &str = "sometimes ";

/// Lines of the form `FILE > TITLE  # REASON`. A reason may begin with the affected tools: `[browser_click]`, `[]` if none. The case may
/// also pass if the rest begins with `sometimes`.
#[derive(Debug, Default)]
pub(super) struct Expectations {
    reasons: BTreeMap<String, String>,
}

impl Expectations {
    /// Reads a file; a missing file lists nothing.
    pub(super) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        Self::parse(&text).unwrap_or_else(|line| {
            panic!(
                "{}: `{line}` gives no reason (FILE > TITLE  # REASON)",
                path.display()
            )
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let lines = text
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let reasons = lines.map(|line| match line.split_once("  # ") {
            Some((name, reason)) if !reason.trim().is_empty() => {
                Ok((name.trim().to_owned(), reason.trim().to_owned()))
            }
            _ => Err(line.to_owned()),
        });
        Ok(Self {
            reasons: reasons.collect::<Result<_, _>>()?,
        })
    }

    /// Returns why this case is expected to fail.
    pub(super) fn reason(&self, case: &str) -> Option<&str> {
        self.reasons.get(case).map(String::as_str)
    }

    /// Returns whether a listed case passes at other times.
    pub(super) fn may_pass(&self, case: &str) -> bool {
        self.reason(case).is_some_and(|reason| {
            let rest = reason.split_once("] ").map_or(reason, |(_, rest)| rest);
            rest.starts_with(SOMETIMES)
        })
    }

    /// Returns the reason of each case.
    pub(super) fn into_reasons(self) -> BTreeMap<String, String> {
        self.reasons
    }

    /// Returns the listed cases.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.reasons.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_gives_a_reason() {
        let list =
            Expectations::parse("# chromium\n\nclick.md > A cover  # closed roots\n").unwrap();
        assert_eq!(list.reason("click.md > A cover"), Some("closed roots"));
        assert!(Expectations::parse("click.md > A cover").is_err());
        assert!(!list.may_pass("click.md > A cover"));
        let list = Expectations::parse("click.md > A cover  # [] sometimes it is closed").unwrap();
        assert!(list.may_pass("click.md > A cover"));
    }
}
