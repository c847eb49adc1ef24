//! The result of a step of a batch: what its tool returned, without the state of the page, which the answer of the batch has.

use super::{Content, ContentItem, StepFacts, markdown};
use crate::answers::reply::{Image, Part, Reply, SnapshotRequest};
use crate::calls::tool_spec::ToolSpec;

/// Returns the result of a step as text and images.
pub(crate) fn content(tool: &ToolSpec, reply: Reply) -> Content {
    let mut lines = Vec::new();
    let mut images = Vec::new();
    for part in reply.parts {
        match part {
            Part::Text(text) | Part::Page(text) => lines.push(text),
            Part::File { title, link } => lines.push(format!("[{title}]({link})")),
            Part::Tabs(tabs) => lines.extend(markdown::tab_lines(&tabs)),
            Part::Image(Image { bytes, mime_type }) => {
                images.push(ContentItem::Image { bytes, mime_type });
            }
            Part::Object(object) => lines.push(object.to_string()),
        }
    }
    // Tools that answer with an object request no snapshot.
    let mut needs_snapshot = tool.answers_with_object() && tool.acts();
    match reply.snapshot {
        SnapshotRequest::Inline(snapshot) => lines.push(snapshot),
        SnapshotRequest::File(link) => lines.push(format!("[Snapshot]({link})")),
        SnapshotRequest::AfterAction => needs_snapshot = true,
        SnapshotRequest::None => {}
    }
    let mut items = vec![ContentItem::Text(lines.join("\n"))];
    items.extend(images);
    Content {
        items,
        structured: None,
        step: StepFacts {
            code: reply.code,
            needs_snapshot,
        },
        is_error: false,
        boundary: None,
    }
}
