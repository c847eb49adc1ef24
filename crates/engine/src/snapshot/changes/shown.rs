//! How an entry is shown in a list of changes: what changed with its beginning, without what did not.

use super::entry::{ELSEWHERE, Entry};
use super::part::{self, quoted_length};

/// The longest line, in characters.
pub(super) const MAX_LINE: usize = 300;
/// The longest line that shows what did not change, in characters.
const MAX_UNCHANGED: usize = 120;
/// The longest name in a shortened line, and the longest part of a text that did not change, in characters.
const MAX_NAME: usize = 100;
const MAX_BEFORE: usize = 30;
/// The longest list of options of a new element, in characters.
const MAX_OPTIONS: usize = 60;
/// What is left out.
const LEFT_OUT: &str = "…";

/// Returns the line of an entry that is new, or that differs from an old one.
pub(super) fn shown(entry: &Entry<'_>, old: Option<&Entry<'_>>) -> String {
    if !entry.cells.is_empty() {
        return row(entry, old);
    }
    let source = entry.source;
    let most = match old {
        Some(_) => MAX_UNCHANGED,
        None => MAX_LINE,
    };
    let is_short = source.chars().count() <= most;
    let mark = match entry.is_text() || old.is_some_and(|old| old.mark != entry.mark) {
        true => entry.mark,
        false => "",
    };
    let text = match part::node(source).filter(|_| !entry.is_text()) {
        _ if is_short => source.to_owned(),
        Some(node) => shortened_node(source, &node, entry, old),
        None => difference(source, old.map(|old| old.source)),
    };
    format!("{mark}{text}")
}

/// Returns a line that is shown only to name an element, shortened.
pub(super) fn named(text: &str) -> String {
    match part::node(text) {
        Some(node) => {
            let mut short = without_long_name(&text[..node.end], &node);
            if let Some(options) = &node.options {
                short.truncate(short.len() - options.len() - 1);
            }
            short
        }
        None => cut(text, MAX_NAME),
    }
}

fn shortened_node(
    source: &str,
    node: &part::Node,
    entry: &Entry<'_>,
    old: Option<&Entry<'_>>,
) -> String {
    let mut head = without_long_name(&source[..node.end], node);
    let old_node = old.and_then(|old| Some((old, part::node(old.source)?)));
    if let Some(range) = &node.options {
        head.truncate(head.len() - range.len());
        let before = old_node.and_then(|(old, node)| Some(&old.source[node.options?]));
        head.push_str(&options(&source[range.clone()], before));
    }
    match entry.content() {
        Some(content) => {
            let before = old.and_then(Entry::content);
            let content = match before == Some(content) {
                true => cut(content, MAX_NAME),
                false => difference(content, before),
            };
            format!("{head}: {content}")
        }
        None => head,
    }
}

fn without_long_name(text: &str, node: &part::Node) -> String {
    match &node.name {
        Some(name) if name.len() > MAX_NAME => {
            let short = cut(&text[name.clone()], MAX_NAME);
            format!("{}{short}{}", &text[..name.start], &text[name.end..])
        }
        _ => text.to_owned(),
    }
}

/// Returns the nodes of a cell, whose options are shortened.
fn with_short_options(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell;
    while !rest.is_empty() {
        let node = part::node(rest).filter(|node| node.options.is_some());
        let end = match node.and_then(|node| node.options) {
            Some(range) => {
                text.push_str(&rest[..range.start]);
                text.push_str(&options(&rest[range.clone()], None));
                range.end
            }
            None => {
                let end = rest.find(' ').map_or(rest.len(), |blank| blank + 1);
                text.push_str(&rest[..end]);
                end
            }
        };
        rest = &rest[end..];
    }
    text
}

/// Returns the options that differ from those before, with a mark for those that do not.
fn options(text: &str, before: Option<&str>) -> String {
    let most = if before.is_some() {
        MAX_LINE
    } else {
        MAX_OPTIONS
    };
    let before = before.map(part::options).unwrap_or_default();
    let mut shown: Vec<&str> = Vec::new();
    let mut length = 0;
    for option in part::options(text) {
        let is_shown = !before.contains(&option) && length <= most;
        match (is_shown, shown.last()) {
            (true, _) => {
                length += option.len() + 3;
                shown.push(option);
            }
            (false, Some(&LEFT_OUT)) => {}
            (false, _) => shown.push(LEFT_OUT),
        }
    }
    format!("({})", shown.join(" | "))
}

