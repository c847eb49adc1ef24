//! What a selector says of the element, for the nearest elements where none matches.

use super::{Locator, Selector, Step, Target};
use crate::selector::TextMatch;
use crate::snapshot::Wanted;

impl Locator {
    /// Returns what the selector says of the element.
    pub(crate) fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::default();
        if let Target::Selector(selector) = &self.target {
            add(&mut wanted, selector);
        }
        wanted
    }
}

fn add(wanted: &mut Wanted, selector: &Selector) {
    for step in selector.steps() {
        match step {
            Step::Role(role) => {
                wanted.set_role(&role.role);
                for text in role.name.iter().chain(&role.description) {
                    add_text(wanted, text);
                }
            }
            Step::Text { text, .. }
            | Step::Label { text }
            | Step::Attribute { text, .. }
            | Step::TestId { text, .. }
            | Step::HasText { text, not: false } => add_text(wanted, text),
            Step::Css(css) => wanted.add_source(&css.css),
            Step::Xpath { expression } => wanted.add_source(expression),
            Step::Has {
                selector,
                not: false,
            }
            | Step::And { selector }
            | Step::Or { selector } => add(wanted, selector),
            Step::Nth { .. }
            | Step::Visible { .. }
            | Step::HasText { .. }
            | Step::Has { .. }
            | Step::EnterFrame => {}
        }
    }
}

fn add_text(wanted: &mut Wanted, text: &TextMatch) {
    match text {
        TextMatch::Literal { text, .. } => wanted.add_text(text),
        // A letter after a backslash is a class of characters.
        TextMatch::Regex { regex, .. } => {
            let mut is_escaped = false;
            let plain = regex.chars().map(|c| {
                let shown = if is_escaped || c == '\\' { ' ' } else { c };
                is_escaped = c == '\\' && !is_escaped;
                shown
            });
            wanted.add_text(&plain.collect::<String>());
        }
    }
}
