//! What both layouts have in common: kinds of roles, states, bounding boxes.

use super::facts::{Mark, Node};
use std::fmt::Write as _;

/// The longest name that is written, in UTF-16 units.
const MAX_NAME_LENGTH: usize = 900;

/// Roles of elements that a user acts upon.
pub(super) const CONTROLS: &[&str] = &[
    "button",
    "checkbox",
    "combobox",
    "link",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "scrollbar",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
];
/// Roles of containers that make sense as the target of a call.
pub(super) const CONTAINERS: &[&str] = &[
    "alert",
    "alertdialog",
    "application",
    "article",
    "banner",
    "complementary",
    "contentinfo",
    "dialog",
    "document",
    "feed",
    "figure",
    "form",
    "grid",
    "group",
    "iframe",
    "list",
    "log",
    "main",
    "menu",
    "menubar",
    "navigation",
    "radiogroup",
    "region",
    "search",
    "status",
    "table",
    "tablist",
    "tabpanel",
    "toolbar",
    "tree",
    "treegrid",
];

/// The containers that outline a page.
pub(super) const LANDMARKS: &[&str] = &[
    "alert",
    "alertdialog",
    "banner",
    "complementary",
    "contentinfo",
    "dialog",
    "form",
    "main",
    "navigation",
    "region",
    "search",
    "status",
];

/// Which states count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum States {
    All,
    WithoutActive,
    /// Without those that options of a select have on its line.
    WithoutSelection,
}

/// Returns whether a name is short enough to be written.
pub(super) fn is_name_shown(name: &str) -> bool {
    name.len() <= MAX_NAME_LENGTH || name.encode_utf16().count() <= MAX_NAME_LENGTH
}

/// Returns whether a node has states to show. The level of a heading is none of them.
pub(super) fn has_states(node: &Node, states: States) -> bool {
    let is_on = |mark: &Mark| !matches!(mark, Mark::Off | Mark::On(false));
    is_on(&node.checked)
        || (node.disabled && states != States::WithoutSelection)
        || node.expanded
        || (node.active && states != States::WithoutActive)
        || is_on(&node.invalid)
        || (node.level > 0 && node.role != "heading")
        || is_on(&node.pressed)
        || (node.selected && states != States::WithoutSelection)
        || node.aria_hidden
        || node.inert
        || node.editable
        || node.unseen
        || node.day.is_some()
}

/// Returns whether a node has all of the states of another one.
pub(super) fn has_states_of(node: &Node, other: &Node) -> bool {
    let states = |node: &Node| {
        let mut text = String::new();
        push_states(&mut text, node);
        text
    };
    let own = states(node);
    let others = states(other);
    others.split_inclusive(']').all(|state| own.contains(state))
}

/// Writes the states in brackets, each after a blank.
pub(super) fn push_states(out: &mut String, node: &Node) {
    push_flag(out, "hidden-text", node.unseen);
    push_mark(out, "checked", &node.checked);
    push_flag(out, "disabled", node.disabled);
    push_flag(out, "expanded", node.expanded);
    push_flag(out, "active", node.active);
    push_flag(out, "editable", node.editable);
    push_mark(out, "invalid", &node.invalid);
    if node.level > 0 {
        let _ = write!(out, " [level={}]", node.level);
    }
    push_mark(out, "pressed", &node.pressed);
    push_flag(out, "selected", node.selected);
    push_flag(out, "aria-hidden", node.aria_hidden);
    push_flag(out, "inert", node.inert);
    if let Some(day) = &node.day {
        let _ = write!(out, " [day={}]", serde_json::Value::from(day.as_str()));
    }
}

/// Writes the bounding box, if it is known.
pub(super) fn push_box(out: &mut String, node: &Node) {
    if let Some([x, y, width, height]) = node.bounds {
        let _ = write!(out, " [box={x},{y},{width},{height}]");
    }
}

pub(super) fn push_flag(out: &mut String, name: &str, on: bool) {
    if on {
        let _ = write!(out, " [{name}]");
    }
}

fn push_mark(out: &mut String, name: &str, mark: &Mark) {
    match mark {
        Mark::Off | Mark::On(false) => {}
        Mark::On(true) => push_flag(out, name, true),
        Mark::Kind(kind) => {
            let _ = write!(out, " [{name}={kind}]");
        }
    }
}
