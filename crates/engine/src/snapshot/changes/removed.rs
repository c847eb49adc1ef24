//! What disappeared from one snapshot to the next.

use super::super::line::{Line, LineKind};
use super::entry::Entry;
use super::part;
use super::shown::{cut, named, shown};
use super::{
    Ancestors, Change, Compared, MAX_LISTED, MAX_MOVED, MESSAGES, Position, UNMOVED, whole_line,
};

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
        for together in removed.chunk_by(is_together) {
            let are_many = together.len() > MAX_REMOVED_LINES;
            let left = || self.left_beside(&together[0], lines);
            if let Some(left) = are_many.then(left)
                && left.len() <= MAX_LISTED
                && 2 * left.len() <= together.len()
            {
                add_run(together, all);
                all.extend(left.into_iter().map(|text| Change {
                    rank: 2,
                    place: Position::Removed,
                    sign: UNMOVED,
                    text: format!("{UNMOVED} {}", cut(&text, MAX_REMOVED)),
                    is_bare: false,
                    entry: None,
                }));
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

    /// Returns the lines of what is left of the kind of a removed element, beside it.
    fn left_beside(&self, removed: &Removed<'_>, lines: &[Line<'a>]) -> Vec<String> {
        let before = self.before[..removed.index].iter().rev();
        let at = before
            .filter_map(|entry| entry.other)
            .map(|other| self.after[other].line + 1)
            .next();
        // The lines before the first entry are those before the first difference.
        let at = at.unwrap_or_else(|| self.start.min(lines.len()));
        let entry = removed.entry;
        let is_inside = |index: &usize| lines[*index].level >= entry.level;
        let is_kind =
            |index: &usize| lines[*index].level == entry.level && lines[*index].kind == entry.kind;
        let above = (0..at).rev().take_while(is_inside).filter(is_kind);
        let mut all: Vec<usize> = above.collect();
        all.reverse();
        all.extend((at..lines.len()).take_while(is_inside).filter(is_kind));
        let is_listed = |index: &usize| {
            let mut entries = self.after.iter().filter(|it| it.line == *index);
            entries.any(|it| self.sign(it).is_some())
        };
        all.retain(|index| !is_listed(index));
        let line = |index: usize| {
            let next = lines.get(index + 1);
            let content = next.filter(|it| it.level > entry.level).map(|it| it.text);
            with_content(lines[index].text.to_owned(), content)
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
fn add_run(run: &[Removed<'_>], all: &mut Vec<Change>) {
    match run {
        [first, .., last] if run.len() > MAX_REMOVED_LINES => {
            let [begin, end] = [first, last].map(|it| cut(&it.title(), MAX_MOVED));
            let count = run.len();
            all.push(first.change(&format!("{begin} … {end} ({count} lines)")));
        }
        run => all.extend(run.iter().map(|it| it.change(&it.text))),
    }
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
        (self.entry.level, self.entry.kind, self.entry.parent)
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
