//! Reading snapshots of both layouts, strictly by their grammars, to prove that they hold the same.

mod compact;
mod full;

use std::collections::BTreeSet;
use std::sync::LazyLock;

pub use compact::parse as parse_compact;
pub use full::parse as parse_full;

/// A part of a snapshot, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// An element.
    Node(Node),
    /// A text of the page.
    Text(String),
}

/// An element of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// The role.
    pub role: String,
    /// The accessible name, if it is shown.
    pub name: Option<String>,
    /// The states in brackets, without those that only one layout has, sorted.
    pub states: BTreeSet<String>,
    /// The ref.
    pub reference: Option<String>,
    /// Whether it is the outermost element with the pointer cursor; known in the full layout only.
    pub is_clickable: bool,
    /// Whether it has an address.
    pub has_url: bool,
    /// The text within a field.
    pub value: Option<String>,
}

/// Roles of elements that a user acts upon.
pub(crate) const CONTROLS: &[&str] = &[
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

/// Roles whose names the full layout always shows, also if the content shows them.
const IDENTIFIED_BY_NAME: &str = "alertdialog application banner columnheader complementary contentinfo dialog document figure form grid \
    group listbox main menu menubar navigation radiogroup region rowheader search table tablist tabpanel toolbar tree treegrid";

fn is_identified_by_name(role: &str) -> bool {
    IDENTIFIED_BY_NAME.split(' ').any(|known| known == role)
}

/// Roles whose content is a value.
const FIELDS: &[&str] = &["combobox", "searchbox", "slider", "spinbutton", "textbox"];

/// The roles that the page functions can report.
pub static ROLES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let source = include_str!("../../engine/injected/src/aria/roles.ts");
    let list = source
        .split_once("const ROLES = words(")
        .and_then(|(_, rest)| rest.split_once(");"))
        .expect("the list of roles")
        .0;
    let quoted = list.split('"').skip(1).step_by(2);
    quoted
        .flat_map(str::split_whitespace)
        .chain(["iframe"])
        .collect()
});

/// Compares the two layouts of one page: the controls with role, name, states, value and ref, and the visible text.
///
/// # Errors
/// The first difference.
pub fn compare(full: &str, compact: &str) -> Result<(), String> {
    let (full, compact) = (parse_full(full), parse_compact(compact)?);
    let expected: Vec<Node> = nodes(&full).filter(is_control).collect();
    let refs: BTreeSet<_> = expected
        .iter()
        .filter_map(|node| node.reference.clone())
        .collect();
    let is_expected = |node: &Node| {
        is_control(node) || node.reference.as_ref().is_some_and(|it| refs.contains(it))
    };
    let shown: Vec<Node> = nodes(&compact).filter(is_expected).collect();
    for index in 0..expected.len().max(shown.len()) {
        let (one, mut other) = (expected.get(index), shown.get(index).cloned());
        if let (Some(Node { value: None, .. }), Some(other)) = (one, &mut other) {
            // The text within an element of the field.
            other.value = None;
        }
        let other = other.as_ref();
        if one.map(identity) != other.map(identity) {
            return Err(format!("control {index}: {one:?} is {other:?}"));
        }
    }
    let known: BTreeSet<_> = nodes(&full).filter_map(|node| node.reference).collect();
    if let Some(forged) = nodes(&compact)
        .filter_map(|node| node.reference)
        .find(|it| !known.contains(it))
    {
        return Err(format!("no element has the ref {forged}"));
    }
    compare_texts(&full, &compact)
}

/// Checks that the compact snapshot of a page has everything that its full snapshot has: the controls with role, name, states and ref, and
/// each word. It may have more.
///
/// # Errors
/// The first control or text that is missing.
pub fn contains(compact: &str, full: &str) -> Result<(), String> {
    let (full, compact) = (parse_full(full), parse_compact(compact)?);
    let shown_text: String = compact.iter().map(visible_text).collect();
    let is_in_text = |text: &str| {
        text.split_whitespace()
            .all(|word| shown_text.contains(word))
    };
    let references: Vec<_> = nodes(&full).map(|node| node.reference).collect();
    let controls = nodes(&full).filter(|node| CONTROLS.contains(&&*node.role));
    for expected in controls.filter(|node| node.reference.is_some()) {
        // A control that is hidden from assistive technology has its name only in the compact layout, and so another ref there.
        let is_named = |node: &Node| {
            let is_alike = node.role == expected.role && node.states == expected.states;
            is_alike && node.name.is_some() && !references.contains(&node.reference)
        };
        let shown = nodes(&compact)
            .find(|node| node.reference == expected.reference)
            .or_else(|| nodes(&compact).find(|node| expected.name.is_none() && is_named(node)));
        let is_shown = shown.as_ref().is_some_and(|shown| {
            shown.role == expected.role
                && shown.states == expected.states
                && match (&expected.name, &shown.name) {
                    (Some(expected), None) => is_in_text(expected),
                    (Some(expected), Some(shown)) => expected == shown,
                    (None, _) => true,
                }
        });
        if !is_shown {
            return Err(format!("{expected:?} is {shown:?}"));
        }
    }
    let missing = full.iter().find_map(|part| match part {
        Part::Text(text) if !is_in_text(text) => Some(text),
        _ => None,
    });
    match missing {
        Some(text) => Err(format!("{text:?} is not in {shown_text}")),
        None => Ok(()),
    }
}

