//! Writing the pruned tree: one walk with two layouts.

use super::facts::{FrameSnapshot, Layout, RenderOptions};
use super::prune::{Item, Shown, prune};
use super::surroundings::Surroundings;
use super::{compact, full};

impl FrameSnapshot {
    /// Renders the tree, without a final line break; empty for an empty page.
    #[must_use]
    pub(crate) fn render(&self, options: &RenderOptions) -> String {
        let mut writer = Writer {
            text: String::new(),
            options: *options,
        };
        let around = Surroundings {
            in_clickable: false,
            is_outermost: true,
        };
        writer.items(&prune(self, options.depth), 0, around);
        writer.text.pop();
        writer.text
    }
}

struct Writer {
    text: String,
    options: RenderOptions,
}

impl Writer {
    fn items(&mut self, items: &[Item<'_>], level: u32, around: Surroundings) {
        match self.options.layout {
            Layout::Full => items.iter().for_each(|item| self.item(item, level, around)),
            Layout::Compact => compact::arrange(items, around)
                .into_iter()
                .for_each(|(item, around)| self.item(item, level, around)),
        }
    }

    fn item(&mut self, item: &Item<'_>, level: u32, around: Surroundings) {
        match item {
            Item::Text(text) => self.line(level, |out, layout| match layout {
                Layout::Full => full::write_property(out, "text", text),
                Layout::Compact => compact::write_text(out, text),
            }),
            Item::Node(shown) => self.node(shown, level, around),
        }
    }

    fn node(&mut self, shown: &Shown<'_>, level: u32, around: Surroundings) {
        let is_cut = self.options.depth.is_some_and(|depth| level >= depth);
        let (rest, inside) = self.line(level, |out, layout| match layout {
            Layout::Full => {
                let rest = full::write_node(out, shown, around, is_cut);
                (rest, around.inside(shown))
            }
            Layout::Compact => compact::write_node(out, shown, around),
        });
        match self.options.layout {
            Layout::Full => {
                for (name, value) in full::properties(shown.node) {
                    self.line(level + 1, |out, _| full::write_property(out, name, value));
                }
                self.items(rest, level + 1, inside);
            }
            Layout::Compact if is_cut => {}
            Layout::Compact => self.items(rest, level + 1, inside),
        }
    }

    /// Writes a line.
    fn line<T>(&mut self, level: u32, write: impl FnOnce(&mut String, Layout) -> T) -> T {
        let layout = self.options.layout;
        let indent = match layout {
            Layout::Full => "  ",
            Layout::Compact => " ",
        };
        for _ in 0..level {
            self.text.push_str(indent);
        }
        let written = write(&mut self.text, layout);
        self.text.push('\n');
        written
    }
}
