//! What the nodes above a node mean for its line.

use super::line::Ref;
use super::prune::Shown;

/// The facts of the nodes above a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// Whether a node above has the pointer cursor, which its descendants inherit.
    pub(super) in_clickable: bool,
    /// Whether it is the outermost node of its document.
    pub(super) is_outermost: bool,
    /// Whether it is in a form or a dialog.
    pub(super) in_form: bool,
    /// The ref of the node that contains nothing else.
    pub(super) owner: Option<Ref<'a>>,
}

impl<'a> Surroundings<'a> {
    /// Returns the surroundings of a node's children.
    pub(super) fn inside(self, shown: &Shown<'a>) -> Self {
        let is_frame = shown.node.frame.is_some();
        let role = &*shown.node.role;
        let is_form = matches!(role, "form" | "search" | "dialog" | "alertdialog");
        Self {
            // A frame's document does not know the cursor of its frame element.
            in_clickable: !is_frame && (self.in_clickable || shown.has_pointer()),
            is_outermost: is_frame,
            in_form: self.in_form || is_form,
            owner: shown
                .reference()
                .or(self.owner)
                .filter(|_| shown.children.len() == 1),
        }
    }
}
