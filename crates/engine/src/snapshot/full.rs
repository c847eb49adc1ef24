//! The full layout: aria YAML with a line for each node, as `@playwright/mcp` writes it.

use super::facts::Node;
use super::key::{is_name_shown, push_box, push_flag, push_states};
use super::prune::{Item, Shown};
use super::scalar;
use super::surroundings::Surroundings;
use std::fmt::Write as _;

/// Writes a node; returns the items to write below. A single text is on the line of its node.
pub(super) fn write_node<'t, 'a>(
    out: &mut String,
    shown: &'t Shown<'a>,
    around: Surroundings<'_>,
    is_cut: bool,
) -> &'t [Item<'a>] {
    out.push_str("- ");
    out.push_str(&scalar::key(&key(shown, !around.in_clickable)));
    let children = shown.children.as_slice();
    let has_properties = properties(shown.node).next().is_some();
    let rest = match children {
        [Item::Text(text)] if !has_properties => {
            out.push_str(": ");
            out.push_str(&scalar::value(text));
            return &[];
        }
        [Item::Text(_)] => children,
        _ if is_cut => &[],
        _ => children,
    };
    if has_properties || !rest.is_empty() {
        out.push(':');
    }
    rest
}

/// Returns the properties of a node that have lines of their own.
pub(super) fn properties(node: &Node) -> impl Iterator<Item = (&'static str, &str)> {
    let url = node.url.as_deref().map(|url| ("/url", url));
    let placeholder = node.placeholder.as_deref();
    url.into_iter()
        .chain(placeholder.map(|placeholder| ("/placeholder", placeholder)))
}

/// Writes a text or a property.
pub(super) fn write_property(out: &mut String, name: &str, value: &str) {
    out.push_str("- ");
    out.push_str(name);
    out.push_str(": ");
    out.push_str(&scalar::value(value));
}

/// Returns role, name and attributes, before quoting.
fn key(shown: &Shown<'_>, shows_pointer: bool) -> String {
    let node = shown.node;
    let mut key = node.role.clone();
    if shown.named && is_name_shown(&node.name) {
        let _ = write!(key, " {}", serde_json::Value::from(node.name.as_str()));
    }
    push_states(&mut key, node);
    if let Some(reference) = node.reference {
        let _ = write!(key, " [ref={}e{reference}]", shown.prefix);
    }
    push_flag(
        &mut key,
        "cursor=pointer",
        shows_pointer && shown.has_pointer(),
    );
    push_box(&mut key, node);
    key
}
