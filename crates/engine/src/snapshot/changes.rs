//! The difference between two snapshots of one document: what appeared, disappeared or changed, by refs.

use super::facts::Layout;
use super::line::{Line, LineKind, Lines, Ref};
use crate::tokens::estimate_tokens;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// The state of the focused element. Losing the focus is no change.
const ACTIVE: &str = " [active]";
/// The longest line of a difference with a limit, in characters.
const MAX_LINE_LENGTH: usize = 300;
/// The tokens for the lines at the end that count other lines.
const TOKENS_OF_COUNTS: usize = 24;

/// What stands before and after refs in compact snapshots.
const SEPARATORS: [char; 5] = [' ', '(', ')', '|', ':'];
/// The tokens of a very short line.
const MIN_LINE_TOKENS: usize = 4;

/// Roles of what a page says to its user.
const MESSAGES: &[&str] = &["alert", "alertdialog", "dialog", "log", "status"];

/// A text that was shown after the previous snapshot and was gone before the next one, such as a toast.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Transient {
    /// The role of its live region; empty if it was in none.
    pub(crate) role: String,
    /// What was seen of it, with collapsed white space.
    pub(crate) text: String,
}

/// A rendered snapshot.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) text: &'a str,
    pub(crate) lines: &'a Lines,
}

/// Returns what appeared (`+`), disappeared (`-`) or changed (`~`) from one snapshot to the next, which have the same layout, in the order
/// of the document. With a limit, the most useful lines have at most `max_tokens` together, and the last line counts the others.
pub(crate) fn changes(
    before: Side<'_>,
    after: Side<'_>,
    transients: &[Transient],
    layout: Layout,
    max_tokens: Option<usize>,
) -> Vec<String> {
    let mut all: Vec<Change> = transients.iter().map(Change::of_transient).collect();
    let compared = Compared::new(&before.parsed(), &after.parsed(), layout);
    let moved = compared.moved();
    compared.add_new(&mut all);
    compared.add_removed(&mut all);
    let (mut lines, left) = chosen(all, max_tokens);
    if left > 0 {
        lines.push(format!("… and {left} more lines"));
    }
    if moved > 0 {
        lines.push(format!("… {moved} lines moved"));
    }
    lines
}

/// How a line differs, and how useful it is.
struct Change {
    /// 0 is the most useful rank.
    rank: u8,
    text: String,
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
            text: transient.line(),
        }
    }
}

impl<'a> Side<'a> {
    fn parsed(self) -> Vec<Line<'a>> {
        self.lines.iter(self.text).collect()
    }
}

/// What makes a line the same one in both snapshots: the ref of its element, the name of a property, and which one of several it is.
type Identity<'a> = (Ref<'a>, &'a str, usize);

/// A line of the part of a snapshot that differs.
struct Entry<'a> {
    line: Line<'a>,
    /// The text without the focus and the punctuation of the layout.
    text: Cow<'a, str>,
    is_active: bool,
    /// The line of the other snapshot that is the same one.
    other: Option<usize>,
}

struct Compared<'a> {
    before: Vec<Entry<'a>>,
    after: Vec<Entry<'a>>,
    layout: Layout,
}

impl<'a> Compared<'a> {
    fn new(before: &[Line<'a>], after: &[Line<'a>], layout: Layout) -> Self {
        let pairs = before.iter().zip(after);
        let start = pairs.take_while(|(one, other)| one == other).count();
        let pairs = before[start..]
            .iter()
            .rev()
            .zip(after[start..].iter().rev());
        let end = pairs.take_while(|(one, other)| one == other).count();
        let entries = |lines: &[Line<'a>]| {
            let lines = &lines[start..lines.len() - end];
            lines.iter().map(|line| Entry::new(*line, layout)).collect()
        };
        let mut compared = Self {
            before: entries(before),
            after: entries(after),
            layout,
        };
        let mut known = identities(&before[..start], &compared.before);
        let old: HashMap<_, _> = (0..).zip(&known).filter_map(by_identity).collect();
        known = identities(&after[..start], &compared.after);
        for (index, identity) in known.into_iter().enumerate() {
            if let Some(&old) = identity.and_then(|it| old.get(&it)) {
                compared.pair(old, index);
            }
        }
        compared.pair_equal_texts();
        if layout == Layout::Compact {
            compared.pair_shown_refs();
        }
        compared.pair_rendered_again();
        compared
    }

