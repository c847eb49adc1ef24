//! The difference between two snapshots of one document: what appeared, disappeared or changed, by refs.

mod entry;
mod part;
mod shown;

use super::facts::Layout;
use super::line::{Line, LineKind, Lines, Ref};
use crate::tokens::estimate_tokens;
use entry::{Entry, entries, without_refs};
use part::Parts;
use serde::Deserialize;
use shown::{MAX_LINE, cut, named, shown};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;

/// The tokens for the lines at the end that count other lines.
const TOKENS_OF_COUNTS: usize = 36;
/// The tokens of a very short line.
const MIN_LINE_TOKENS: usize = 4;
/// The longest line of what disappeared, in characters.
const MAX_REMOVED: usize = 120;
/// The longest line that only shows where something is, in characters.
const MAX_MOVED: usize = 80;
/// What stands before a line beside which something moved, as in a patch.
const UNMOVED: char = ' ';
/// The most elements that a line lists, and the most that look different.
const MAX_LISTED: usize = 8;
const MAX_RESTYLED: usize = 5;

/// Roles of what a page says to its user, and of what it opens above the rest.
const MESSAGES: &[&str] = &["alert", "alertdialog", "dialog", "log", "status"];
const POPUPS: &[&str] = &["listbox", "menu", "tooltip"];

/// A text that was shown after the previous snapshot and was gone before the next one, such as a toast.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Transient {
    /// The role of its live region; empty if it was in none.
    pub(crate) role: String,
    /// What was seen of it, with collapsed white space.
    pub(crate) text: String,
}

/// An element that looks different since the previous snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Restyled {
    /// The number of its ref, or 0.
    #[serde(rename = "ref")]
    pub(crate) reference: u32,
    pub(crate) role: String,
    /// The beginning of its text.
    pub(crate) text: String,
    /// The numbers of the refs of controls in or around it whose state its look can show.
    pub(crate) states: Vec<u32>,
}

/// A rendered snapshot.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) text: &'a str,
    pub(crate) lines: &'a Lines,
}

/// What changed besides the texts of two snapshots.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observed {
    pub(crate) transients: Vec<Transient>,
    /// Elements of the main document, whose refs have this prefix.
    pub(crate) restyled: Vec<Restyled>,
    pub(crate) prefix: String,
}

/// Returns what appeared (`+`), disappeared (`-`) or changed (`~`) from one snapshot to the next, which have the same layout: first what
/// opened above the rest, then the others in the order of the document. With a limit, the most useful lines have at most `max_tokens`
/// together, and the last line counts the others.
pub(crate) fn changes(
    before: Side<'_>,
    after: Side<'_>,
    observed: &Observed,
    layout: Layout,
    max_tokens: Option<usize>,
) -> Vec<String> {
    let lines = after.parsed();
    let compared = Compared::new(&before.parsed(), &lines, layout);
    let mut all: Vec<Change> = observed
        .transients
        .iter()
        .map(Change::of_transient)
        .collect();
    compared.add_new(&mut all);
    compared.add_restyled(observed, &lines, &mut all);
    compared.add_covered(&mut all);
    compared.add_moved(&mut all);
    let unwrapped = compared.add_removed(&mut all);
    all.sort_by_key(|change| change.place);
    let (mut lines, left) = chosen(all, max_tokens);
    lines.extend(left);
    if unwrapped > 0 {
        lines.push(format!("… {unwrapped} lines moved"));
    }
    lines
}

/// How a line differs, and how useful it is.
struct Change {
    /// 0 is the most useful rank.
    rank: u8,
    place: Position,
    sign: char,
    text: String,
}

/// Where a change is in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Position {
    /// What opened above the rest.
    First,
    Document,
    Moved,
    Covered,
    Removed,
}

impl Transient {
    /// Returns the line of a list of changes.
    pub(crate) fn line(&self) -> String {
        let role = match &*self.role {
            "" => "text",
            role => role,
        };
        let text = serde_json::Value::from(self.text.as_str());
        format!("+ {role} [gone]: {text}")
    }
}

impl Change {
    fn of_transient(transient: &Transient) -> Self {
        Self {
            rank: 0,
            place: Position::First,
            sign: '+',
            text: transient.line(),
        }
    }
}

impl<'a> Side<'a> {
    fn parsed(self) -> Vec<Line<'a>> {
        self.lines.iter(self.text).collect()
    }
}

