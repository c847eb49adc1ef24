//! What disappeared from one snapshot to the next.

use super::super::facts::Layout;
use super::super::line::{Line, LineKind};
use super::entry::Entry;
use super::part;
use super::shown::{cut, named, shown};
use super::{
    Ancestors, Change, Compared, MAX_LISTED, MAX_MOVED, MESSAGES, Position, UNMOVED, whole_line,
};
use std::collections::BTreeSet;

/// The longest line of what disappeared, in characters.
const MAX_REMOVED: usize = 120;
/// The most neighbours that disappeared and have a line each; more have one line.
const MAX_REMOVED_LINES: usize = 8;

impl<'a> Compared<'a> {
    /// Adds what disappeared; returns the number of lines that are somewhere else. If it is `limited`, many neighbours of one kind have one
    /// line, and few that are left of them follow.
    pub(super) fn add_removed(
        &self,
        lines: &[Line<'a>],
        limited: bool,
        all: &mut Vec<Change>,
    ) -> usize {
        let (removed, moved) = self.removed();
        if !limited {
            all.extend(removed.iter().map(|it| it.change(&it.text)));
            return moved;
        }
        let is_together = |one: &Removed<'_>, other: &Removed<'_>| {
            one.rank == 3 && other.rank == 3 && one.kind() == other.kind()
        };
        let mut left_before = BTreeSet::new();
        for together in removed.chunk_by(is_together) {
            let are_many = together.len() > MAX_REMOVED_LINES;
            let left = || self.left_beside(&together[0], lines);
            if let Some(left) = are_many.then(left)
                && left.len() <= MAX_LISTED
                && 2 * left.len() <= together.len()
            {
                let lines = left.into_iter().filter(|it| left_before.insert(it.clone()));
                let lines = lines.map(|it| format!("\n{UNMOVED} {}", cut(&it, MAX_REMOVED)));
                let mut change = run(together);
                change.text.extend(lines);
                all.push(Change { rank: 2, ..change });
                continue;
            }
            let has_nothing_between = |one: &Removed<'_>, other: &Removed<'_>| {
                let mut between = self.before[one.index..other.index].iter();
                !between.any(|it| it.level == one.entry.level && it.other.is_some())
            };
            for run in together.chunk_by(has_nothing_between) {
                add_run(run, all);
            }
        }
        moved
    }

    /// Returns what disappeared, and the number of lines that are somewhere else.
    fn removed(&self) -> (Vec<Removed<'_>>, usize) {
        let mut ancestors = Ancestors::default();
        let mut all = Vec::new();
        let (mut moved, mut next) = (0, 0);
        for line in self.before.chunk_by(|one, other| one.line == other.line) {
            let first = next;
            next += line.len();
            let is_removed =
                |entry: &Entry<'a>| entry.other.is_none() && !self.only_groups(entry, &self.before);
            let whole = whole_line(line).filter(|_| line.iter().all(is_removed));
            let mut is_inside = false;
            for (index, entry) in line.iter().enumerate() {
                let sign = is_removed(entry).then_some('-');
                let is_message = MESSAGES.contains(&entry.role());
                let place = ancestors.enter(entry, sign, if is_message { 1 } else { 3 });
                is_inside |= place.indent > 0 && entry.other.is_some();
                // The content of a removed element is removed with it.
                if sign.is_none() || place.indent > 0 || (index > 0 && whole.is_some()) {
                    continue;
                }
                let text = match whole {
                    Some(whole) => whole.to_owned(),
                    None => shown(entry, None),
                };
                let text = match text.chars().count() > MAX_REMOVED {
                    true => cut(&named(&text), MAX_REMOVED),
                    false => text,
                };
                let next = self.before.get(first + line.len());
                all.push(Removed {
                    entry,
                    index: first + index,
                    rank: place.rank,
                    text,
                    content: next.filter(|it| it.level > entry.level).map(|it| it.whole),
                });
            }
            moved += usize::from(is_inside);
        }
        (all, moved)
    }

    /// Returns the lines of what is left of the kind of a removed element, beside it; more than permitted if there are too many.
    fn left_beside(&self, removed: &Removed<'_>, lines: &[Line<'a>]) -> Vec<String> {
        let entry = removed.entry;
        let parent = entry.parent.map(|parent| self.before[parent].other);
        let (at, level) = match parent {
            Some(Some(parent)) => {
                let parent = &self.after[parent];
                (parent.line + 1, parent.of_line.0 + 1)
            }
            Some(None) => return Vec::new(),
            // The lines before the first entry are those before the first difference.
            None => (self.start.min(lines.len()), entry.of_line.0),
        };
        let is_inside = |index: &usize| lines[*index].level >= level;
        let is_kind = |index: &usize| {
            let line = &lines[*index];
            line.level == level && line.kind == entry.of_line.1
        };
        let is_unlisted = |index: &usize| {
            let first = self.after.partition_point(|it| it.line < *index);
            let entries = self.after[first..].iter();
            let mut entries = entries.take_while(|it| it.line == *index);
            entries.all(|it| self.sign(it).is_none())
        };
        let is_left = |index: &usize| is_kind(index) && is_unlisted(index);
        let above = (0..at).rev().take_while(is_inside).filter(is_left);
        let mut all: Vec<usize> = above.take(MAX_LISTED + 1).collect();
        all.reverse();
        let below = (at..lines.len()).take_while(is_inside).filter(is_left);
        all.extend(below.take(MAX_LISTED + 1));
        let line = |index: usize| {
            let next = lines.get(index + 1);
            let content = next.filter(|it| it.level > level).map(|it| it.text);
            let text = lines[index].text;
            let text = match self.layout {
                Layout::Full => text
                    .strip_prefix("- ")
                    .unwrap_or(text)
                    .trim_end_matches(':'),
                Layout::Compact => text,
            };
            with_content(text.to_owned(), content)
        };
        all.into_iter().map(line).collect()
    }
}