    fn pair(&mut self, before: usize, after: usize) {
        self.before[before].other = Some(after);
        self.after[after].other = Some(before);
    }

    /// Pairs lines that have no ref, or whose refs are not shown, by their texts.
    fn pair_equal_texts(&mut self) {
        self.pair_by(|text| Cow::Borrowed(text));
    }

    /// Pairs lines that differ only in their refs: the page has rendered them again with other elements.
    fn pair_rendered_again(&mut self) {
        self.pair_by(|text| Cow::Owned(without_refs(text)));
    }

    fn pair_by(&mut self, key: impl Fn(&str) -> Cow<'_, str>) {
        let mut left: HashMap<Cow<'_, str>, Vec<usize>> = HashMap::new();
        for (index, entry) in self.before.iter().enumerate().rev() {
            if entry.other.is_none() {
                left.entry(key(&entry.text)).or_default().push(index);
            }
        }
        let new = self.after.iter().enumerate();
        let pairs = new.filter(|(_, entry)| entry.other.is_none());
        let pairs = pairs.filter_map(|(index, entry)| {
            let old = left.get_mut(&key(&entry.text))?.pop()?;
            Some((old, index))
        });
        for (old, index) in pairs.collect::<Vec<_>>() {
            self.pair(old, index);
        }
    }

    /// Pairs lines by the refs in their texts: a control can be on the line of a text now, or on a line of its own.
    fn pair_shown_refs(&mut self) {
        let mut shown: HashMap<&str, usize> = HashMap::new();
        for (index, entry) in self.after.iter().enumerate() {
            shown.extend(refs_in(&entry.text).map(|reference| (reference, index)));
        }
        let old = self.before.iter().enumerate();
        let old = old.filter(|(_, entry)| entry.other.is_none());
        let pairs = old.filter_map(|(old, entry)| {
            let new = refs_in(&entry.text).find_map(|reference| shown.get(reference))?;
            Some((old, *new))
        });
        for (old, new) in pairs.collect::<Vec<_>>() {
            self.before[old].other = Some(new);
            self.after[new].other.get_or_insert(old);
        }
    }

    /// Returns the number of lines whose order changed.
    fn moved(&self) -> usize {
        let olds: Vec<usize> = self.after.iter().filter_map(|entry| entry.other).collect();
        // The ends of the shortest increasing sequences of each length.
        let mut ends: Vec<usize> = Vec::new();
        for &old in &olds {
            match ends.partition_point(|end| *end < old) {
                at if at == ends.len() => ends.push(old),
                at => ends[at] = old,
            }
        }
        olds.len() - ends.len()
    }

    fn add_new(&self, all: &mut Vec<Change>) {
        let mut ancestors = Ancestors::default();
        for entry in &self.after {
            let sign = match entry.other.map(|old| &self.before[old]) {
                None => Some('+'),
                Some(old) if old.text != entry.text || entry.gained_focus(old) => Some('~'),
                Some(_) => None,
            };
            let sign = sign.filter(|_| !entry.is_bare_wrapper());
            let rank = entry.rank(sign == Some('~'));
            let (indent, rank) = ancestors.enter(entry, sign.is_some(), rank);
            let Some(sign) = sign else { continue };
            let text = match entry.is_active {
                true => body(entry.line.text, self.layout),
                false => &entry.text,
            };
            let indent = self.layout.indent().repeat(indent);
            all.push(Change {
                rank,
                text: format!("{sign} {indent}{text}"),
            });
        }
    }

