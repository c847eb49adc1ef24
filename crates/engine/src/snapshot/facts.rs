//! The facts of a document's accessibility tree, as the injected script reads them.

use crate::backend::Handle;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use url::{Origin, Url};

/// The tree of one document with the trees of its frames.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrameSnapshot {
    pub(super) prefix: String,
    /// The origin of the document, empty if it is opaque or unknown.
    pub(super) origin: String,
    pub(super) entries: Vec<Entry>,
    pub(super) frames: HashMap<Handle, FrameSnapshot>,
}

/// How a snapshot is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// Aria YAML, as `@playwright/mcp` writes it.
    #[default]
    Full,
    /// One line per control, text, table row and simple list item.
    Compact,
}

impl Layout {
    /// Returns the indentation of a level.
    pub(super) fn indent(self) -> &'static str {
        match self {
            Self::Full => "  ",
            Self::Compact => " ",
        }
    }
}

/// The layout and the limits of a rendered snapshot.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RenderOptions {
    pub(crate) layout: Layout,
    /// The deepest level of nodes, where the top is 0; default: all. A single text below a node is always written.
    pub(crate) depth: Option<u32>,
}

impl FrameSnapshot {
    /// Creates the tree of a document.
    ///
    /// `prefix` is the prefix of its refs: empty for the main frame's first document, `f1` and so on for others.
    pub(crate) fn new(prefix: impl Into<String>, facts: Facts) -> Self {
        Self {
            prefix: prefix.into(),
            origin: String::new(),
            entries: facts.0,
            frames: HashMap::new(),
        }
    }

    /// Sets the URL of the document, whose origin is omitted from the addresses of a compact snapshot.
    pub(crate) fn with_url(mut self, url: &str) -> Self {
        let origin = Url::parse(url).ok().map(|url| url.origin());
        let origin = origin.filter(Origin::is_tuple);
        self.origin = origin.map_or_else(String::new, |it| it.ascii_serialization());
        self
    }

    /// Determines by the bounding boxes what is visible in a part of the document's viewport, and removes the boxes unless they are shown.
    pub(crate) fn mark_in_view(&mut self, visible: Range<f64>, shows_boxes: bool) {
        for entry in &mut self.entries {
            let Entry::Node(node) = entry else { continue };
            let [y, height] = node
                .bounds
                .map_or([0.0; 2], |[_, y, _, height]| [y, height]);
            node.in_view = height > 0.0 && y < visible.end && y + height > visible.start;
            if let Some(frame) = node.frame.and_then(|it| self.frames.get_mut(&it)) {
                let below = (visible.start - y).max(0.0)..(visible.end - y).min(height);
                frame.mark_in_view(below, shows_boxes);
            }
            if !shows_boxes {
                node.bounds = None;
            }
        }
    }

    /// Returns the frame elements of this document, in order, for which contents can be inserted. Existing contents are moved out.
    pub(crate) fn frame_elements(&mut self) -> impl Iterator<Item = FrameElement> {
        self.entries.iter_mut().filter_map(|entry| match entry {
            Entry::Node(node) => Some(FrameElement {
                handle: node.frame?,
                frame: node.frame_id.take(),
                content: node.content.take(),
            }),
            Entry::Text(_) => None,
        })
    }

    /// Inserts the snapshot of a frame's document below its frame element.
    pub(crate) fn insert_frame(&mut self, element: Handle, content: Self) {
        self.frames.insert(element, content);
    }

    /// Returns the approximate size as text, in bytes.
    pub(crate) fn size(&self) -> usize {
        let entries = self.entries.iter().map(|entry| match entry {
            Entry::Text(text) => text.len(),
            Entry::Node(node) => node.name.len() + 32,
        });
        entries.sum::<usize>() + self.frames.values().map(Self::size).sum::<usize>()
    }
}

/// A frame element.
#[derive(Debug)]
pub(crate) struct FrameElement {
    pub(crate) handle: Handle,
    /// The frame, if known.
    pub(crate) frame: Option<Box<str>>,
    /// The facts of the frame's document, if they were read together.
    pub(crate) content: Option<Facts>,
}

/// The result of the injected function `snapshot` for a document.
#[derive(Debug, Clone)]
pub(crate) struct Facts(Vec<Entry>);

impl<'de> Deserialize<'de> for Facts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FactsVisitor;

        impl<'de> Visitor<'de> for FactsVisitor {
            type Value = Vec<Entry>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("texts and nodes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<Entry>, A::Error> {
                let mut entries = Vec::new();
                while let Some(NamedEntry(entry, text)) = sequence.next_element()? {
                    entries.push(entry);
                    entries.extend(text.map(Entry::Text));
                }
                Ok(entries)
            }
        }

        let entries = deserializer.deserialize_seq(FactsVisitor)?;
        if !is_complete(&entries) {
            return Err(D::Error::custom("children are missing"));
        }
        Ok(Self(entries))
    }
}

