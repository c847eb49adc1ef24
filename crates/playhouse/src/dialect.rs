//! Answers and errors dressed for those who read them. A toolset speaks one dialect.

pub(crate) mod markdown;

use serde_json::Value;

/// An answer as a protocol carries it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Content {
    /// Text first, pictures after it.
    pub(crate) items: Vec<ContentItem>,
    /// The same for programs.
    pub(crate) structured: Option<Value>,
    /// It is an error.
    pub(crate) is_error: bool,
}

/// One item of content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ContentItem {
    /// Text.
    Text(String),
    /// A picture.
    Image { bytes: Vec<u8>, mime_type: String },
}

impl Content {
    /// The text items, one after the other.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for item in &self.items {
            if let ContentItem::Text(part) = item {
                text += part;
            }
        }
        text
    }
}
