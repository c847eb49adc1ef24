//! What the refs of a document name, in a form that is cheap to store.

use super::facts::{Entry, FrameSnapshot};
use crate::text::shorten;
use std::fmt::Write as _;

/// The largest size of the descriptions of a document, in bytes.
const MAX_SIZE: usize = 256 * 1024;
/// The largest length of a name.
const MAX_NAME_LENGTH: usize = 100;

/// The role and name of each ref of a document: one line per ref.
#[derive(Debug, Clone, Default)]
pub(crate) struct Descriptions(String);

impl Descriptions {
    /// Returns whether no ref is described.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a ref, without the prefix of its frame.
    pub(crate) fn add(&mut self, reference: impl std::fmt::Display, role: &str, name: &str) {
        if self.0.len() < MAX_SIZE {
            let mut name = name.replace('\n', " ");
            shorten(&mut name, MAX_NAME_LENGTH);
            // Writing to a string cannot fail.
            let _ = writeln!(self.0, "{reference}\t{role}\t{name}");
        }
    }

    /// Adds the descriptions of a part of the same document.
    pub(crate) fn extend(&mut self, part: &Self) {
        if self.0.len() < MAX_SIZE {
            self.0.push_str(&part.0);
        }
    }

    /// Returns the role and name of the ref.
    pub(crate) fn get(&self, reference: &str) -> Option<(&str, &str)> {
        let mut lines = self.0.lines().rev();
        let (role, name) = lines.find_map(|line| {
            let (number, rest) = line.split_once('\t')?;
            (number == reference).then(|| rest.split_once('\t'))?
        })?;
        Some((role, name))
    }
}

impl FrameSnapshot {
    /// Returns what the refs of this document name, excluding those of its frames. The ref of an empty body is not shown.
    pub(crate) fn descriptions(&self) -> Descriptions {
        let mut all = Descriptions::default();
        if self.entries.len() == 1 {
            return all;
        }
        for entry in &self.entries {
            if let Entry::Node(node) = entry
                && let Some(number) = node.reference
            {
                all.add(format_args!("e{number}"), &node.role, &node.name);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_description_of_a_ref_counts() {
        let mut all = Descriptions::default();
        assert!(all.is_empty());
        all.add("e1", "button", "Save");
        all.add("e11", "link", "");
        let mut part = Descriptions::default();
        part.add("e1", "button", "Save\tall");
        all.extend(&part);
        assert_eq!(all.get("e1"), Some(("button", "Save\tall")));
        assert_eq!(all.get("e11"), Some(("link", "")));
        assert_eq!(all.get("e2"), None);
    }

    #[test]
    fn the_ref_of_an_empty_body_is_not_described() {
        let described = |entries: serde_json::Value| {
            let facts = serde_json::from_value(entries).unwrap();
            FrameSnapshot::new("", facts).descriptions()
        };
        let empty = serde_json::json!([["generic", "", 1, 0]]);
        assert!(described(empty).is_empty());
        let text = serde_json::json!([["generic", "", 1, 1], "Text"]);
        assert_eq!(described(text).get("e1"), Some(("generic", "")));
    }

    #[test]
    fn the_size_is_bounded() {
        let mut all = Descriptions::default();
        for number in 0..100_000 {
            all.add(number, "button", &"é".repeat(1_000));
        }
        assert!(all.0.len() < MAX_SIZE + 2 * MAX_NAME_LENGTH);
        assert_eq!(all.get("0").map(|(_, name)| name.chars().count()), Some(51));
    }
}
