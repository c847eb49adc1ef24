//! The compact layout: one line per control, text, table row and simple list item. It holds what the full layout holds in about a third of
//! the tokens.
//!
//! ```text
//! line     := '-' [' ' body] | '#'… ' ' body | '| ' body ' | ' body … | body
//! body     := node [': ' sequence] | sequence
//! sequence := texts and nodes, where a node's content is ': ' and a quoted text
//! node     := role ["name"] [state]… [ref] ['→' address] ['(' option ' | ' option … ')']
//! ```
//!
//! A text that could be read as anything else is in quotes, so no text of a page passes for a node, a ref or a line of the server.

mod address;
mod quote;

use super::facts::Node;
use super::key::{self, CONTAINERS, CONTROLS, States};
use super::prune::{Item, Shown};
use super::surroundings::Surroundings;
use address::address;
use quote::{Position, push_quoted, push_text};

pub(super) use quote::{ROLES, is_like_ref};

/// The most parts of a sequence that is not a paragraph, a cell or a list item.
const MAX_PARTS: usize = 8;
/// The most parts of a paragraph, a cell or a list item, and the most options of a select on its line.
const MAX_LONG_PARTS: usize = 200;
/// The longest text beside nodes on a line, in bytes. An outline shows or folds lines only as a whole.
const MAX_TEXT: usize = 4_000;
/// The most elements and texts of a frame whose ref is not shown.
const MAX_SHORT_FRAME: usize = 10;
/// The levels of Markdown headings.
const HEADINGS: std::ops::RangeInclusive<u32> = 1..=6;

/// Roles that add nothing to their content.
const WRAPPERS: &[&str] = &[
    "caption",
    "code",
    "emphasis",
    "generic",
    "list",
    "mark",
    "none",
    "paragraph",
    "presentation",
    "rowgroup",
    "strong",
    "subscript",
    "superscript",
    "time",
];
/// Roles whose content is a value.
const FIELDS: &[&str] = &["combobox", "searchbox", "slider", "spinbutton", "textbox"];
const CELLS: &[&str] = &["cell", "columnheader", "gridcell", "rowheader"];

/// A part of a sequence.
enum Part<'t, 'a> {
    Text(String),
    Node(&'t Shown<'a>, Surroundings<'a>),
}

/// Returns the items to show in place of these: the content of wrappers instead of the wrappers, without texts that repeat the name of the
/// control beside them.
pub(super) fn arrange<'t, 'a>(
    items: &'t [Item<'a>],
    around: Surroundings<'a>,
) -> Vec<(&'t Item<'a>, Surroundings<'a>)> {
    let mut into = Vec::with_capacity(items.len());
    flatten(items, around, &mut into);
    drop_labels(&mut into);
    into
}

fn flatten<'t, 'a>(
    items: &'t [Item<'a>],
    around: Surroundings<'a>,
    into: &mut Vec<(&'t Item<'a>, Surroundings<'a>)>,
) {
    for item in items {
        match item {
            Item::Node(shown) if is_wrapper(shown, around) && !is_group(shown, around) => {
                flatten(&shown.children, around.inside(shown), into);
            }
            _ => into.push((item, around)),
        }
    }
}

/// Removes the texts that repeat the name of the control beside them.
fn drop_labels(items: &mut Vec<(&Item<'_>, Surroundings<'_>)>) {
    let repeats =
        |text: &str, beside: Option<&(&Item<'_>, Surroundings<'_>)>, roles: &[&str]| match beside {
            Some((Item::Node(shown), _)) => {
                shown.named && roles.contains(&&*shown.node.role) && shown.node.name.trim() == text
            }
            _ => false,
        };
    let is_label = |index: usize| {
        let (Item::Text(text), _) = items[index] else {
            return false;
        };
        let before = index.checked_sub(1).and_then(|before| items.get(before));
        repeats(text, items.get(index + 1), CONTROLS)
            || repeats(text, before, &["checkbox", "radio", "switch"])
    };
    if items.len() > 1 {
        let labels: Vec<bool> = (0..items.len()).map(is_label).collect();
        let mut labels = labels.into_iter();
        items.retain(|_| !labels.next().unwrap_or_default());
    }
}

/// Returns whether a node adds nothing to its content.
fn is_wrapper(shown: &Shown<'_>, around: Surroundings<'_>) -> bool {
    let node = shown.node;
    WRAPPERS.contains(&&*node.role)
        && !shown.named
        && !key::has_states(node, States::WithoutActive)
        // The body of a document is active if nothing else is.
        && (!node.active || around.is_outermost)
        && !shown.acts(around.in_clickable)
        && node.url.is_none()
}

