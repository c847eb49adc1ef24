//! What is at another place than in the previous snapshot.

use super::shown::{cut, named};
use super::{Change, Compared, MAX_MOVED, Position, UNMOVED};
use std::collections::BTreeMap;

impl Compared<'_> {
    /// Adds what is at another place among its siblings, or in another element that was there before, each with the line before or after it.
    pub(super) fn add_moved(&self, all: &mut Vec<Change>) {
        // The first entries of lines, by the entry that contains them.
        let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (index, entry) in self.after.iter().enumerate() {
            let is_first = index == 0 || self.after[index - 1].line != entry.line;
            if is_first {
                children.entry(entry.parent).or_default().push(index);
            }
        }
        for (parent, children) in children {
            let old_parent = parent.map(|parent| self.after[parent].other);
            // What is in a new element is listed with it, or was wrapped.
            if old_parent == Some(None) {
                continue;
            }
            let moved = self.moved(old_parent.flatten(), &children);
            if moved.contains(&Some(true)) {
                self.add_order(parent, &children, &moved, all);
            }
        }
    }

    /// Returns which of the children of an element were at another place before; `None` for what is new.
    fn moved(&self, old_parent: Option<usize>, children: &[usize]) -> Vec<Option<bool>> {
        let stayed = |old: usize| self.before[old].parent == old_parent;
        // A line can begin with something new.
        let line_of = |child: usize| {
            let line = self.after[child].line;
            let entries = self.after[child..].iter();
            let mut entries = entries.take_while(move |entry| entry.line == line);
            entries.find_map(|entry| entry.other)
        };
        let olds: Vec<Option<usize>> = children.iter().map(|child| line_of(*child)).collect();
        let kept = longest_increasing(&olds, |old| stayed(*old));
        let is_moved = |(old, is_kept): (&Option<usize>, bool)| {
            let old = (*old)?;
            // What was in an element that disappeared was unwrapped.
            let has_left = || {
                let parent = self.before[old].parent;
                parent.is_none_or(|parent| self.before[parent].other.is_some())
            };
            Some(!is_kept && (stayed(old) || has_left()))
        };
        olds.iter().zip(kept).map(is_moved).collect()
    }

    fn add_order(
        &self,
        parent: Option<usize>,
        children: &[usize],
        moved: &[Option<bool>],
        all: &mut Vec<Change>,
    ) {
        let mut add = |indent: usize, sign: char, text: &str| {
            let indent = self.layout.indent().repeat(indent);
            let text = cut(text, MAX_MOVED);
            all.push(Change {
                rank: 2,
                place: Position::Moved,
                sign,
                text: format!("{sign} {indent}{text}"),
                is_bare: false,
                entry: None,
            });
        };
        if let Some(parent) = parent {
            add(0, UNMOVED, &named(&self.after[parent].text));
        }
        let indent = usize::from(parent.is_some());
        // The last line that did not move, unless it is listed, and whether there is one.
        let mut before = None;
        let mut follows = false;
        // Whether what moved to the beginning is still to be followed by a line that did not move.
        let mut leads = false;
        for (child, is_moved) in children.iter().zip(moved) {
            let whole = self.after[*child].whole;
            match is_moved {
                None => {}
                Some(true) => {
                    if let Some(before) = before.take() {
                        add(indent, UNMOVED, before);
                    }
                    leads |= !follows;
                    add(indent, '>', whole);
                }
                Some(false) => {
                    before = (!leads).then_some(whole);
                    if leads {
                        add(indent, UNMOVED, whole);
                    }
                    (follows, leads) = (true, false);
                }
            }
        }
    }
}

/// Returns which of these numbers are in a longest increasing sequence of those that may be in it.
fn longest_increasing(numbers: &[Option<usize>], may_be: impl Fn(&usize) -> bool) -> Vec<bool> {
    // The indices of the last numbers of the sequences of each length that end lowest, and of the number before each one.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; numbers.len()];
    for (index, number) in numbers.iter().enumerate() {
        let Some(number) = number.filter(&may_be) else {
            continue;
        };
        let length = ends.partition_point(|end| numbers[*end] < Some(number));
        before[index] = length.checked_sub(1).map(|last| ends[last]);
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut kept = vec![false; numbers.len()];
    let mut at = ends.last().copied();
    while let Some(index) = at {
        kept[index] = true;
        at = before[index];
    }
    kept
}
