//! Two answers to one call against what the scenario says about their difference.

use std::ops::Range;

use super::scenario::Listed;
use crate::spec::{difference, matches};

/// What is said about a difference whose reason nobody has given yet.
pub(super) const NO_REASON: &str = "?";

/// How the two answers of a call stand to what is listed below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// They are the same, as expected.
    None,
    /// They differ as it is listed.
    Known,
    /// They differ as it is listed, but nobody has said why.
    Unexplained { lines: String },
    /// They differ, and it is not listed, or otherwise.
    Unexpected {
        lines: String,
        edit: (Range<usize>, String),
    },
    /// They are the same, and a difference is listed.
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

    /// What to change in the scenario's file so that it tells what is.
    pub(super) fn edit(&self) -> Option<(Range<usize>, String)> {
        match self {
            Self::Unexpected { edit, .. } | Self::Gone { edit, .. } => Some(edit.clone()),
            Self::None | Self::Known | Self::Unexplained { .. } => None,
        }
    }

    /// What is wrong, ready to print; `updated` when the file was rewritten.
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

/// The lines that only one of them has, `- ` theirs and `+ ` ours.
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