struct Compared<'a> {
    before: Vec<Entry<'a>>,
    after: Vec<Entry<'a>>,
    layout: Layout,
}

impl<'a> Compared<'a> {
    fn new(before: &[Line<'a>], after: &[Line<'a>], layout: Layout) -> Self {
        let is_same = |(one, other): &(&Line<'a>, &Line<'a>)| one == other;
        let start = before.iter().zip(after).take_while(is_same).count();
        let ends = before[start..]
            .iter()
            .rev()
            .zip(after[start..].iter().rev());
        let end = ends.take_while(is_same).count();
        let mut compared = Self {
            before: entries(before, start..before.len() - end, layout),
            after: entries(after, start..after.len() - end, layout),
            layout,
        };
        compared.pair_by(|entry| entry.identity);
        compared.pair_by(|entry| {
            Some((
                entry.owner.filter(|_| entry.is_text())?,
                entry.mark,
                entry.text.clone(),
            ))
        });
        compared.pair_by(|entry| entry.owner.filter(|_| entry.is_text() && entry.is_own));
        compared.pair_rows();
        compared.pair_rendered_again();
        compared.pair_contents();
        compared
    }

    fn pair(&mut self, before: usize, after: usize) {
        self.before[before].other = Some(after);
        self.after[after].other = Some(before);
    }

    /// Pairs the entries with the same key, in their order.
    fn pair_by<K: Hash + Eq>(&mut self, key: impl Fn(&Entry<'a>) -> Option<K>) {
        let unpaired = |entries: &[Entry<'a>]| -> Vec<(usize, K)> {
            let entries = entries.iter().enumerate();
            let entries = entries.filter(|(_, entry)| entry.other.is_none());
            entries
                .filter_map(|(index, entry)| Some((index, key(entry)?)))
                .collect()
        };
        let mut left: HashMap<K, VecDeque<usize>> = HashMap::new();
        for (index, key) in unpaired(&self.before) {
            left.entry(key).or_default().push_back(index);
        }
        for (index, key) in unpaired(&self.after) {
            if let Some(old) = left.get_mut(&key).and_then(VecDeque::pop_front) {
                self.pair(old, index);
            }
        }
    }

    /// Pairs rows by the elements in them, or by the first cell: the name of a row, and so its ref, depends on all of its cells.
    fn pair_rows(&mut self) {
        let is_row = |entry: &Entry<'a>| entry.other.is_none() && !entry.cells.is_empty();
        let pairs = self.after.iter().filter_map(|entry| {
            let (row, old) = (entry.parent?, self.before[entry.other?].parent?);
            (is_row(&self.after[row]) && is_row(&self.before[old])).then_some((old, row))
        });
        for (old, row) in pairs.collect::<Vec<_>>() {
            if self.before[old].other.is_none() && self.after[row].other.is_none() {
                self.pair(old, row);
            }
        }
        self.pair_by(|entry| {
            (!entry.cells.is_empty()).then(|| (entry.cells.len(), entry.cells[0].clone()))
        });
    }

    /// Pairs what differs only in refs, in the same element: the page has rendered it again.
    fn pair_rendered_again(&mut self) {
        type Key<'k> = (Option<usize>, &'k str, String);
        let mut left: HashMap<Key<'_>, VecDeque<usize>> = HashMap::new();
        for (index, entry) in self.before.iter().enumerate() {
            if entry.other.is_none() {
                let key = (entry.parent, entry.mark, without_refs(&entry.text));
                left.entry(key).or_default().push_back(index);
            }
        }
        for index in 0..self.after.len() {
            let entry = &self.after[index];
            let parent = match entry.parent {
                // What is in a new element is new.
                Some(parent) if self.after[parent].other.is_none() => continue,
                parent => parent.and_then(|parent| self.after[parent].other),
            };
            if entry.other.is_none()
                && let Some(old) = left
                    .get_mut(&(parent, entry.mark, without_refs(&entry.text)))
                    .and_then(VecDeque::pop_front)
            {
                self.pair(old, index);
            }
        }
    }