    fn add_removed(&self, all: &mut Vec<Change>) {
        let mut ancestors = Ancestors::default();
        for entry in &self.before {
            let is_removed = entry.other.is_none() && !entry.is_bare_wrapper();
            let is_message = MESSAGES.contains(&entry.role());
            let rank = if is_message { 1 } else { 3 };
            let (depth, rank) = ancestors.enter(entry, is_removed, rank);
            // The content of a removed element is removed with it.
            if is_removed && depth == 0 {
                all.push(Change {
                    rank,
                    text: format!("- {}", entry.text),
                });
            }
        }
    }
}

fn by_identity<'a>(
    (index, identity): (usize, &Option<Identity<'a>>),
) -> Option<(Identity<'a>, usize)> {
    Some(((*identity)?, index))
}

/// Returns the identity of each line that has one. A property belongs to the element above it.
fn identities<'a>(above: &[Line<'a>], entries: &[Entry<'a>]) -> Vec<Option<Identity<'a>>> {
    let is_element = |line: &&Line<'a>| matches!(line.kind, LineKind::Element(_));
    let above = above.iter().rev().find(is_element);
    let mut element = above.and_then(|line| line.reference);
    let mut counts: HashMap<(Ref<'a>, &'a str), usize> = HashMap::new();
    let identities = entries.iter().map(|Entry { line, .. }| {
        let (reference, name) = match line.kind {
            LineKind::Element(_) => {
                element = line.reference;
                (element?, "")
            }
            LineKind::Text => (line.reference?, "text"),
            LineKind::Property => (element?, line.text.split(": ").next().unwrap_or_default()),
        };
        let count = counts.entry((reference, name)).or_default();
        *count += 1;
        Some((reference, name, *count))
    });
    identities.collect()
}

impl<'a> Entry<'a> {
    fn new(line: Line<'a>, layout: Layout) -> Self {
        let (text, is_active) = without_focus(body(line.text, layout));
        Self {
            line,
            text,
            is_active,
            other: None,
        }
    }

    fn role(&self) -> &'a str {
        match self.line.kind {
            LineKind::Element(role) => role,
            LineKind::Text | LineKind::Property => "",
        }
    }

    /// Returns whether the line says nothing but that there is an element that groups others.
    fn is_bare_wrapper(&self) -> bool {
        let reference = self.line.reference.filter(|_| self.role() == "generic");
        reference.is_some_and(|it| *self.text == format!("generic [ref={it}]"))
    }

    /// Returns whether the element has the focus since. A frame has it together with an element in it.
    fn gained_focus(&self, before: &Self) -> bool {
        self.is_active && !before.is_active && self.role() != "iframe"
    }

    fn rank(&self, is_changed: bool) -> u8 {
        match self.line.kind {
            LineKind::Element(role) if MESSAGES.contains(&role) || self.is_active => 0,
            LineKind::Element(role)
                if is_changed || role == "heading" || super::key::CONTROLS.contains(&role) =>
            {
                1
            }
            LineKind::Element(_) | LineKind::Text => 2,
            LineKind::Property => 4,
        }
    }
}

/// The ancestors of the current line: their levels, how many shown ones directly contain what is in them, and the rank of their content.
#[derive(Default)]
struct Ancestors(Vec<(u32, usize, u8)>);

impl Ancestors {
    /// Enters a line; returns how many of its nearest ancestors are shown without a gap, and the rank of the line among them: what is in a
    /// message is as useful as the message.
    fn enter(&mut self, entry: &Entry<'_>, is_shown: bool, rank: u8) -> (usize, u8) {
        while self.0.last().is_some_and(|it| it.0 >= entry.line.level) {
            self.0.pop();
        }
        let (indent, around) = self.0.last().map_or((0, u8::MAX), |it| (it.1, it.2));
        let is_message = is_shown && MESSAGES.contains(&entry.role());
        let inside = if is_message { 0 } else { around };
        let depth = if is_shown { indent + 1 } else { 0 };
        self.0.push((entry.line.level, depth, inside));
        (indent, rank.min(around))
    }
}

