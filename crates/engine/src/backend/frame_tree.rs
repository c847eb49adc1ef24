//! The descendants of frames.

use super::FrameId;
use std::collections::HashMap;

/// Returns all descendants of a frame.
pub(crate) fn descendants<T>(
    frames: &HashMap<FrameId, T>,
    frame: &FrameId,
    parent: impl Fn(&T) -> Option<&FrameId>,
) -> Vec<FrameId> {
    let mut found = Vec::new();
    let mut next = vec![frame];
    while let Some(above) = next.pop() {
        for (child, info) in frames {
            if parent(info) == Some(above) {
                found.push(child.clone());
                next.push(child);
            }
        }
    }
    found
}
