//! The difference between two snapshots of one document: what appeared, disappeared or changed, by refs.

mod ancestors;
mod entry;
mod moved;
mod part;
mod removed;
mod shown;

use super::facts::Layout;
use super::key::CONTROLS;
use super::line::{Line, LineKind, Lines, Ref};
use crate::tokens::estimate_tokens;
use ancestors::Ancestors;
use entry::{Entry, entries, without_refs};
use part::Parts;
use serde::Deserialize;
use shown::{MAX_LINE, named, shown};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;

/// The tokens for the lines at the end that count other lines.
const TOKENS_OF_COUNTS: usize = 36;
/// The tokens of a very short line.
const MIN_LINE_TOKENS: usize = 4;
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
/// Roles of controls in which each part does the same.
const ATOMIC: &[&str] = &["button", "checkbox", "link", "radio", "switch"];

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
    let unwrapped = compared.add_removed(&lines, max_tokens.is_some(), &mut all);
    all.sort_by_key(|change| change.place);
    let (mut shown, left) = chosen(all, max_tokens);
    shown.extend(compared.count_of(&left));
    if unwrapped > 0 {
        shown.push(format!("… {unwrapped} lines moved"));
    }
    shown
}

/// How a line differs, and how useful it is.
struct Change {
    /// 0 is the most useful rank.
    rank: u8,
    place: Position,
    sign: char,
    text: String,
    /// Whether only the next line, which is inside, says what it is.
    is_bare: bool,
    /// The entry of the second snapshot.
    entry: Option<usize>,
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
            is_bare: false,
            entry: None,
        }
    }
}

impl<'a> Side<'a> {
    fn parsed(self) -> Vec<Line<'a>> {
        self.lines.iter(self.text).collect()
    }
}

struct Compared<'a> {
    /// The number of lines before the first difference.
    start: usize,
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
            start,
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
        let is_changed = (old.text != entry.text && !self.is_part_of_control(entry, old))
            || old.mark != entry.mark;
        ((is_changed && !is_content) || entry.gained_focus(old)).then_some('~')
    }

    /// Returns whether an element that has only another ref now is a nameless part of a control, such as its icon.
    fn is_part_of_control(&self, entry: &Entry<'a>, old: &Entry<'a>) -> bool {
        let is_nameless =
            |it: &Entry<'a>| it.role() == "generic" && without_refs(&it.text).trim() == "generic";
        let parent = entry.parent.map(|parent| &self.after[parent]);
        is_nameless(entry)
            && is_nameless(old)
            && parent.is_some_and(|it| it.identity.is_some() && ATOMIC.contains(&it.role()))
    }

    fn add_new(&self, all: &mut Vec<Change>) {
        let mut ancestors = Ancestors::default();
        let mut next = 0;
        for line in self.after.chunk_by(|one, other| one.line == other.line) {
            let first = next;
            next += line.len();
            let signs: Vec<Option<char>> = line.iter().map(|entry| self.new_sign(entry)).collect();
            if let Some(whole) = whole_line(line).filter(|_| signs.iter().all(Option::is_some)) {
                let is_new = signs.iter().all(|sign| *sign == Some('+'));
                let sign = if is_new { '+' } else { '~' };
                let title = self.is_title(first).then_some(1);
                let ranks = line.iter().map(|entry| rank(entry, !is_new)).chain(title);
                let place = ancestors.enter(&line[0], Some(sign), ranks.min().unwrap_or_default());
                let is_bare = is_new && line.len() == 1 && self.is_named_below(first, next);
                all.push(Change {
                    is_bare,
                    ..place.change(sign, whole, first, self.layout)
                });
                continue;
            }
            let mut row = String::new();
            for ((index, entry), sign) in (first..).zip(line).zip(signs) {
                let old = entry.other.map(|old| &self.before[old]);
                let place = ancestors.enter(entry, sign, rank(entry, sign == Some('~')));
                // The line of a row shows what is new in it.
                let is_in_row = || match sign {
                    Some('+') if !row.is_empty() => row.contains(&named(entry.source)),
                    _ => row.contains(entry.source),
                };
                let Some(sign) = sign.filter(|_| !is_in_row()) else {
                    continue;
                };
                let text = shown(entry, old);
                all.push(place.change(sign, &text, index, self.layout));
                if !entry.cells.is_empty() {
                    row = text;
                }
            }
        }
    }

    /// Returns whether an entry is the first one in a new element, and so says what that is, such as the caption of a table.
    fn is_title(&self, index: usize) -> bool {
        let entry = &self.after[index];
        let parent = entry.parent.map(|parent| &self.after[parent]);
        let is_first = entry.parent == index.checked_sub(1);
        let is_new = parent.is_some_and(|it| it.other.is_none());
        is_first && is_new && entry.kind != LineKind::Property && has_text(entry)
    }

    /// Returns whether an entry is a control whose name is in what follows it.
    fn is_named_below(&self, index: usize, next: usize) -> bool {
        let entry = &self.after[index];
        let node = part::node(entry.source);
        CONTROLS.contains(&entry.role())
            && entry.content().is_none()
            && node.is_some_and(|it| it.name.is_none() && it.options.is_none())
            && self.after.get(next).is_some_and(|it| {
                let is_inside = it.parent == Some(index) && it.kind != LineKind::Property;
                is_inside && self.new_sign(it).is_some()
            })
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
            is_bare: false,
            entry: None,
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
            is_bare: false,
            entry: None,
        }));
    }

    /// Returns the line that counts the changes that are left out. Their common ancestor is the target of a snapshot that has them.
    fn count_of(&self, left: &[Change]) -> Option<String> {
        let mut counts: BTreeMap<char, usize> = BTreeMap::new();
        for change in left {
            *counts.entry(change.sign).or_default() += 1;
        }
        let sum: usize = counts.values().sum();
        let counts: Vec<String> = counts
            .iter()
            .map(|(sign, count)| format!("{count} {sign}"))
            .collect();
        let target = self
            .around(left)
            .map_or_else(String::new, |it| format!(" [ref={it}]"));
        (sum > 0).then(|| format!("… and {sum} more lines ({}){target}", counts.join(", ")))
    }

    /// Returns the ref of the innermost element that contains all of these changes, as far as they are in the second snapshot.
    fn around(&self, changes: &[Change]) -> Option<Ref<'a>> {
        let chain = |entry: usize| {
            let mut at = Some(&self.after[entry]);
            let mut refs = Vec::new();
            while let Some(entry) = at {
                at = entry.parent.map(|parent| &self.after[parent]);
                match at {
                    Some(parent) => refs.extend(parent.identity.map(|it| it.0)),
                    None => refs.extend(&entry.around),
                }
            }
            refs
        };
        // What disappeared is nowhere.
        let left = changes.iter().filter(|it| it.sign != '-');
        if left.clone().any(|it| it.entry.is_none()) {
            return None;
        }
        let mut chains = left.filter_map(|it| it.entry).map(chain);
        let mut common = chains.next()?;
        for chain in chains {
            common.retain(|it| chain.contains(it));
        }
        common.first().copied()
    }
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