    /// Pairs a text on the line of its element with the same text on a line of its own.
    fn pair_contents(&mut self) {
        let prefix = match self.layout {
            Layout::Full => "text: ",
            Layout::Compact => "",
        };
        for is_new_side in [true, false] {
            let (texts, others) = match is_new_side {
                true => (&self.after, &self.before),
                false => (&self.before, &self.after),
            };
            let elements: HashMap<Ref<'a>, usize> = others
                .iter()
                .enumerate()
                .filter_map(|(index, entry)| Some((entry.identity?.0, index)))
                .collect();
            let pairs = texts.iter().enumerate().filter_map(|(index, text)| {
                let owner = text
                    .owner
                    .filter(|_| text.is_text() && text.other.is_none())?;
                let element = *elements.get(&owner)?;
                let (one, other) = (&others[element], &texts[others[element].other?]);
                let is_same = one.content() == text.text.strip_prefix(prefix);
                let is_there = is_same && other.content().is_none();
                is_there.then_some((index, element))
            });
            let pairs: Vec<(usize, usize)> = pairs.collect();
            for (text, element) in pairs {
                let (texts, others) = match is_new_side {
                    true => (&mut self.after, &mut self.before),
                    false => (&mut self.before, &mut self.after),
                };
                texts[text].other = Some(element);
                let element = &mut others[element];
                element.text.to_mut().truncate(element.head);
            }
        }
    }

    /// Returns the sign of an entry of the second snapshot, if it differs.
    fn sign(&self, entry: &Entry<'a>) -> Option<char> {
        let Some(old) = entry.other.map(|old| &self.before[old]) else {
            return Some('+');
        };
        // A text that is on a line of its own now.
        let is_content = entry.is_text() && !old.is_text();
        let is_changed = old.text != entry.text || old.mark != entry.mark;
        ((is_changed && !is_content) || entry.gained_focus(old)).then_some('~')
    }

    fn add_new(&self, all: &mut Vec<Change>) {
        let mut ancestors = Ancestors::default();
        for line in self.after.chunk_by(|one, other| one.line == other.line) {
            let signs: Vec<Option<char>> = line.iter().map(|entry| self.new_sign(entry)).collect();
            if let Some(whole) = whole_line(line).filter(|_| signs.iter().all(Option::is_some)) {
                let is_new = signs.iter().all(|sign| *sign == Some('+'));
                let sign = if is_new { '+' } else { '~' };
                let ranks = line.iter().map(|entry| rank(entry, !is_new));
                let place = ancestors.enter(&line[0], Some(sign), ranks.min().unwrap_or_default());
                all.push(place.change(sign, whole, self.layout));
                continue;
            }
            let mut row = String::new();
            for (entry, sign) in line.iter().zip(signs) {
                let old = entry.other.map(|old| &self.before[old]);
                let place = ancestors.enter(entry, sign, rank(entry, sign == Some('~')));
                // The line of a row shows what is new in it.
                let Some(sign) = sign.filter(|_| !row.contains(entry.source)) else {
                    continue;
                };
                let text = shown(entry, old);
                all.push(place.change(sign, &text, self.layout));
                if !entry.cells.is_empty() {
                    row = text;
                }
            }
        }
    }

    /// Returns the sign of an entry of the second snapshot, unless it only says that an element groups others.
    fn new_sign(&self, entry: &Entry<'a>) -> Option<char> {
        self.sign(entry)
            .filter(|_| !self.only_groups(entry, &self.after))
    }