fn nodes(parts: &[Part]) -> impl Iterator<Item = Node> {
    parts.iter().filter_map(|part| match part {
        Part::Node(node) => Some(node.clone()),
        Part::Text(_) => None,
    })
}

fn is_control(node: &Node) -> bool {
    CONTROLS.contains(&&*node.role) || node.is_clickable
}

/// What both layouts must show of a control. A cell on the line of its row has no role of its own, nor has the only text in it, and its name
/// is a text, as that of an option can be. Texts of a field that follow each other are joined with white space in one of the layouts.
fn identity(node: &Node) -> impl PartialEq + use<> {
    let is_cell = matches!(
        &*node.role,
        "cell" | "gridcell" | "rowheader" | "columnheader"
    );
    let is_named = !is_cell
        && !matches!(&*node.role, "heading" | "option")
        && !is_identified_by_name(&node.role);
    (
        if is_cell {
            "cell".to_owned()
        } else {
            node.role.clone()
        },
        node.name.clone().filter(|_| is_named),
        node.states.clone(),
        node.reference.clone(),
        node.has_url,
        node.value.as_deref().map(without_white_space),
    )
}

/// Compares names and texts in order, without white space. The compact layout may omit a text or a name that is the name of the control
/// beside it, and a name that the full layout always shows.
fn compare_texts(full: &[Part], compact: &[Part]) -> Result<(), String> {
    let shown: String = compact.iter().map(visible_text).collect();
    // Nodes without a name, such as wrappers, stand between no texts.
    let spoken: Vec<&Part> = full
        .iter()
        .filter(|part| !matches!(part, Part::Node(node) if node.name.is_none()))
        .collect();
    let is_name = |part: Option<&&Part>, text: &str, roles: &[&str]| match part {
        Some(Part::Node(node)) => {
            roles.contains(&&*node.role) && node.name.as_deref().map(str::trim) == Some(text.trim())
        }
        _ => false,
    };
    // Whether a text is one of those that follow a node and are its name together.
    let is_part_of_name = |index: usize| {
        let before = spoken[..index]
            .iter()
            .rposition(|part| matches!(part, Part::Node(_)));
        before.is_some_and(|before| {
            let name = visible_text(spoken[before]);
            let mut text = String::new();
            let texts = spoken[before + 1..]
                .iter()
                .take_while(|part| matches!(part, Part::Text(_)));
            let end = texts.enumerate().find_map(|(place, part)| {
                text.push_str(&visible_text(part));
                (text == name).then_some(before + 1 + place)
            });
            end.is_some_and(|end| index <= end)
        })
    };
    // Where in the compact text the parts so far can end.
    let mut ends = BTreeSet::from([0]);
    for (index, part) in spoken.iter().enumerate() {
        let text = visible_text(part);
        let mut next: BTreeSet<usize> = ends
            .iter()
            .filter(|end| shown[**end..].starts_with(&text))
            .map(|end| end + text.len())
            .collect();
        if let Part::Text(label) = part {
            let before = index.checked_sub(1).and_then(|it| spoken.get(it));
            if is_name(before, label, &["checkbox", "radio", "switch"])
                || is_name(spoken.get(index + 1), label, CONTROLS)
                || is_part_of_name(index)
            {
                next.extend(&ends);
            }
        }
        if let Part::Node(node) = part {
            let name = node.name.as_deref().unwrap_or_default();
            // Elements around a control can have its name, one in the other.
            let is_alike = |part: &&Part| matches!(part, Part::Node(it) if it.name == node.name);
            let mut alike = spoken[index + 1..].iter().take_while(|it| is_alike(it));
            // So can a cell, of which only its content is shown.
            let cells = ["cell", "columnheader", "gridcell", "rowheader"];
            let is_cell = cells.contains(&&*node.role) && alike.clone().next().is_some();
            let is_repeated = is_cell || alike.any(|part| is_name(Some(part), name, CONTROLS));
            if is_identified_by_name(&node.role) || is_repeated {
                next.extend(&ends);
            }
        }
        if next.is_empty() {
            let end = ends.last().copied().unwrap_or_default();
            return Err(format!("{part:?} is not at {:?}", &shown[end..]));
        }
        ends = next;
    }
    match ends.contains(&shown.len()) {
        true => Ok(()),
        false => Err(format!("more text than in the full layout: {shown}")),
    }
}

fn visible_text(part: &Part) -> String {
    let text = match part {
        Part::Text(text) => text.as_str(),
        Part::Node(node) => node.name.as_deref().unwrap_or_default(),
    };
    without_white_space(text)
}

fn without_white_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
