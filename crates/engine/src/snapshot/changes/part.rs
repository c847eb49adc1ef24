//! The parts of a line of a compact snapshot: the nodes and texts that share it.

use super::super::compact::ROLES;
use super::super::line::{Line, LineKind, Ref};
use std::ops::Range;

/// A node or a text of a line.
#[derive(Debug, Clone)]
pub(super) struct Part<'a> {
    /// As the line has it. That of a node includes its own quoted text, except for the head of a line.
    pub(super) text: &'a str,
    /// Where it begins in the line.
    pub(super) start: usize,
    pub(super) reference: Option<Ref<'a>>,
    pub(super) node: Option<Node>,
    /// The cell of the row that contains it.
    pub(super) cell: usize,
}

/// The parts of the text of a node, as ranges of bytes.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) role: Range<usize>,
    /// The name with its quotes.
    pub(super) name: Option<Range<usize>>,
    pub(super) reference: Option<Range<usize>>,
    /// The options of a select with their parentheses.
    pub(super) options: Option<Range<usize>>,
    pub(super) end: usize,
}

/// A line, divided.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    /// What makes the line a heading or a list item, with the blank after it.
    pub(super) mark: &'a str,
    pub(super) parts: Vec<Part<'a>>,
    /// Whether the other parts are the content of the first one.
    pub(super) has_head: bool,
    /// The number of cells, if the parts are those of a row.
    pub(super) cells: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn of(line: &Line<'a>) -> Self {
        let mark = match line.kind {
            LineKind::Element("heading") if line.text.starts_with('#') => mark_of(line.text, '#'),
            LineKind::Element("listitem") if line.text.starts_with('-') => mark_of(line.text, '-'),
            _ => "",
        };
        let mut scanner = Scanner {
            text: line.text,
            at: mark.len(),
            parts: Vec::new(),
            cell: 0,
        };
        if line.kind == LineKind::Text {
            scanner.push(line.text.len(), None, None);
        }
        let has_head = scanner.head();
        scanner.rest();
        Self {
            mark,
            cells: scanner.cell,
            parts: scanner.parts,
            has_head,
        }
    }
}

fn mark_of(text: &str, mark: char) -> &str {
    let rest = text.trim_start_matches(mark);
    let blank = usize::from(rest.starts_with(' '));
    &text[..text.len() - rest.len() + blank]
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    parts: Vec<Part<'a>>,
    /// The cell of a row that is read; 0 before the first one.
    cell: usize,
}

impl<'a> Scanner<'a> {
    fn left(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, length: usize, reference: Option<Ref<'a>>, node: Option<Node>) {
        self.parts.push(Part {
            text: &self.text[self.at..self.at + length],
            start: self.at,
            reference,
            node,
            cell: self.cell,
        });
        self.at += length;
    }

    /// Reads the node that begins the line; returns whether what follows is its content.
    fn head(&mut self) -> bool {
        let left = self.left();
        let Some(node) = node(left).filter(|_| self.parts.is_empty()) else {
            return false;
        };
        let end = node.end;
        self.push(end, shown_reference(left, &node), Some(node));
        match self.left().strip_prefix(": ") {
            Some(_) => {
                self.at += 2;
                true
            }
            None => false,
        }
    }

    fn rest(&mut self) {
        loop {
            self.at += self.left().len() - self.left().trim_start_matches(' ').len();
            let left = self.left();
            if left.is_empty() {
                return;
            }
            let is_row = self.cell > 0;
            let begins_row = self.parts.len() <= 1 && left.starts_with("| ");
            if begins_row || (is_row && (left.starts_with("| ") || left == "|")) {
                self.cell += 1;
                self.at += 1;
                continue;
            }
            match node(left) {
                Some(mut node) => {
                    if let Some(content) = left[node.end..].strip_prefix(": ") {
                        // The content of the only node of a cell can be bare.
                        let bare = || is_row.then(|| text_length(content, true));
                        let length = quoted_length(content).or_else(bare);
                        node.end += length.map_or(0, |length| length + 2);
                    }
                    self.push(node.end, shown_reference(left, &node), Some(node));
                }
                None => self.text(is_row),
            }
        }
    }

    /// Reads a text, with the ref after it if it is that of a cell.
    fn text(&mut self, is_row: bool) {
        let left = self.left();
        let mut end = quoted_length(left).unwrap_or_else(|| text_length(left, is_row));
        let mut reference = reference_at(left);
        let after = left[end..].strip_prefix(' ').filter(|_| is_row);
        if let Some((after, cell)) = after.and_then(|it| Some((it, reference_at(it)?))) {
            end += 1 + word(after).len();
            reference = Some(cell);
        }
        self.push(end, reference, None);
    }
}