/// Returns whether a wrapper is a line of its own: text with the controls in it.
fn is_group<'a>(shown: &Shown<'a>, around: Surroundings<'a>) -> bool {
    let most = match &*shown.node.role {
        "paragraph" => MAX_LONG_PARTS,
        "generic" => MAX_PARTS,
        _ => return false,
    };
    let parts = sequence(&shown.children, around.inside(shown), most);
    parts.is_some_and(|parts| {
        parts.len() > 1 && parts.iter().any(|part| matches!(part, Part::Text(_)))
    })
}

/// Returns the content as parts of one line, or `None` if it needs several lines or has more parts.
fn sequence<'t, 'a>(
    items: &'t [Item<'a>],
    around: Surroundings<'a>,
    most: usize,
) -> Option<Vec<Part<'t, 'a>>> {
    let parts = parts_of(items, around, most)?;
    match parts.as_slice() {
        // Content after the first node of a line would be read as content of the line.
        [Part::Node(first, _), _, ..] if matches!(*first.children, [Item::Text(_)]) => None,
        _ => Some(parts),
    }
}

/// Returns the content as parts of one line, of which not the first one begins the line.
fn parts_of<'t, 'a>(
    items: &'t [Item<'a>],
    around: Surroundings<'a>,
    most: usize,
) -> Option<Vec<Part<'t, 'a>>> {
    let mut flat = Vec::new();
    if !flatten_all(items, around, most, &mut flat) {
        return None;
    }
    drop_labels(&mut flat);
    let mut parts: Vec<Part<'t, 'a>> = Vec::with_capacity(flat.len());
    for (item, around) in flat {
        match (item, parts.last_mut()) {
            (Item::Text(text), Some(Part::Text(before))) => {
                before.push(' ');
                before.push_str(text);
            }
            (Item::Text(text), _) => parts.push(Part::Text(text.to_string())),
            (Item::Node(shown), _) => parts.push(Part::Node(shown, around)),
        }
    }
    let is_long = |part: &Part<'_, '_>| matches!(part, Part::Text(text) if text.len() > MAX_TEXT);
    match parts.as_slice() {
        [_, _, ..] if parts.iter().any(is_long) => None,
        _ => Some(parts),
    }
}

/// Adds the content of all wrappers; returns whether all of it can be parts of one line.
fn flatten_all<'t, 'a>(
    items: &'t [Item<'a>],
    around: Surroundings<'a>,
    most: usize,
    into: &mut Vec<(&'t Item<'a>, Surroundings<'a>)>,
) -> bool {
    items.iter().all(|item| match item {
        Item::Node(shown) if is_wrapper(shown, around) => {
            flatten_all(&shown.children, around.inside(shown), most, into)
        }
        Item::Node(shown) if !is_part(shown, around) => false,
        _ => {
            into.push((item, around));
            into.len() <= most
        }
    })
}

/// Returns whether a node can be a part of a line: a leaf that cannot be read as text.
fn is_part(shown: &Shown<'_>, around: Surroundings<'_>) -> bool {
    let role = &*shown.node.role;
    let is_leaf = match shown.children.as_slice() {
        [] => shown.node.frame.is_none(),
        [Item::Text(_)] => true,
        _ => has_simple_options(shown),
    };
    // Role and address, or role and options, would be read as text.
    let begins_with_content =
        matches!(*shown.children, [Item::Text(_)]) && shown.node.url.is_none();
    let has_mark = shown.named || reference(shown, around).is_some() || begins_with_content;
    is_leaf
        && has_mark
        && !CONTAINERS.contains(&role)
        && !CELLS.contains(&role)
        && !begins_with_mark(role)
}

/// Writes a text that is a line of its own.
pub(super) fn write_text(out: &mut String, text: &str) {
    push_text(out, text, Position::Start);
}

/// Items to write below a line.
type Rest<'t, 'a> = (&'t [Item<'a>], Surroundings<'a>);