/// Returns the text of a line without the punctuation of the full layout.
fn body(text: &str, layout: Layout) -> &str {
    match layout {
        Layout::Full => {
            let text = text.strip_prefix("- ").unwrap_or(text);
            text.strip_suffix(':').unwrap_or(text)
        }
        Layout::Compact => text,
    }
}

/// Returns the text without the state of the focus, and whether it was there. In a name or a quoted text, it is none.
fn without_focus(text: &str) -> (Cow<'_, str>, bool) {
    if !text.contains(ACTIVE) {
        return (text.into(), false);
    }
    let found = unquoted(text).find_map(|part| {
        let at = part.start + text[part].find(ACTIVE)?;
        Some(format!("{}{}", &text[..at], &text[at + ACTIVE.len()..]))
    });
    match found {
        Some(without) => (without.into(), true),
        None => (text.into(), false),
    }
}

/// Returns the parts of a line that are outside of quotes.
fn unquoted(text: &str) -> impl Iterator<Item = Range<usize>> {
    let (mut is_outside, mut is_escaped) = (false, false);
    let quotes = text.char_indices().filter(move |(_, char)| {
        let is_quote = *char == '"' && !is_escaped;
        is_escaped = *char == '\\' && !is_escaped;
        is_quote
    });
    let ends = quotes.map(|(at, _)| at).chain([text.len()]);
    let mut start = 0;
    ends.filter_map(move |end| {
        let part = start..end;
        start = (end + 1).min(text.len());
        is_outside = !is_outside;
        is_outside.then_some(part)
    })
}

/// Returns the refs that a line of a compact snapshot shows: outside of quotes, such a word is nothing else.
fn refs_in(text: &str) -> impl Iterator<Item = &str> {
    let words = unquoted(text).flat_map(|part| text[part].split(SEPARATORS));
    words.filter(|word| is_reference(word))
}

/// Returns a text without the refs that it shows.
fn without_refs(text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut end = 0;
    for part in unquoted(text) {
        rest.push_str(&text[end..part.start]);
        end = part.end;
        let words = text[part].split_inclusive(SEPARATORS);
        rest.extend(words.filter(|word| {
            !word.starts_with("[ref=") && !is_reference(word.trim_end_matches(SEPARATORS))
        }));
    }
    rest
}

fn is_reference(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let Some((frame, number)) = word.rsplit_once('e') else {
        return false;
    };
    let frame = frame.strip_prefix('f').map_or(frame.is_empty(), is_number);
    frame && is_number(number)
}

/// Returns the most useful lines that the limit permits, in their order, and the number of the others.
fn chosen(all: Vec<Change>, max_tokens: Option<usize>) -> (Vec<String>, usize) {
    let Some(max_tokens) = max_tokens else {
        return (all.into_iter().map(|change| change.text).collect(), 0);
    };
    let mut room = max_tokens.saturating_sub(TOKENS_OF_COUNTS);
    let mut by_rank: Vec<usize> = (0..all.len()).collect();
    by_rank.sort_by_key(|index| all[*index].rank);
    let mut shown: Vec<Option<String>> = all.iter().map(|_| None).collect();
    for index in by_rank {
        let text = shortened(&all[index].text);
        // The line break is a part of the last token, or a token.
        let tokens = estimate_tokens(&text) + 1;
        if tokens <= room {
            room -= tokens;
            shown[index] = Some(text);
        }
        if room < MIN_LINE_TOKENS {
            break;
        }
    }
    let lines: Vec<String> = shown.into_iter().flatten().collect();
    let left = all.len() - lines.len();
    (lines, left)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_LINE_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
