//! What two snapshots are compared by: each element and each text of a line.

use super::super::facts::Layout;
use super::super::line::{Line, LineKind, Ref};
use super::part::{self, Part, Parts};
use std::borrow::Cow;
use std::ops::Range;

/// The state of the focused element. Losing the focus is no change.
const ACTIVE: &str = " [active]";
/// The states of what an overlay hides.
const COVERED: [&str; 2] = [" [aria-hidden]", " [inert]"];
/// What stands before and after refs in compact snapshots.
const SEPARATORS: [char; 5] = [' ', '(', ')', '|', ':'];
/// What stands for an element in the text of its row.
pub(super) const ELSEWHERE: &str = "…";

/// What makes an entry the same one in both snapshots: the ref of its element, and the name of a property.
pub(super) type Identity<'a> = (Ref<'a>, &'a str);

/// An element, a text, a property, or a row without the elements in it.
pub(super) struct Entry<'a> {
    /// The index of its line.
    pub(super) line: usize,
    pub(super) level: u32,
    pub(super) kind: LineKind<'a>,
    pub(super) identity: Option<Identity<'a>>,
    /// The element that contains a text.
    pub(super) owner: Option<Ref<'a>>,
    /// The elements around its line in the whole snapshot as far as they have no entry, innermost first.
    pub(super) around: Vec<Ref<'a>>,
    /// The level and the kind of its line.
    pub(super) of_line: (u32, LineKind<'a>),
    /// Whether that element contains nothing but the text and what is on its line.
    pub(super) is_own: bool,
    /// The entry that contains it.
    pub(super) parent: Option<usize>,
    /// What makes its line a heading or a list item.
    pub(super) mark: &'a str,
    /// The text of its line.
    pub(super) whole: &'a str,
    /// As the snapshot has it.
    pub(super) source: &'a str,
    /// The source without the focus, what hides it, and the punctuation of the layout.
    pub(super) text: Cow<'a, str>,
    /// The length of the text without the text that it contains.
    pub(super) head: usize,
    pub(super) cells: Vec<String>,
    pub(super) is_active: bool,
    /// The states of what hides it.
    pub(super) covered: String,
    /// The entry of the other snapshot that is the same one.
    pub(super) other: Option<usize>,
}

impl<'a> Entry<'a> {
    fn new(line: usize, whole: &'a str, level: u32, kind: LineKind<'a>, source: &'a str) -> Self {
        let (mut text, is_active) = without_state(source.into(), ACTIVE);
        let mut covered = String::new();
        for state in COVERED {
            let is_covered;
            (text, is_covered) = without_state(text, state);
            covered.push_str(if is_covered { state } else { "" });
        }
        Self {
            line,
            level,
            kind,
            identity: None,
            owner: None,
            around: Vec::new(),
            of_line: (level, kind),
            is_own: false,
            parent: None,
            mark: "",
            head: text.len(),
            whole,
            source,
            text,
            cells: Vec::new(),
            is_active,
            covered,
            other: None,
        }
    }

    pub(super) fn role(&self) -> &'a str {
        match self.kind {
            LineKind::Element(role) => role,
            LineKind::Text | LineKind::Property => "",
        }
    }

    pub(super) fn is_text(&self) -> bool {
        self.kind == LineKind::Text
    }

    /// Returns whether it is an element that only groups others.
    pub(super) fn is_bare_wrapper(&self, layout: Layout) -> bool {
        let reference = self.identity.filter(|_| self.role() == "generic");
        reference.is_some_and(|(it, _)| match layout {
            Layout::Full => *self.text == format!("generic [ref={it}]"),
            Layout::Compact => *self.text == *"generic",
        })
    }

    /// Makes an element that only has a text, and is hidden by an overlay, the text that it is otherwise.
    fn become_text(&mut self) {
        let is_wrapper = matches!(&self.text[..self.head], "generic" | "paragraph");
        if self.covered.is_empty() || !is_wrapper || self.head == self.text.len() {
            return;
        }
        let content = self.content().unwrap_or_default().to_owned();
        self.owner = self.identity.take().map(|(reference, _)| reference);
        self.is_own = true;
        self.kind = LineKind::Text;
        self.text = content.into();
        self.head = self.text.len();
    }

    /// Returns the text that the element contains on its line.
    pub(super) fn content(&self) -> Option<&str> {
        self.text[self.head..].strip_prefix(": ")
    }

    /// Returns whether the element has the focus since. A frame has it together with an element in it.
    pub(super) fn gained_focus(&self, before: &Self) -> bool {
        self.is_active && !before.is_active && self.role() != "iframe"
    }
}

/// Returns the entries of some lines of a snapshot.
pub(super) fn entries<'a>(
    lines: &[Line<'a>],
    range: Range<usize>,
    layout: Layout,
) -> Vec<Entry<'a>> {
    let mut reader = Reader {
        entries: Vec::new(),
        open: Vec::new(),
        from: range.start,
    };
    for (index, line) in lines[..range.end].iter().enumerate() {
        reader.line(index, line, layout);
    }
    reader.entries
}

struct Reader<'a> {
    entries: Vec<Entry<'a>>,
    /// The level, the ref and the first entry of the lines that contain the current one.
    open: Vec<(u32, Option<Ref<'a>>, Option<usize>)>,
    from: usize,
}

impl<'a> Reader<'a> {
    fn line(&mut self, index: usize, line: &Line<'a>, layout: Layout) {
        while self.open.last().is_some_and(|it| it.0 >= line.level) {
            self.open.pop();
        }
        let first = self.entries.len();
        let is_read = index >= self.from;
        if is_read {
            match layout {
                Layout::Full => self.full(index, line),
                Layout::Compact => self.compact(index, line),
            }
            for entry in &mut self.entries[first..] {
                entry.of_line = (line.level, line.kind);
            }
        }
        let first = is_read.then_some(first);
        self.open.push((line.level, line.reference, first));
    }