/// Writes a node; returns the items to write below.
pub(super) fn write_node<'t, 'a>(
    out: &mut String,
    shown: &'t Shown<'a>,
    around: Surroundings<'a>,
) -> Rest<'t, 'a> {
    let (node, inside) = (shown.node, around.inside(shown));
    let nothing: Rest<'_, '_> = (&[], inside);
    let is_plain = !shown.named && is_bare(shown, around);
    match &*node.role {
        "heading" if HEADINGS.contains(&node.level) && is_bare(shown, around) => {
            if let Some(rest) = write_heading(out, shown, inside) {
                return rest;
            }
        }
        "listitem" if is_plain => {
            out.push('-');
            return write_item(out, &shown.children, inside);
        }
        "row" => {
            if let Some((row, rest)) = row(&shown.children, inside) {
                if !is_plain {
                    write_head(out, shown, around);
                    out.push_str(": ");
                }
                out.push_str(&row);
                return (rest, inside);
            }
        }
        _ if is_wrapper(shown, around) => {
            if let Some(parts) = sequence(&shown.children, inside, MAX_LONG_PARTS) {
                write_sequence(out, &parts, true);
                return nothing;
            }
        }
        _ => {}
    }
    write_head(out, shown, around);
    if write_options(out, shown) {
        return nothing;
    }
    let parts = sequence(&shown.children, inside, MAX_PARTS).unwrap_or_default();
    if repeats_name(shown, &parts) {
        return nothing;
    }
    let has_text = parts.iter().any(|part| matches!(part, Part::Text(..)));
    if has_text || (!parts.is_empty() && CONTROLS.contains(&&*node.role)) {
        out.push_str(": ");
        write_sequence(out, &parts, false);
        return nothing;
    }
    (&shown.children, inside)
}

/// Returns whether the content of a node that is no field is its name, of which it shows the parts.
fn repeats_name(shown: &Shown<'_>, parts: &[Part<'_, '_>]) -> bool {
    let is_name = |text: &str| key::is_name_shown(&shown.node.name) && text == shown.node.name;
    shown.named
        && !FIELDS.contains(&&*shown.node.role)
        && matches!(parts, [Part::Text(text)] if is_name(text))
}

/// Returns whether a node has nothing to show beside its name and its content.
fn is_bare(shown: &Shown<'_>, around: Surroundings<'_>) -> bool {
    !key::has_states(shown.node, States::All) && !shown.acts(around.in_clickable)
}

/// Writes a heading of Markdown; `None` if its content needs lines of its own.
fn write_heading<'t, 'a>(
    out: &mut String,
    shown: &'t Shown<'a>,
    inside: Surroundings<'a>,
) -> Option<Rest<'t, 'a>> {
    let mut line = String::new();
    for _ in 0..shown.node.level {
        line.push('#');
    }
    line.push(' ');
    let mut rest: Rest<'_, '_> = (&[], inside);
    match (shown.named, shown.children.as_slice()) {
        (true, []) if key::is_name_shown(&shown.node.name) => {
            push_text(&mut line, &shown.node.name, Position::Start);
        }
        (true, _) => return None,
        (false, children) => match (
            sequence(children, inside, MAX_LONG_PARTS),
            only(children, inside),
        ) {
            (Some(parts), _) if !parts.is_empty() => write_sequence(&mut line, &parts, true),
            (None, Some((child, around))) => rest = write_node(&mut line, child, around),
            _ => return None,
        },
    }
    out.push_str(&line);
    Some(rest)
}

/// Writes the content of a list item after its dash; returns the items to write below.
fn write_item<'t, 'a>(
    out: &mut String,
    items: &'t [Item<'a>],
    inside: Surroundings<'a>,
) -> Rest<'t, 'a> {
    if let Some(parts) = sequence(items, inside, MAX_LONG_PARTS) {
        if !parts.is_empty() {
            out.push(' ');
            write_sequence(out, &parts, true);
        }
        return (&[], inside);
    }
    if let Some((child, around)) = only(items, inside) {
        out.push(' ');
        return write_node(out, child, around);
    }
    if let [Item::Text(text), rest @ ..] = items {
        out.push(' ');
        push_text(out, text, Position::Start);
        return (rest, inside);
    }
    (items, inside)
}

/// Returns the only node in wrappers, if there is nothing else and its line can follow the mark of a heading or a list item.
fn only<'t, 'a>(
    items: &'t [Item<'a>],
    around: Surroundings<'a>,
) -> Option<(&'t Shown<'a>, Surroundings<'a>)> {
    match items {
        [Item::Node(shown)] if is_wrapper(shown, around) => {
            only(&shown.children, around.inside(shown))
        }
        [Item::Node(shown)] if !begins_with_mark(&shown.node.role) => Some((shown, around)),
        _ => None,
    }
}

/// Returns whether the line of a role begins with a mark.
fn begins_with_mark(role: &str) -> bool {
    matches!(role, "heading" | "listitem" | "row")
}