/// Returns whether each node has all of its declared children.
fn is_complete(entries: &[Entry]) -> bool {
    let mut open: Vec<usize> = Vec::new();
    for entry in entries {
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if let Entry::Node(node) = entry {
            open.push(node.children);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    open.is_empty()
}

/// The number of children of a node whose only child is a text that equals its name.
const NAME: i64 = -1;

/// A text or a node; a node is followed by its children, each with its own.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    Text(String),
    Node(Box<Node>),
}

/// An element that has a role. False and empty values are omitted.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Node {
    #[serde(skip)]
    pub(super) role: String,
    #[serde(skip)]
    pub(super) name: String,
    #[serde(skip)]
    pub(super) reference: Option<u32>,
    #[serde(skip)]
    pub(super) children: usize,
    pub(super) checked: Mark,
    pub(super) disabled: bool,
    pub(super) expanded: bool,
    pub(super) active: bool,
    pub(super) invalid: Mark,
    pub(super) level: u32,
    pub(super) pressed: Mark,
    pub(super) selected: bool,
    pub(super) aria_hidden: bool,
    pub(super) inert: bool,
    /// Whether it hides visible content from assistive technology, as overlays do with the rest of a page.
    pub(super) covers: bool,
    /// Whether the cursor over it is a hand. Complete facts have `action` instead.
    pub(super) pointer: bool,
    /// How a person can act on it, if it is no native control.
    pub(super) action: Option<Action>,
    /// Whether its content can be edited, if it is no text box.
    pub(super) editable: bool,
    /// The day below which it is placed in a calendar.
    pub(super) day: Option<String>,
    pub(super) url: Option<String>,
    pub(super) placeholder: Option<String>,
    /// The bounding box in its frame's viewport, in CSS pixels: x, y, width, height.
    #[serde(rename = "box")]
    pub(super) bounds: Option<[f64; 4]>,
    /// Whether it is in the viewport, if that was determined.
    #[serde(skip)]
    pub(super) in_view: bool,
    pub(super) frame: Option<Handle>,
    /// The id of that frame, if its document could be queried.
    pub(super) frame_id: Option<Box<str>>,
    /// The facts of that frame's document, if they were read together.
    pub(super) content: Option<Facts>,
    /// The descendants from which the name was computed, by their index in the document.
    pub(super) sources: Vec<usize>,
    /// Whether the name includes a caption, legend or label of a descendant.
    pub(super) parts: bool,
    /// Whether it is invisible, or its visible text differs from its name.
    pub(super) unseen: bool,
}

/// How a person can act on an element, from `injected/src/interactive.ts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    /// By clicking; the only element in it may stand for it.
    Pointer,
    /// By the focus, by editing or by dragging.
    Own,
    /// An event listener responds, unless it is there for elements in it.
    Listens,
    /// Only if there is nothing else to act on in it.
    Weak,
}

/// A state that is off, on, or of a kind (`mixed`, `spelling`).
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
#[serde(untagged)]
pub(super) enum Mark {
    #[default]
    Off,
    On(bool),
    Kind(String),
}

/// A serialized entry, and the text below it that equals its name.
struct NamedEntry(Entry, Option<String>);

impl<'de> Deserialize<'de> for NamedEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NamedEntryVisitor;

        impl<'de> Visitor<'de> for NamedEntryVisitor {
            type Value = NamedEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a node's role, name, ref, number of children and the rest")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<NamedEntry, E> {
                Ok(NamedEntry(Entry::Text(text.to_owned()), None))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<NamedEntry, E> {
                Ok(NamedEntry(Entry::Text(text), None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<NamedEntry, A::Error> {
                let lacks = |index| A::Error::invalid_length(index, &self);
                let role = sequence.next_element()?.ok_or_else(|| lacks(0))?;
                let name: String = sequence.next_element()?.ok_or_else(|| lacks(1))?;
                let reference = sequence.next_element()?.ok_or_else(|| lacks(2))?;
                let children: i64 = sequence.next_element()?.ok_or_else(|| lacks(3))?;
                let rest: Option<Box<Node>> = sequence.next_element()?;
                let text = (children == NAME).then(|| name.clone());
                let children = if children == NAME { 1 } else { children };
                let node = Box::new(Node {
                    role,
                    name,
                    reference: Some(reference).filter(|reference| *reference > 0),
                    children: usize::try_from(children).map_err(A::Error::custom)?,
                    ..*rest.unwrap_or_default()
                });
                Ok(NamedEntry(Entry::Node(node), text))
            }
        }

        deserializer.deserialize_any(NamedEntryVisitor)
    }
}
