//! The facts about a document's tree, as the page-side code measured them.

use crate::backend::Handle;
use crate::snapshot::render;
use serde::de::{
    Deserialize, Deserializer, Error, MapAccess, Visitor, value::MapAccessDeserializer,
};
use std::collections::HashMap;
use std::fmt;

/// The tree of one document, and below it those of its frames.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrameSnapshot {
    pub(super) prefix: String,
    pub(super) entries: Vec<Entry>,
    pub(super) frames: HashMap<Handle, FrameSnapshot>,
}

/// How much of a snapshot to write.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RenderOptions {
    /// The level of the deepest nodes to write, where the top is 0; all if none. A single text below a node is always written.
    pub(crate) depth: Option<u32>,
}

impl FrameSnapshot {
    /// The tree of a document.
    ///
    /// `prefix` goes before each of its refs: empty for the main frame's first document, `f1` and so on elsewhere.
    pub(crate) fn new(prefix: impl Into<String>, facts: Facts) -> Self {
        Self {
            prefix: prefix.into(),
            entries: facts.0,
            frames: HashMap::new(),
        }
    }

    /// The frame elements of this document, in order; each wants the snapshot of its document. What they have of it is taken.
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

    /// Places the snapshot of a frame's document below its frame element.
    pub(crate) fn graft(&mut self, element: Handle, content: Self) {
        self.frames.insert(element, content);
    }

    /// The whole as aria YAML, without a line break at the end; empty for an empty page.
    #[must_use]
    pub(crate) fn render(&self, options: &RenderOptions) -> String {
        render::render(self, options)
    }
}

/// An element that holds a frame.
#[derive(Debug)]
pub(crate) struct FrameElement {
    pub(crate) handle: Handle,
    /// Its frame, as far as it is known.
    pub(crate) frame: Option<Box<str>>,
    /// The facts of the frame's document, if that was asked along.
    pub(crate) content: Option<Facts>,
}

/// What `snapshot` of the page-side code returned for a document.
#[derive(Debug, Clone)]
pub(crate) struct Facts(Vec<Entry>);

impl<'de> Deserialize<'de> for Facts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = Vec::deserialize(deserializer)?;
        if !is_complete(&entries) {
            return Err(D::Error::custom("children are missing"));
        }
        Ok(Self(entries))
    }
}

/// Whether each node has all the children it says it has.
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

/// A text or a node; a node's children follow it, each with its own.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    Text(String),
    Node(Box<Node>),
}

/// One element that has a role. What is false or empty was left out.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(super) struct Node {
    pub(super) role: String,
    pub(super) name: String,
    #[serde(rename = "ref")]
    pub(super) reference: Option<u32>,
    pub(super) checked: Mark,
    pub(super) disabled: bool,
    pub(super) expanded: bool,
    pub(super) active: bool,
    pub(super) invalid: Mark,
    pub(super) level: u32,
    pub(super) pressed: Mark,
    pub(super) selected: bool,
    pub(super) aria_hidden: bool,
    /// The cursor over it is a hand.
    pub(super) pointer: bool,
    pub(super) url: Option<String>,
    pub(super) placeholder: Option<String>,
    /// x, y, width, height, in CSS pixels of its frame's viewport.
    #[serde(rename = "box")]
    pub(super) bounds: Option<[f64; 4]>,
    pub(super) frame: Option<Handle>,
    /// The id of that frame, as far as its document could be asked for it.
    pub(super) frame_id: Option<Box<str>>,
    /// The facts of that frame's document, if they came along.
    #[cfg_attr(test, serde(skip_serializing))]
    pub(super) content: Option<Facts>,
    /// Which nodes below the name was read from, counted from the start of the document.
    pub(super) sources: Vec<usize>,
    /// The name was read, among others, from a caption, legend or label of something below.
    pub(super) parts: bool,
    pub(super) children: usize,
}

/// A state that is off, on, or of a kind (`mixed`, `spelling`).
#[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(super) enum Mark {
    #[default]
    Off,
    On(bool),
    Kind(String),
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;

        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a node")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Entry, E> {
                Ok(Entry::Text(text.to_owned()))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Entry, E> {
                Ok(Entry::Text(text))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Entry, A::Error> {
                Node::deserialize(MapAccessDeserializer::new(map))
                    .map(|node| Entry::Node(Box::new(node)))
            }
        }

        deserializer.deserialize_any(EntryVisitor)
    }
}