/// Returns the cells of a row on one line, and the items after the last cell; `None` if a cell needs several lines.
fn row<'t, 'a>(
    items: &'t [Item<'a>],
    around: Surroundings<'a>,
) -> Option<(String, &'t [Item<'a>])> {
    if let [Item::Node(first), rest @ ..] = items
        && is_wrapper(first, around)
        && !is_handle(&items[0])
    {
        let (line, left) = row(&first.children, around.inside(first))?;
        return left.is_empty().then_some((line, rest));
    }
    let end = items
        .iter()
        .rposition(|item| is_cell(item) || is_handle(item))?
        + 1;
    let mut line = String::new();
    for item in &items[..end] {
        let Item::Node(cell) = item else { return None };
        let is_shown_handle = is_handle(item) && reference(cell, around).is_some();
        if !is_cell(item) && !is_shown_handle {
            return None;
        }
        line.push_str(if line.is_empty() { "| " } else { " | " });
        match is_shown_handle {
            true => write_head(&mut line, cell, around),
            false => write_cell(&mut line, cell, around)?,
        }
    }
    line.truncate(line.trim_end().len());
    Some((line, &items[end..]))
}

fn is_cell(item: &Item<'_>) -> bool {
    matches!(item, Item::Node(shown) if CELLS.contains(&&*shown.node.role))
}

/// Returns whether an item is what users drag between cells, to change their width.
fn is_handle(item: &Item<'_>) -> bool {
    matches!(item, Item::Node(shown) if shown.node.role == "generic"
        && !shown.named
        && shown.children.is_empty()
        && !key::has_states(shown.node, States::All))
}

/// Writes a cell on the line of its row; `None` if it needs lines of its own.
fn write_cell<'a>(line: &mut String, cell: &Shown<'a>, around: Surroundings<'a>) -> Option<()> {
    let node = cell.node;
    if cell.named && !key::is_name_shown(&node.name) {
        return None;
    }
    let inside = around.inside(cell);
    let mut parts = parts_of(&cell.children, inside, MAX_LONG_PARTS)?;
    let sole = match parts.as_slice() {
        [Part::Node(sole, around)] => Some((*sole, *around)),
        _ => None,
    };
    if key::has_states(node, States::All)
        && !sole.is_some_and(|(sole, _)| key::has_states_of(sole.node, node))
    {
        write_head(line, cell, around);
        return match parts.as_slice() {
            [] => Some(()),
            [Part::Text(text)] => {
                line.push_str(": ");
                push_quoted(line, text);
                Some(())
            }
            _ => None,
        };
    }
    if cell.named && !sole.is_some_and(|(sole, _)| sole.named && sole.node.name == node.name) {
        match parts.first_mut() {
            Some(Part::Text(text)) => text.insert_str(0, &format!("{} ", node.name)),
            _ => parts.insert(0, Part::Text(node.name.clone())),
        }
    }
    let has_targets = parts.iter().any(|part| match part {
        Part::Node(shown, around) => self::reference(shown, *around).is_some(),
        Part::Text(_) => false,
    });
    let has_texts = parts.iter().any(|part| matches!(part, Part::Text(_)));
    let is_header = matches!(&*node.role, "columnheader" | "rowheader");
    // The controls in a cell stand for it, unless the cell is acted on for itself.
    let is_own = !has_targets || (cell.action.is_some() && (has_texts || is_header));
    let mut reference = reference(cell, around).filter(|_| is_own);
    // A cell whose only text has a ref is written as one with a ref of its own.
    if let [Part::Node(text, around)] = parts.as_slice()
        && text.has_only_bare_text()
        && let [Item::Text(content)] = text.children.as_slice()
    {
        reference = self::reference(text, *around).or(reference);
        parts = vec![Part::Text(content.to_string())];
    }
    match (reference, parts.as_slice()) {
        (None, parts) => write_sequence(line, parts, true),
        (Some(reference), [Part::Text(text)]) => {
            push_text(line, text, Position::BeforeRef);
            line.push(' ');
            line.push_str(&reference);
        }
        // Its ref would be read as that of the node before it.
        (Some(_), [.., Part::Node(last, around)]) if self::reference(last, *around).is_none() => {
            return None;
        }
        (Some(reference), []) => line.push_str(&reference),
        (Some(reference), parts) => {
            write_sequence(line, parts, false);
            line.push(' ');
            line.push_str(&reference);
        }
    }
    Some(())
}

