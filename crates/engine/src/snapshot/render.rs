//! Writing the pruned tree: one walk with two layouts.

use super::facts::{FrameSnapshot, Layout, RenderOptions};
use super::key::{CONTAINERS, CONTROLS, LANDMARKS};
use super::line::{LineKind, Lines, Rank, Ref, Rendered};
use super::prune::{Item, Shown, prune};
use super::surroundings::Surroundings;
use super::{compact, full};

/// The text after which the rest of a page was not read, from `injected/src/snapshot.ts`. Outlines show it.
const CUT_OFF: &str =
    "… The page is too large: the rest is cut off. Take a snapshot of a part of it.";

impl FrameSnapshot {
    /// Renders the tree.
    #[must_use]
    pub(crate) fn render(&self, options: &RenderOptions) -> Rendered {
        let mut writer = Writer {
            text: String::new(),
            lines: Lines::default(),
            options: *options,
        };
        let around = Surroundings {
            in_clickable: false,
            is_outermost: true,
            in_form: false,
            owner: None,
        };
        writer.items(&prune(self, options.layout, options.depth), 0, around);
        writer.text.pop();
        Rendered {
            text: writer.text,
            lines: writer.lines,
        }
    }
}

struct Writer {
    text: String,
    lines: Lines,
    options: RenderOptions,
}

impl Writer {
    fn items<'a>(&mut self, items: &[Item<'a>], level: u32, around: Surroundings<'a>) {
        match self.options.layout {
            Layout::Full => items.iter().for_each(|item| self.item(item, level, around)),
            Layout::Compact => compact::arrange(items, around)
                .into_iter()
                .for_each(|(item, around)| self.item(item, level, around)),
        }
    }

    fn item<'a>(&mut self, item: &Item<'a>, level: u32, around: Surroundings<'a>) {
        match item {
            Item::Text(text) => {
                self.line(
                    level,
                    around.owner,
                    LineKind::Text,
                    |out, layout| match layout {
                        Layout::Full => full::write_property(out, "text", text),
                        Layout::Compact => compact::write_text(out, text),
                    },
                );
                if text.ends_with(CUT_OFF) {
                    self.lines.set_rank(Rank::Container);
                }
            }
            Item::Node(shown) => self.node(shown, level, around),
        }
    }

    fn node<'a>(&mut self, shown: &Shown<'a>, level: u32, around: Surroundings<'a>) {
        let is_cut = self.options.depth.is_some_and(|depth| level >= depth);
        let kind = LineKind::Element(&shown.node.role);
        let write = |out: &mut String, layout| match layout {
            Layout::Full => {
                let rest = full::write_node(out, shown, around, is_cut);
                (rest, around.inside(shown))
            }
            Layout::Compact => compact::write_node(out, shown, around),
        };
        let (rest, inside) = self.line(level, shown.reference(), kind, write);
        self.lines.set_rank(rank(shown, around).max(rank_beside(
            &shown.children,
            rest,
            around.inside(shown),
        )));
        match self.options.layout {
            Layout::Full => {
                for (name, value) in full::properties(shown.node) {
                    self.line(level + 1, None, LineKind::Property, |out, _| {
                        full::write_property(out, name, value);
                    });
                }
                self.items(rest, level + 1, inside);
            }
            Layout::Compact if is_cut => {}
            Layout::Compact => self.items(rest, level + 1, inside),
        }
    }

    /// Writes a line.
    fn line<T>(
        &mut self,
        level: u32,
        reference: Option<Ref<'_>>,
        kind: LineKind<'_>,
        write: impl FnOnce(&mut String, Layout) -> T,
    ) -> T {
        self.lines.push(self.text.len(), level, reference, kind);
        let layout = self.options.layout;
        for _ in 0..level {
            self.text.push_str(layout.indent());
        }
        let written = write(&mut self.text, layout);
        self.text.push('\n');
        written
    }
}

/// Returns what an outline keeps of a node.
fn rank(shown: &Shown<'_>, around: Surroundings<'_>) -> Rank {
    let role = &*shown.node.role;
    if role == "heading" {
        return match shown.node.level {
            1 | 2 => Rank::Landmark,
            3 => Rank::Heading,
            _ => Rank::LowHeading,
        };
    }
    if LANDMARKS.contains(&role) {
        return Rank::Landmark;
    }
    if CONTAINERS.contains(&role) && !matches!(role, "list" | "article" | "group") {
        return Rank::Container;
    }
    let is_control = CONTROLS.contains(&role) && role != "option";
    match is_control || shown.acts(around.in_clickable) {
        true if shown.node.in_view => Rank::InView,
        true if around.in_form => Rank::InForm,
        true => Rank::Control,
        false => Rank::Other,
    }
}

/// Returns the highest rank of the nodes that are on the line of the node above them, which are all except for the `rest`.
fn rank_beside<'a>(items: &[Item<'a>], rest: &[Item<'a>], around: Surroundings<'a>) -> Rank {
    let is_beside = |item: &&Item<'a>| !rest.as_ptr_range().contains(&std::ptr::from_ref(*item));
    let ranks = items.iter().filter(is_beside).map(|item| match item {
        Item::Text(_) => Rank::Other,
        Item::Node(shown) => {
            let below = rank_beside(&shown.children, rest, around.inside(shown));
            rank(shown, around).max(below)
        }
    });
    ranks.max().unwrap_or_default()
}
