//! Rendering the pruned tree as aria YAML.

use super::facts::{FrameSnapshot, Mark, RenderOptions};
use super::prune::{Item, Shown, prune};
use super::scalar;
use std::fmt::Write as _;

/// The longest name that is written, in UTF-16 units.
const MAX_NAME_LENGTH: usize = 900;

impl FrameSnapshot {
    /// Renders the tree as aria YAML, without a final line break; empty for an empty page.
    #[must_use]
    pub(crate) fn render(&self, options: &RenderOptions) -> String {
        let mut writer = Writer {
            text: String::new(),
            depth: options.depth,
        };
        writer.items(&prune(self, options.depth), 0, false);
        writer.text.pop();
        writer.text
    }
}

struct Writer {
    text: String,
    depth: Option<u32>,
}

impl Writer {
    fn items(&mut self, items: &[Item<'_>], level: u32, in_clickable: bool) {
        for item in items {
            match item {
                Item::Text(text) => self.property(level, "text", text),
                Item::Node(shown) => self.node(shown, level, in_clickable),
            }
        }
    }

    fn node(&mut self, shown: &Shown<'_>, level: u32, in_clickable: bool) {
        let node = shown.node;
        self.indent(level);
        let key = key(shown, !in_clickable);
        self.text.push_str(&scalar::key(&key));
        let has_properties = node.url.is_some() || node.placeholder.is_some();
        let children = shown.children.as_slice();
        if let ([Item::Text(text)], false) = (children, has_properties) {
            self.text.push_str(": ");
            self.text.push_str(&scalar::value(text));
            self.text.push('\n');
            return;
        }
        let cut = self.depth.is_some_and(|depth| level >= depth);
        let children = match children {
            [Item::Text(_)] => children,
            _ if cut => &[],
            _ => children,
        };
        if has_properties || !children.is_empty() {
            self.text.push(':');
        }
        self.text.push('\n');
        if let Some(url) = &node.url {
            self.property(level + 1, "/url", url);
        }
        if let Some(placeholder) = &node.placeholder {
            self.property(level + 1, "/placeholder", placeholder);
        }
        // A frame's document does not know the cursor of its frame element.
        let in_clickable = node.frame.is_none() && (in_clickable || shown.has_pointer());
        self.items(children, level + 1, in_clickable);
    }

    fn property(&mut self, level: u32, name: &str, value: &str) {
        self.indent(level);
        self.text.push_str(name);
        self.text.push_str(": ");
        self.text.push_str(&scalar::value(value));
        self.text.push('\n');
    }

    fn indent(&mut self, level: u32) {
        for _ in 0..level {
            self.text.push_str("  ");
        }
        self.text.push_str("- ");
    }
}

/// Returns role, name and attributes, before quoting.
fn key(shown: &Shown<'_>, shows_pointer: bool) -> String {
    let node = shown.node;
    let mut key = node.role.clone();
    let is_short = |name: &str| {
        name.len() <= MAX_NAME_LENGTH || name.encode_utf16().count() <= MAX_NAME_LENGTH
    };
    if shown.named && !node.name.is_empty() && is_short(&node.name) {
        let _ = write!(key, " {}", serde_json::Value::from(node.name.as_str()));
    }
    flag(&mut key, "hidden-text", node.unseen);
    mark(&mut key, "checked", &node.checked);
    flag(&mut key, "disabled", node.disabled);
    flag(&mut key, "expanded", node.expanded);
    flag(&mut key, "active", node.active);
    mark(&mut key, "invalid", &node.invalid);
    if node.level > 0 {
        let _ = write!(key, " [level={}]", node.level);
    }
    mark(&mut key, "pressed", &node.pressed);
    flag(&mut key, "selected", node.selected);
    flag(&mut key, "aria-hidden", node.aria_hidden);
    if let Some(reference) = node.reference {
        let _ = write!(key, " [ref={}e{reference}]", shown.prefix);
    }
    flag(
        &mut key,
        "cursor=pointer",
        shows_pointer && shown.has_pointer(),
    );
    if let Some([x, y, width, height]) = node.bounds {
        let _ = write!(key, " [box={x},{y},{width},{height}]");
    }
    key
}

fn flag(key: &mut String, name: &str, on: bool) {
    if on {
        let _ = write!(key, " [{name}]");
    }
}

fn mark(key: &mut String, name: &str, mark: &Mark) {
    match mark {
        Mark::Off | Mark::On(false) => {}
        Mark::On(true) => flag(key, name, true),
        Mark::Kind(kind) => {
            let _ = write!(key, " [{name}={kind}]");
        }
    }
}