/// Returns the length of a bare text, which ends before a node, a ref or the next cell.
fn text_length(text: &str, is_row: bool) -> usize {
    let blanks = text.match_indices(' ').map(|(at, _)| at);
    let mut ends = blanks.filter(|at| {
        let rest = &text[at + 1..];
        let is_cell = is_row && (rest.starts_with("| ") || rest == "|");
        is_cell
            || node(rest).is_some_and(|node| is_marked(rest, &node))
            || (is_row && reference_at(rest).is_some())
    });
    ends.next().unwrap_or(text.len())
}

/// Returns whether more than a word says that it is a node.
fn is_marked(text: &str, node: &Node) -> bool {
    node.end > node.role.end || text[node.end..].starts_with(": \"")
}

/// Reads a node. Texts that could be read as one are in quotes.
pub(super) fn node(text: &str) -> Option<Node> {
    let is_role = |c: char| c.is_ascii_lowercase() || c == '-';
    let role = text.len() - text.trim_start_matches(is_role).len();
    let after = &text[role..];
    let is_node =
        ROLES.contains(&&text[..role]) && (after.is_empty() || after.starts_with([' ', ':']));
    if !is_node {
        return None;
    }
    let mut node = Node {
        role: 0..role,
        name: None,
        reference: None,
        options: None,
        end: role,
    };
    if let Some(length) = text[node.end..].strip_prefix(' ').and_then(quoted_length) {
        node.name = Some(node.end + 1..node.end + 1 + length);
        node.end += 1 + length;
    }
    node.end += states_length(&text[node.end..]);
    if let Some(rest) = text[node.end..].strip_prefix(' ')
        && reference_at(rest).is_some()
    {
        let length = word(rest).len();
        node.reference = Some(node.end + 1..node.end + 1 + length);
        node.end += 1 + length;
    }
    node.end += states_length(&text[node.end..]);
    if let Some(address) = text[node.end..].strip_prefix(" → ") {
        let bare = address.split(' ').next().unwrap_or_default();
        let length = quoted_length(address).unwrap_or(bare.trim_end_matches(':').len());
        node.end += " → ".len() + length;
    }
    if text[node.end..].starts_with(" (") {
        let length = enclosed_length(&text[node.end + 1..], ')');
        node.options = Some(node.end + 1..node.end + 1 + length);
        node.end += 1 + length;
    }
    Some(node)
}

fn states_length(text: &str) -> usize {
    let mut length = 0;
    while text[length..].starts_with(" [") {
        length += 1 + enclosed_length(&text[length + 1..], ']');
    }
    length
}

/// Returns the length of a text up to a character that is not in quotes.
fn enclosed_length(text: &str, end: char) -> usize {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        at += match c {
            '"' => quoted_length(&text[at..]).unwrap_or(1),
            c => c.len_utf8(),
        };
        if c == end {
            break;
        }
    }
    at
}

/// Returns the length of the quoted text at the beginning.
pub(super) fn quoted_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inside.char_indices().find(|(_, c)| {
        let is_end = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    Some(end?.0 + 2)
}

fn shown_reference<'a>(text: &'a str, node: &Node) -> Option<Ref<'a>> {
    reference_at(&text[node.reference.clone()?])
}

/// Returns the word at the beginning, without the colon before content.
fn word(text: &str) -> &str {
    let word = text.split(' ').next().unwrap_or_default();
    word.trim_end_matches(':')
}

/// Returns the ref at the beginning: `e5`, `f1e5`, `shop:e5`.
pub(super) fn reference_at(text: &str) -> Option<Ref<'_>> {
    let word = word(text);
    let digits = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let prefix = digits.strip_suffix('e')?;
    let frame = prefix.rsplit(':').next().unwrap_or(prefix);
    let is_frame = frame.is_empty()
        || frame.strip_prefix('f').is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
        });
    let number = word[digits.len()..].parse().ok()?;
    is_frame.then_some(Ref { prefix, number })
}

/// Returns the options of a select with where they begin and end in the text in parentheses.
pub(super) fn options(text: &str) -> Vec<&str> {
    let inside = text.strip_prefix('(').unwrap_or(text);
    let inside = inside.strip_suffix(')').unwrap_or(inside);
    let mut options = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < inside.len() {
        if inside[at..].starts_with(" | ") {
            options.push(&inside[start..at]);
            at += 3;
            start = at;
            continue;
        }
        let c = inside[at..].chars().next().map_or(1, char::len_utf8);
        at += quoted_length(&inside[at..]).unwrap_or(c);
    }
    options.push(&inside[start..]);
    options
}
