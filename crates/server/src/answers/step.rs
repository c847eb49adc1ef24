//! The result of a step of a batch: what its tool returned, without the state of the page, which the answer of the batch has.

use super::{Content, ContentItem, StepFacts, markdown};
use crate::answers::reply::{Reply, SnapshotRequest};
use crate::calls::tool_spec::ToolSpec;

/// Returns the result of a step as text and images.
pub(crate) fn content(tool: &ToolSpec, reply: Reply) -> Content {
    let (mut lines, images) = markdown::parts(reply.parts, "");
    // Tools that answer with an object request no snapshot.
    let mut needs_snapshot = tool.answers_with_object() && tool.acts();
    let mut needs_changes = false;
    match reply.snapshot {
        SnapshotRequest::Inline(snapshot)
        | SnapshotRequest::Outline {
            outline: snapshot, ..
        } => lines.push(snapshot),
        SnapshotRequest::File(link) => lines.push(format!("[Snapshot]({link})")),
        SnapshotRequest::AfterAction => needs_snapshot = true,
        SnapshotRequest::ForChanges => needs_changes = true,
        SnapshotRequest::None => {}
    }
    lines.extend(reply.changes.into_iter().flat_map(markdown::change_lines));
    let mut items = vec![ContentItem::Text(lines.join("\n"))];
    items.extend(images);
    Content {
        items,
        structured: None,
        step: StepFacts {
            code: reply.code,
            needs_snapshot,
            needs_changes,
        },
        is_error: false,
        boundary: None,
    }
}
