//! Answers: what a tool replies, as data, and how answers and errors are formatted. Each toolset has one output format.

mod bound;
pub(crate) mod escape;
pub(crate) mod evidence;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod reply;
pub(crate) mod sections;

use sections::Boundary;
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
    /// Around what its texts have of a page.
    pub(crate) boundary: Option<Boundary>,
}

/// One item of content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ContentItem {
    /// Text.
    Text(String),
    /// A picture.
    Image { bytes: Vec<u8>, mime_type: String },
}

/// Says which session an error is about, where the call named one.
fn name_session(object: &mut Value, session_id: Option<&str>) {
    if let (Some(id), Value::Object(members)) = (session_id, object) {
        let after_message = members.len().min(2);
        members.shift_insert(after_message, "sessionId".to_owned(), id.into());
    }
}

impl Content {
    /// The same as [`Self::text`], for files: they hold what pages say and nothing else.
    pub(crate) fn text_without_boundary(&self) -> String {
        let text = self.text();
        let Some(boundary) = &self.boundary else {
            return text;
        };
        let marks = [boundary.start(), boundary.end()];
        let lines = text
            .split('\n')
            .filter(|line| !marks.iter().any(|mark| mark == line));
        lines.collect::<Vec<_>>().join("\n")
    }

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

#[cfg(test)]
mod tests {
    use crate::config::{
        AnswerSettings, CodegenLanguage, ConsoleLevel, FilePaths, ImageResponses, SnapshotMode,
    };

    /// The defaults.
    pub(super) fn settings() -> AnswerSettings {
        AnswerSettings {
            snapshot_mode: SnapshotMode::Full,
            snapshot_boxes: false,
            codegen: CodegenLanguage::Typescript,
            image_responses: ImageResponses::Allow,
            file_paths: FilePaths::Relative,
            console_level: ConsoleLevel::Info,
            test_id_attribute: "data-testid".into(),
            ask_user: false,
            content_boundaries: false,
        }
    }
}