    /// Returns whether an entry only says that an element groups others, which are compared for themselves.
    fn only_groups(&self, entry: &Entry<'a>, entries: &[Entry<'a>]) -> bool {
        let is_known = || entry.other.is_none() && contains_known(entry, entries);
        entry.is_bare_wrapper(self.layout) && (self.layout == Layout::Full || is_known())
    }

    /// Adds which elements are hidden by an overlay since, and which are not any more.
    fn add_covered(&self, all: &mut Vec<Change>) {
        let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut add = |covered: &str, is_covered: bool, entry: &Entry<'a>| {
            let not = if is_covered { "" } else { "not " };
            let list = lists
                .entry(format!("{not}{}", covered.trim_start()))
                .or_default();
            let name = named(&entry.text);
            list.push(match entry.identity {
                Some((reference, _)) if name == "generic" => format!("{name} {reference}"),
                _ => name,
            });
        };
        for entry in &self.after {
            let old = entry.other.map(|old| &*self.before[old].covered);
            match old.unwrap_or_default() {
                old if *old == *entry.covered => {}
                _ if old.is_none() && !self.only_groups(entry, &self.after) => {}
                old if entry.covered.is_empty() => add(old, false, entry),
                _ => add(&entry.covered, true, entry),
            }
        }
        for entry in &self.before {
            if entry.other.is_none()
                && self.only_groups(entry, &self.before)
                && !entry.covered.is_empty()
            {
                add(&entry.covered, false, entry);
            }
        }
        all.extend(lists.into_iter().map(|(state, elements)| Change {
            rank: 1,
            place: Position::Covered,
            sign: '~',
            text: format!("~ {state}: {}", listed(&elements)),
        }));
    }

    /// Adds which elements look different, as far as neither another change of them nor the state that they show is listed.
    fn add_restyled(&self, observed: &Observed, lines: &[Line<'a>], all: &mut Vec<Change>) {
        let of_number = |number: u32| Ref {
            prefix: &observed.prefix,
            number,
        };
        let reference = |restyled: &Restyled| of_number(restyled.reference);
        let is_changed = |wanted: Ref<'_>| {
            let mut entries = self.after.iter();
            let is_own =
                |it: &&Entry<'a>| it.identity == Some((wanted, "")) || it.owner == Some(wanted);
            entries
                .find(is_own)
                .is_some_and(|it| self.sign(it).is_some())
        };
        let is_listed = |restyled: &&Restyled| {
            let mut numbers = restyled.states.iter().chain([&restyled.reference]);
            numbers.any(|number| is_changed(of_number(*number)))
        };
        let others: Vec<&Restyled> = observed
            .restyled
            .iter()
            .filter(|it| !is_listed(it))
            .collect();
        let shown = others.iter().take(MAX_RESTYLED).map(|restyled| {
            let line = styled_line(lines, reference(restyled), self.layout);
            let text = || serde_json::Value::from(restyled.text.as_str());
            line.unwrap_or_else(|| format!("{} [looks different]: {}", restyled.role, text()))
        });
        let mut texts: Vec<String> = shown.collect();
        let more = others.len() - texts.len();
        texts.extend((more > 0).then(|| format!("{more} more elements look different")));
        all.extend(texts.into_iter().map(|text| Change {
            rank: 1,
            place: Position::Document,
            sign: '~',
            text: format!("~ {text}"),
        }));
    }

    /// Adds what is at another place among its siblings, or in another element that was there before, each with the line before or after it.
    fn add_moved(&self, all: &mut Vec<Change>) {
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

    /// Adds what disappeared; returns the number of lines that are somewhere else.
    fn add_removed(&self, all: &mut Vec<Change>) -> usize {
        let mut ancestors = Ancestors::default();
        let mut moved = 0;
        for line in self.before.chunk_by(|one, other| one.line == other.line) {
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
                all.push(Change {
                    rank: place.rank,
                    place: Position::Removed,
                    sign: '-',
                    text: format!("- {text}"),
                });
            }
            moved += usize::from(is_inside);
        }
        moved
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

/// Returns whether an element contains something that is in both snapshots.
fn contains_known(entry: &Entry<'_>, entries: &[Entry<'_>]) -> bool {
    let below = entries.iter().skip_while(|it| !std::ptr::eq(*it, entry));
    let mut inside = below.skip(1).take_while(|it| it.level > entry.level);
    inside.any(|it| it.other.is_some())
}

/// Returns the whole text of a line with these entries, unless it is too long to be shown.
fn whole_line<'a>(entries: &[Entry<'a>]) -> Option<&'a str> {
    let first = entries.first()?;
    (first.whole.chars().count() <= MAX_LINE).then_some(first.whole)
}