/// Returns whether an entry shows more than the borders of cells.
fn has_text(entry: &Entry<'_>) -> bool {
    !entry.text.trim_matches(['|', ' ']).is_empty()
}

fn rank(entry: &Entry<'_>, is_changed: bool) -> u8 {
    match entry.kind {
        _ if !has_text(entry) => 4,
        LineKind::Element(role) if MESSAGES.contains(&role) || entry.is_active => 0,
        LineKind::Element(role) if is_changed || role == "heading" || CONTROLS.contains(&role) => 1,
        LineKind::Text if entry.mark.starts_with('#') => 1,
        LineKind::Element(_) | LineKind::Text => 2,
        LineKind::Property => 4,
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

/// Returns the most useful lines that the limit permits, in their order, and the other changes.
fn chosen(all: Vec<Change>, max_tokens: Option<usize>) -> (Vec<String>, Vec<Change>) {
    let mut room = max_tokens.map_or(usize::MAX, |most| most.saturating_sub(TOKENS_OF_COUNTS));
    let mut by_rank: Vec<usize> = (0..all.len()).collect();
    by_rank.sort_by_key(|index| all[*index].rank);
    let mut is_shown = vec![false; all.len()];
    for index in by_rank {
        // The line break is a part of the last token, or a token.
        let tokens = |index: &usize| estimate_tokens(&all[*index].text) + 1;
        let name = Some(index + 1).filter(|next| all[index].is_bare && *next < all.len());
        let together = [Some(index), name].into_iter().flatten();
        let together: Vec<usize> = together.filter(|index| !is_shown[*index]).collect();
        let alone = &together[..together.len().min(1)];
        let fits = |lines: &&[usize]| lines.iter().map(tokens).sum::<usize>() <= room;
        if let Some(lines) = [&together[..], alone].into_iter().find(fits) {
            room -= lines.iter().map(tokens).sum::<usize>();
            for index in lines {
                is_shown[*index] = true;
            }
        }
        if room < MIN_LINE_TOKENS {
            break;
        }
    }
    let (mut lines, mut left) = (Vec::new(), Vec::new());
    for (change, is_shown) in all.into_iter().zip(is_shown) {
        match is_shown {
            true => lines.push(change.text),
            false if change.sign == UNMOVED => {}
            false => left.push(change),
        }
    }
    (lines, left)
}
