//! What the nodes above a node mean for its line.

use super::prune::Shown;

/// The facts of the nodes above a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings {
    /// Whether a node above has the pointer cursor, which its descendants inherit.
    pub(super) in_clickable: bool,
    /// Whether it is the outermost node of its document.
    pub(super) is_outermost: bool,
}

impl Surroundings {
    /// Returns the surroundings of a node's children.
    pub(super) fn inside(self, shown: &Shown<'_>) -> Self {
        let is_frame = shown.node.frame.is_some();
        Self {
            // A frame's document does not know the cursor of its frame element.
            in_clickable: !is_frame && (self.in_clickable || shown.has_pointer()),
            is_outermost: is_frame,
        }
    }
}