/// Writes the parts of a line. `is_body`: the line has nothing before them, so that a single node may have its content bare.
fn write_sequence(out: &mut String, parts: &[Part<'_, '_>], is_body: bool) {
    let is_alone = is_body && parts.len() == 1;
    let mut position = Position::Start;
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        match part {
            Part::Text(text) => push_text(out, text, position),
            Part::Node(shown, around) => {
                write_head(out, shown, *around);
                if !write_options(out, shown)
                    && let [Item::Text(text)] = shown.children.as_slice()
                {
                    out.push_str(": ");
                    match is_alone {
                        true => push_text(out, text, Position::Start),
                        false => push_quoted(out, text),
                    }
                }
            }
        }
        position = Position::AfterNode;
    }
}

/// Writes role, name, states, ref and address.
fn write_head(out: &mut String, shown: &Shown<'_>, around: Surroundings<'_>) {
    let node = shown.node;
    out.push_str(&node.role);
    if shown.named && key::is_name_shown(&node.name) {
        out.push(' ');
        push_quoted(out, &node.name);
    }
    key::push_states(out, node);
    if let Some(placeholder) = &node.placeholder {
        out.push_str(" [placeholder=");
        push_quoted(out, placeholder);
        out.push(']');
    }
    if let Some(reference) = reference(shown, around) {
        out.push(' ');
        out.push_str(&reference);
    }
    key::push_box(out, node);
    if let Some(url) = &node.url {
        out.push_str(" → ");
        address(out, url, shown.origin);
    }
}

/// Returns the ref of what can be acted upon, and of containers.
pub(super) fn reference(shown: &Shown<'_>, around: Surroundings<'_>) -> Option<String> {
    let node = shown.node;
    let number = node.reference?;
    let role = &*node.role;
    let is_named = shown.named && role == "generic";
    let is_cell = role == "gridcell";
    if is_short_frame(shown) {
        return None;
    }
    let is_target = CONTROLS.contains(&role)
        || CONTAINERS.contains(&role)
        || is_cell
        || is_named
        || node.active;
    (is_target || shown.acts(around.in_clickable)).then(|| format!("{}e{number}", shown.prefix))
}

/// Returns whether a node is a frame whose few elements are shown, each with a ref of its own: no call takes a snapshot of that frame alone.
fn is_short_frame(shown: &Shown<'_>) -> bool {
    let is_shown = shown.node.frame.is_some() && !shown.children.is_empty();
    is_shown && count(&shown.children, MAX_SHORT_FRAME) <= MAX_SHORT_FRAME
}

/// Returns the number of items and of all below them, or a number above `most` if there are more.
fn count(items: &[Item<'_>], most: usize) -> usize {
    let mut sum = 0;
    for item in items {
        sum += 1;
        if let Item::Node(shown) = item
            && sum <= most
        {
            sum += count(&shown.children, most - sum);
        }
        if sum > most {
            break;
        }
    }
    sum
}

/// Writes the options of a select on its line; returns whether it has only options with nothing but a text.
fn write_options(out: &mut String, shown: &Shown<'_>) -> bool {
    if !has_simple_options(shown) {
        return false;
    }
    let mut before = " (";
    for item in &shown.children {
        let Item::Node(option) = item else { continue };
        out.push_str(before);
        before = " | ";
        if option.node.selected {
            out.push('*');
        }
        let text = match option.children.as_slice() {
            [Item::Text(text)] => text,
            _ => option.node.name.as_str(),
        };
        push_text(out, text, Position::Option);
        if option.node.disabled {
            out.push_str(" [disabled]");
        }
        if let Some(number) = option.node.reference {
            out.push_str(&format!(" {}e{number}", option.prefix));
        }
    }
    out.push(')');
    true
}

fn has_simple_options(shown: &Shown<'_>) -> bool {
    let is_select = matches!(&*shown.node.role, "combobox" | "listbox");
    let is_short = shown.children.len() <= MAX_LONG_PARTS;
    is_select
        && is_short
        && !shown.children.is_empty()
        && shown.children.iter().all(is_simple_option)
}

fn is_simple_option(item: &Item<'_>) -> bool {
    let Item::Node(shown) = item else {
        return false;
    };
    let is_leaf = match (shown.named, shown.children.as_slice()) {
        (_, []) => true,
        (named, [Item::Text(_)]) => !named,
        _ => false,
    };
    let Node {
        role,
        bounds,
        url,
        placeholder,
        ..
    } = shown.node;
    is_leaf
        && role == "option"
        && key::is_name_shown(&shown.node.name)
        && bounds.is_none()
        && url.is_none()
        && placeholder.is_none()
        && !key::has_states(shown.node, States::WithoutSelection)
}
