//! Answers: the results of tools as data, and their formatting. Each toolset has one output format.

pub(crate) mod bound;
pub(crate) mod escape;
pub(crate) mod evidence;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod notes;
pub(crate) mod reply;
pub(crate) mod sections;
pub(crate) mod step;

use sections::Boundary;
use serde_json::Value;

/// An answer, before it is serialized for MCP.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Content {
    /// Texts, then images.
    pub(crate) items: Vec<ContentItem>,
    /// The structured content.
    pub(crate) structured: Option<Value>,
    /// What the answer of a batch needs if this is the result of a step.
    pub(crate) step: StepFacts,
    /// The answer is an error.
    pub(crate) is_error: bool,
    /// The boundary around text of pages in the texts.
    pub(crate) boundary: Option<Boundary>,
}

/// What the answer of a batch needs from a step in addition to its result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StepFacts {
    /// The generated code of the step.
    pub(crate) code: Vec<String>,
    /// Whether the answer of the batch includes a snapshot.
    pub(crate) needs_snapshot: bool,
    /// Whether the answer of the batch lists what changed on the page.
    pub(crate) needs_changes: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ContentItem {
    /// Plain text.
    Text(String),
    /// An image.
    Image { bytes: Vec<u8>, mime_type: String },
}

/// Adds the id of the session that an error is about, if the call named one.
fn name_session(object: &mut Value, session_id: Option<&str>) {
    if let (Some(id), Value::Object(members)) = (session_id, object) {
        let after_message = members.len().min(2);
        members.shift_insert(after_message, "sessionId".to_owned(), id.into());
    }
}

impl Content {
    /// Returns the text for files, without boundaries: files contain text of pages only.
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

    /// Returns the text items, concatenated.
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
        AnswerSettings, AnswerStyle, ConsoleLevel, FilePaths, ImageResponses, SnapshotMode,
    };
    use engine::codegen::Language;

    pub(super) fn settings() -> AnswerSettings {
        AnswerSettings {
            style: AnswerStyle::Playwright,
            snapshot_mode: SnapshotMode::Full,
            max_tokens: 6_000,
            has_size: true,
            changes: true,
            snapshot_boxes: false,
            codegen: Language::Typescript,
            image_responses: ImageResponses::Allow,
            file_paths: FilePaths::Relative,
            console_level: ConsoleLevel::Info,
            test_id_attribute: "data-testid".into(),
            ask_user: false,
            content_boundaries: false,
        }
    }
}
