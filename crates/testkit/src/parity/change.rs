//! Comparing two answers to a call with the difference that the scenario lists.

use std::ops::Range;

use super::scenario::Listed;
use crate::spec::{difference, matches};

/// The placeholder of a missing reason.
pub(super) const NO_REASON: &str = "?";

/// The result of comparing the answers of a call with the listed difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The answers are equal, as expected.
    None,
    /// The answers differ as listed.
    Known,
    /// The answers differ as listed, but the reason is missing.
    Unexplained { lines: String },
    /// The answers differ in an unlisted way.
    Unexpected {
        lines: String,
        edit: (Range<usize>, String),
    },
    /// The answers are equal, but a difference is listed.
    Gone {
        reason: String,
        edit: (Range<usize>, String),
    },
}

impl Change {
    /// Compares two answers line by line.
    pub(super) fn between(theirs: &str, ours: &str, listed: &Listed) -> Self {
        let lines = changed_lines(theirs, ours);
        let range = listed.range.clone();
        match (&listed.reason, lines.is_empty()) {
            (None, true) => Self::None,
            (Some(reason), true) => Self::Gone {
                reason: reason.clone(),
                edit: (range, String::new()),
            },
            (Some(reason), false) if matches(&listed.lines, &lines) => {
                if reason == NO_REASON {
                    Self::Unexplained { lines }
                } else {
                    Self::Known
                }
            }
            (reason, false) => {
                let reason = reason.as_deref().unwrap_or(NO_REASON);
                let edit = (range, format!("≠ {reason}\n{lines}\n"));
                Self::Unexpected { lines, edit }
            }
        }
    }

    /// Returns the change of the scenario's file that lists the actual difference.
    pub(super) fn edit(&self) -> Option<(Range<usize>, String)> {
        match self {
            Self::Unexpected { edit, .. } | Self::Gone { edit, .. } => Some(edit.clone()),
            Self::None | Self::Known | Self::Unexplained { .. } => None,
        }
    }

    /// Returns the failure, ready to print; `updated` if the file was rewritten.
    pub(super) fn fault(&self, updated: bool) -> Option<String> {
        let (title, lines) = match self {
            Self::None | Self::Known => return None,
            Self::Unexplained { lines } => (
                "differs, and the list does not say why".to_owned(),
                lines.as_str(),
            ),
            Self::Unexpected { lines, .. } => {
                ("differs (- theirs, + ours)".to_owned(), lines.as_str())
            }
            Self::Gone { .. } if updated => return None,
            Self::Gone { reason, .. } => (
                format!("differs no more; take it off the list ({reason})"),
                "",
            ),
        };
        let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
        Some(format!("  {title}\n{lines}"))
    }
}

/// Returns the lines that only one answer has, `- ` theirs and `+ ` ours.
fn changed_lines(theirs: &str, ours: &str) -> String {
    let all = difference(theirs, ours);
    let changed = all.lines().filter_map(|line| line.strip_prefix("    "));
    changed
        .filter(|line| line.starts_with(['-', '+']))
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(reason: &str, lines: &str) -> Listed {
        Listed {
            reason: Some(reason.to_owned()),
            lines: lines.to_owned(),
            range: 3..9,
        }
    }

    fn no_difference_listed() -> Listed {
        Listed {
            reason: None,
            lines: String::new(),
            range: 3..3,
        }
    }

    #[test]
    fn a_difference_must_be_on_the_list_with_a_reason() {
        let list = listed("masked", "- a: {any}\n+ a: •••");
        assert_eq!(
            Change::between("x\na: 123", "x\na: •••", &list),
            Change::Known
        );
        let list = listed(NO_REASON, "- a\n+ b");
        assert!(matches!(
            Change::between("a", "b", &list),
            Change::Unexplained { .. }
        ));
        let edit = (3..3, "≠ ?\n- a\n+ b\n".to_owned());
        assert_eq!(
            Change::between("a", "b", &no_difference_listed()),
            Change::Unexpected {
                lines: "- a\n+ b".to_owned(),
                edit
            }
        );
    }

    #[test]
    fn another_difference_keeps_the_reason() {
        let change = Change::between("a", "c", &listed("clearer", "- a\n+ b"));
        assert_eq!(
            change.edit(),
            Some((3..9, "≠ clearer\n- a\n+ c\n".to_owned()))
        );
        assert!(change.fault(false).is_some());
    }

    #[test]
    fn a_difference_that_is_gone_must_leave_the_list() {
        let change = Change::between("a", "a", &listed("clearer", "- a\n+ b"));
        assert_eq!(change.edit(), Some((3..9, String::new())));
        assert!(
            change
                .fault(false)
                .is_some_and(|fault| fault.contains("no more"))
        );
        assert_eq!(
            Change::between("a", "a", &no_difference_listed()),
            Change::None
        );
    }
}