    fn push(&mut self, mut entry: Entry<'a>) {
        let open = self.open.last();
        entry.parent = entry.parent.or_else(|| open?.2);
        let unread = self.open.iter().rev().filter(|it| it.2.is_none());
        entry.around = unread.filter_map(|it| it.1).collect();
        self.entries.push(entry);
    }

    fn full(&mut self, index: usize, line: &Line<'a>) {
        let text = line.text.strip_prefix("- ").unwrap_or(line.text);
        let text = text.strip_suffix(':').unwrap_or(text);
        let mut entry = Entry::new(index, text, line.level, line.kind, text);
        let around = self.open.last().and_then(|it| it.1);
        match line.kind {
            LineKind::Element(_) => {
                entry.identity = line.reference.map(|it| (it, ""));
                let content = part::node(text).map(|node| &text[node.end..]);
                let content = content.filter(|it| it.starts_with(": "));
                entry.head -= content.map_or(0, str::len);
            }
            LineKind::Text => {
                entry.owner = line.reference.or(around);
                entry.is_own = line.reference.is_some();
            }
            LineKind::Property => {
                let name = line.text.split(": ").next().unwrap_or_default();
                entry.identity = around.map(|it| (it, name));
            }
        }
        self.push(entry);
    }

    fn compact(&mut self, index: usize, line: &Line<'a>) {
        let Parts {
            mark,
            parts,
            has_head,
            cells,
        } = Parts::of(line);
        let first = self.entries.len();
        let is_row = cells > 0;
        if parts.is_empty() || (is_row && !has_head) {
            // A row, or an item whose content is below it.
            let mut entry = Entry::new(index, line.text, line.level, line.kind, line.text);
            entry.identity = line.reference.map(|it| (it, ""));
            self.push(entry);
        }
        let mut rest = parts.iter().peekable();
        if let Some(head) = rest.next_if(|_| has_head) {
            let inline = rest.next_if(|part| part.node.is_none() && !is_row);
            let end = inline.map_or(head.start + head.text.len(), |part| {
                part.start + part.text.len()
            });
            let mut entry = self.node(index, line, head, &line.text[head.start..end]);
            let content = inline.map_or(0, |part| part.text.len() + 2);
            entry.head = entry.text.len() - content.min(entry.text.len());
            entry.mark = mark;
            entry.become_text();
            self.push(entry);
        }
        if is_row {
            self.row(first, &parts, cells, has_head);
        }
        let is_inside = has_head || is_row;
        for part in rest {
            if is_row && part.reference.is_none() {
                continue;
            }
            let mut entry = match part.node.is_some() || part.reference.is_some() {
                true => self.node(index, line, part, part.text),
                false => {
                    let kind = LineKind::Text;
                    let mut entry = Entry::new(index, line.text, line.level, kind, part.text);
                    let around = self.open.last().and_then(|it| it.1);
                    entry.owner = line.reference.or(around);
                    entry.is_own = line.reference.is_some();
                    entry
                }
            };
            entry.mark = mark;
            if is_inside {
                entry.level += 1;
                entry.parent = Some(first);
            }
            self.push(entry);
        }
    }

    fn node(&self, index: usize, line: &Line<'a>, part: &Part<'a>, source: &'a str) -> Entry<'a> {
        let role = part
            .node
            .as_ref()
            .map_or("", |node| &part.text[node.role.clone()]);
        let kind = LineKind::Element(role);
        let mut entry = Entry::new(index, line.text, line.level, kind, source);
        // The ref of the element of a line need not be shown.
        let of_line = || line.reference.filter(|_| line.kind == kind);
        entry.identity = part.reference.or_else(of_line).map(|it| (it, ""));
        entry
    }

    /// Sets the text of a row, where a mark stands for each element that is compared for itself.
    fn row(&mut self, first: usize, parts: &[Part<'a>], count: usize, has_head: bool) {
        let mut cells = vec![String::new(); count];
        let mut texts = cells.clone();
        for part in parts.iter().filter(|part| part.cell > 0) {
            let text = match part.reference {
                Some(_) => ELSEWHERE,
                None => part.text,
            };
            for (cells, text) in [(&mut cells, part.text), (&mut texts, text)] {
                let cell = &mut cells[part.cell - 1];
                cell.push_str(if cell.is_empty() { "" } else { " " });
                cell.push_str(text);
            }
        }
        let entry = &mut self.entries[first];
        let mut text = String::new();
        if has_head {
            text = format!("{}: ", entry.text);
        } else {
            // The states are those of elements in the row.
            entry.is_active = false;
            entry.covered.clear();
        }
        entry.head = text.len();
        entry.text = format!("{text}| {}", texts.join(" | ")).into();
        entry.cells = cells;
    }
}

/// Returns a text without a state, and whether the state was there. In a name or a quoted text, it is none.
fn without_state<'a>(text: Cow<'a, str>, state: &str) -> (Cow<'a, str>, bool) {
    if !text.contains(state) {
        return (text, false);
    }
    let found = unquoted(&text).find_map(|part| {
        let at = part.start + text[part].find(state)?;
        Some(format!("{}{}", &text[..at], &text[at + state.len()..]))
    });
    match found {
        Some(without) => (without.into(), true),
        None => (text, false),
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

/// Returns a text without the refs that it shows.
pub(super) fn without_refs(text: &str) -> String {
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
    part::reference_at(word).is_some()
}