/// Adds its content to the line of an element that has no name and no text.
fn with_content(line: String, content: Option<&str>) -> String {
    let is_bare =
        part::node(&line).is_some_and(|node| node.name.is_none() && node.end == line.len());
    match content.filter(|_| is_bare) {
        Some(content) => format!("{line}: {content}"),
        None => line,
    }
}

/// Adds neighbours that disappeared: each, or all in one line.
fn add_run(removed: &[Removed<'_>], all: &mut Vec<Change>) {
    match removed.len() > MAX_REMOVED_LINES {
        true => all.push(run(removed)),
        false => all.extend(removed.iter().map(|it| it.change(&it.text))),
    }
}

/// Returns the line of several neighbours that disappeared.
fn run(removed: &[Removed<'_>]) -> Change {
    let (first, last) = (&removed[0], &removed[removed.len() - 1]);
    let [begin, end] = [first, last].map(|it| cut(&it.title(), MAX_MOVED));
    let count = removed.len();
    first.change(&format!("{begin} … {end} ({count} lines)"))
}

/// What disappeared.
struct Removed<'a> {
    entry: &'a Entry<'a>,
    /// The index of the entry.
    index: usize,
    rank: u8,
    text: String,
    /// The line after it, if that is in it.
    content: Option<&'a str>,
}

impl Removed<'_> {
    /// Returns its line, shortened, with what is in it if that names it.
    fn title(&self) -> String {
        with_content(named(&self.text), self.content)
    }

    /// Returns what neighbours have in common.
    fn kind(&self) -> (u32, LineKind<'_>, Option<usize>) {
        let (level, kind) = self.entry.of_line;
        (level, kind, self.entry.parent)
    }

    fn change(&self, text: &str) -> Change {
        Change {
            rank: self.rank,
            place: Position::Removed,
            sign: '-',
            text: format!("- {text}"),
            is_bare: false,
            entry: None,
        }
    }
}
