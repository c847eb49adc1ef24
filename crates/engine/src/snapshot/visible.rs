//! The refs of what a person can act on, of which screenshots show those that are visible.

use super::compact;
use super::facts::{FrameSnapshot, Layout};
use super::key::CONTROLS;
use super::prune::{Item, prune};
use super::surroundings::Surroundings;

/// An element that a person sees and can act on.
#[derive(Debug, Clone, PartialEq)]
pub struct VisibleRef {
    /// The ref, as in a compact snapshot.
    pub reference: String,
    /// The ARIA role.
    pub role: String,
    /// The accessible name; empty if there is none.
    pub name: String,
    /// The visible part of the bounding box: x, y, width and height in pixels of the image.
    pub bounds: [f64; 4],
}

/// An element that may be visible: one that a person can act on, or one of a frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// The prefix of its ref.
    pub(crate) prefix: String,
    /// The number of its ref.
    pub(crate) number: u32,
    /// The index of the element of its frame, if that is not the main frame.
    pub(crate) owner: Option<usize>,
    /// What the image shows of it, without a box.
    pub(crate) shown: Option<VisibleRef>,
}

impl FrameSnapshot {
    /// Returns the elements with a ref in a compact snapshot that a person can act on, and those of frames, each before what is in it.
    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        let around = Surroundings {
            in_clickable: false,
            is_outermost: true,
            in_form: false,
            owner: None,
        };
        let mut all = Vec::new();
        let items = prune(self, Layout::Compact, None);
        collect(&items, around, None, &mut all);
        all
    }
}

fn collect<'a>(
    items: &[Item<'a>],
    around: Surroundings<'a>,
    owner: Option<usize>,
    into: &mut Vec<Candidate>,
) {
    for item in items {
        let Item::Node(shown) = item else { continue };
        let node = shown.node;
        let is_frame = node.frame.is_some();
        let acts = CONTROLS.contains(&&*node.role) || shown.acts(around.in_clickable);
        let reference = compact::reference(shown, around).filter(|_| acts && !is_frame);
        let mut below = owner;
        if let Some(number) = node.reference
            && (is_frame || reference.is_some())
        {
            if is_frame {
                below = Some(into.len());
            }
            into.push(Candidate {
                prefix: shown.prefix.to_owned(),
                number,
                owner,
                shown: reference.map(|reference| VisibleRef {
                    reference,
                    role: node.role.clone(),
                    name: node.name.clone(),
                    bounds: [0.0; 4],
                }),
            });
        }
        collect(&shown.children, around.inside(shown), below, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn snapshot(prefix: &str, facts: serde_json::Value) -> FrameSnapshot {
        FrameSnapshot::new(prefix, serde_json::from_value(facts).unwrap())
    }

    #[test]
    fn controls_and_frames_are_candidates_each_with_the_frame_around_it() {
        let mut page = snapshot(
            "",
            json!([
                ["generic", "", 1, 4],
                ["button", "Go", 2, 0],
                ["heading", "Title", 4, 0, { "level": 1 }],
                ["generic", "", 5, 1, { "action": "pointer" }],
                "Clickable",
                ["iframe", "", 6, 0, { "frame": 9 }],
            ]),
        );
        let inner = json!([["generic", "", 1, 1], ["link", "Inside", 2, 0]]);
        page.insert_frame(9, snapshot("f1", inner));
        let candidates = page.candidates();
        let candidates: Vec<_> = candidates
            .iter()
            .map(|it| {
                let shown = it.shown.as_ref().map(|shown| &*shown.reference);
                (&*it.prefix, it.number, it.owner, shown)
            })
            .collect();
        assert_eq!(
            candidates,
            [
                ("", 2, None, Some("e2")),
                ("", 5, None, Some("e5")),
                ("", 6, None, None),
                ("f1", 2, Some(2), Some("f1e2")),
            ]
        );
    }
}