/// Returns a row with the cells that differ, and the others as far as it is short.
fn row(entry: &Entry<'_>, old: Option<&Entry<'_>>) -> String {
    let old = old.filter(|old| old.cells.len() == entry.cells.len());
    let texts = |entry: &Entry<'_>| -> Vec<String> {
        let cells = entry.text[entry.head..]
            .strip_prefix("| ")
            .unwrap_or_default();
        cells.split(" | ").map(str::to_owned).collect()
    };
    let compared = old.map(|old| (texts(entry), texts(old)));
    let is_same = |index: usize| {
        let Some((new, old)) = &compared else {
            return false;
        };
        new.len() == entry.cells.len() && new.get(index) == old.get(index)
    };
    let is_long = entry.cells.iter().map(String::len).sum::<usize>() > MAX_UNCHANGED;
    let most = (MAX_LINE / entry.cells.len()).max(MAX_BEFORE);
    let cells = entry.cells.iter().enumerate().map(|(index, cell)| {
        let has_elements = compared
            .as_ref()
            .is_some_and(|(new, _)| new.get(index).is_some_and(|it| it.contains(ELSEWHERE)));
        match is_same(index) {
            true if has_elements || (is_long && index > 0) => LEFT_OUT.to_owned(),
            true => cut(cell, MAX_BEFORE),
            false if !is_long => cell.clone(),
            false => {
                let before = old.map(|old| &*old.cells[index]);
                let short = with_short_options(cell);
                match part::node(cell) {
                    None if short == *cell => cut(&difference(cell, before), most.max(MAX_NAME)),
                    _ => cut(&short, MAX_LINE),
                }
            }
        }
    });
    let cells: Vec<String> = cells.collect();
    format!("{}| {}", &entry.text[..entry.head], cells.join(" | "))
}

/// Returns the part of a text that differs from the text before, after the beginning.
fn difference(text: &str, before: Option<&str>) -> String {
    let before = before.unwrap_or_default();
    if quoted_length(text) == Some(text.len()) {
        let inside = &text[1..text.len() - 1];
        let before = before.strip_prefix('"').unwrap_or(before);
        let before = before.strip_suffix('"').unwrap_or(before);
        return format!("\"{}\"", difference_inside(inside, before));
    }
    difference_inside(text, before)
}

fn difference_inside(text: &str, before: &str) -> String {
    let pairs = text.char_indices().zip(before.chars());
    let same = pairs.take_while(|((_, one), other)| one == other);
    let same = same.last().map_or(0, |((at, c), _)| at + c.len_utf8());
    let start = text[..same].char_indices().rev().nth(MAX_BEFORE);
    let start = start.map_or(0, |(at, _)| word_end(text, at));
    let pairs = text[same..].chars().rev().zip(before.chars().rev());
    let end: usize = pairs
        .take_while(|(one, other)| one == other)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let end = text.len() - end;
    let end = text[end..]
        .char_indices()
        .nth(MAX_BEFORE)
        .map_or(text.len(), |(at, _)| end + at);
    if start <= MAX_BEFORE * 2 {
        return cut_to(text, 0, end);
    }
    let beginning = text.char_indices().nth(MAX_BEFORE).map_or(0, |(at, _)| at);
    format!("{} {}", cut(text, beginning), cut_to(text, start, end))
}

/// Returns the end of the word at a place.
fn word_end(text: &str, at: usize) -> usize {
    text[at..].find(' ').map_or(at, |blank| at + blank + 1)
}

fn cut_to(text: &str, start: usize, end: usize) -> String {
    let part = cut(&text[start..end], MAX_LINE);
    match end < text.len() && !part.ends_with(LEFT_OUT) {
        true => format!("{part}{LEFT_OUT}"),
        false => part,
    }
}

/// Returns the first characters of a text; a text in quotes stays in quotes.
pub(super) fn cut(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.to_owned();
    };
    // An escape is left out as a whole.
    let short = text[..end].trim_end_matches('\\');
    let quote = match quoted_length(text) == Some(text.len()) {
        true => "\"",
        false => "",
    };
    format!("{short}{LEFT_OUT}{quote}")
}