/// Returns the line of the element with a ref that looks different; `None` if no line shows the ref.
fn styled_line(lines: &[Line<'_>], wanted: Ref<'_>, layout: Layout) -> Option<String> {
    let (text, at) = match layout {
        Layout::Full => {
            let line = lines.iter().find(|line| line.reference == Some(wanted))?;
            let text = line.text.strip_prefix("- ").unwrap_or(line.text);
            (text, text.find(" [ref=")?)
        }
        Layout::Compact => {
            let shown = wanted.to_string();
            let lines = lines.iter().filter(|line| line.text.contains(&shown));
            let mut parts = lines.flat_map(|line| Parts::of(line).parts);
            let part = parts.find(|part| part.reference == Some(wanted))?;
            let at = part.node.and_then(|node| node.reference)?.start - 1;
            (part.text, at)
        }
    };
    let end = text[at + 1..]
        .find(' ')
        .map_or(text.len(), |end| at + 1 + end);
    let reference = text[at..end].trim_end_matches(':');
    Some(format!(
        "{} [looks different]{reference}",
        named(&text[..at])
    ))
}

fn rank(entry: &Entry<'_>, is_changed: bool) -> u8 {
    match entry.kind {
        LineKind::Element(role) if MESSAGES.contains(&role) || entry.is_active => 0,
        LineKind::Element(role)
            if is_changed || role == "heading" || super::key::CONTROLS.contains(&role) =>
        {
            1
        }
        LineKind::Text if entry.mark.starts_with('#') => 1,
        LineKind::Element(_) | LineKind::Text => 2,
        LineKind::Property => 4,
    }
}

/// The ancestors of the current entry, with what they mean for their content.
#[derive(Default)]
struct Ancestors(Vec<(u32, Inside)>);

/// How the content of an element is listed.
#[derive(Clone, Copy)]
struct Inside {
    /// The number of the nearest ancestors that are listed without a gap.
    indent: usize,
    rank: u8,
    place: Position,
}

impl Ancestors {
    /// Enters an entry that has a sign if it is listed; returns how. What is in a message is as useful as the message.
    fn enter(&mut self, entry: &Entry<'_>, sign: Option<char>, rank: u8) -> Inside {
        while self.0.last().is_some_and(|it| it.0 >= entry.level) {
            self.0.pop();
        }
        let outside = Inside {
            indent: 0,
            rank: u8::MAX,
            place: Position::Document,
        };
        let around = self.0.last().map_or(outside, |it| it.1);
        let is_message = sign.is_some() && MESSAGES.contains(&entry.role());
        let is_opened = is_message || POPUPS.contains(&entry.role());
        let place = match sign {
            Some('+') if is_opened => Position::First,
            _ => around.place,
        };
        let inside = Inside {
            indent: match sign {
                Some(_) => around.indent + 1,
                // An element that only groups others is not listed.
                None if entry.other.is_none() => around.indent,
                None => 0,
            },
            rank: if is_message { 0 } else { around.rank },
            place,
        };
        self.0.push((entry.level, inside));
        Inside {
            indent: around.indent,
            rank: rank.min(around.rank),
            place,
        }
    }
}

impl Inside {
    fn change(self, sign: char, text: &str, layout: Layout) -> Change {
        let indent = layout.indent().repeat(self.indent);
        Change {
            rank: self.rank,
            place: self.place,
            sign,
            text: format!("{sign} {indent}{text}"),
        }
    }
}

/// Joins the names of elements, at most the first ones.
fn listed(elements: &[String]) -> String {
    let shown = &elements[..elements.len().min(MAX_LISTED)];
    let mut text = shown.join(", ");
    if shown.len() < elements.len() {
        text.push_str(&format!(" and {} more", elements.len() - shown.len()));
    }
    text
}

/// Returns the most useful lines that the limit permits, in their order, and a line that counts the others.
fn chosen(all: Vec<Change>, max_tokens: Option<usize>) -> (Vec<String>, Option<String>) {
    let mut room = max_tokens.map_or(usize::MAX, |most| most.saturating_sub(TOKENS_OF_COUNTS));
    let mut by_rank: Vec<usize> = (0..all.len()).collect();
    by_rank.sort_by_key(|index| all[*index].rank);
    let mut is_shown = vec![false; all.len()];
    for index in by_rank {
        // The line break is a part of the last token, or a token.
        let tokens = estimate_tokens(&all[index].text) + 1;
        if tokens <= room {
            room -= tokens;
            is_shown[index] = true;
        }
        if room < MIN_LINE_TOKENS {
            break;
        }
    }
    let mut lines = Vec::new();
    let mut left: BTreeMap<char, usize> = BTreeMap::new();
    for (change, is_shown) in all.into_iter().zip(is_shown) {
        match is_shown {
            true => lines.push(change.text),
            false if change.sign == UNMOVED => {}
            false => *left.entry(change.sign).or_default() += 1,
        }
    }
    let counts: Vec<String> = left
        .iter()
        .map(|(sign, count)| format!("{count} {sign}"))
        .collect();
    let sum: usize = left.values().sum();
    let line = format!("… and {sum} more lines ({})", counts.join(", "));
    (lines, (sum > 0).then_some(line))
}
