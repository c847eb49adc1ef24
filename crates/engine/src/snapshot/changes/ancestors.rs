//! How the ancestors of a change decide where and how it is listed.

use super::super::facts::Layout;
use super::entry::Entry;
use super::{Change, MESSAGES, POPUPS, Position};

/// The ancestors of the current entry, with what they mean for their content.
#[derive(Default)]
pub(super) struct Ancestors(Vec<(u32, Inside)>);

/// How the content of an element is listed.
#[derive(Clone, Copy)]
pub(super) struct Inside {
    /// The number of the nearest ancestors that are listed without a gap.
    pub(super) indent: usize,
    pub(super) rank: u8,
    place: Position,
}

impl Ancestors {
    /// Enters an entry that has a sign if it is listed; returns how. What is in a message is as useful as the message.
    pub(super) fn enter(&mut self, entry: &Entry<'_>, sign: Option<char>, rank: u8) -> Inside {
        while self.0.last().is_some_and(|it| it.0 >= entry.level) {
            self.0.pop();
        }
        let outside = Inside {
            indent: 0,
            rank: u8::MAX,
            place: Position::Document,
        };
        let around = self.0.last().map_or(outside, |it| it.1);
        let is_message = sign.is_some() && MESSAGES.contains(&entry.role());
        let is_opened = is_message || POPUPS.contains(&entry.role());
        let place = match sign {
            Some('+') if is_opened => Position::First,
            _ => around.place,
        };
        let inside = Inside {
            indent: match sign {
                Some(_) => around.indent + 1,
                // An element that only groups others is not listed.
                None if entry.other.is_none() => around.indent,
                None => 0,
            },
            rank: if is_message { 0 } else { around.rank },
            place,
        };
        self.0.push((entry.level, inside));
        Inside {
            indent: around.indent,
            rank: rank.min(around.rank),
            place,
        }
    }
}

impl Inside {
    pub(super) fn change(self, sign: char, text: &str, entry: usize, layout: Layout) -> Change {
        let indent = layout.indent().repeat(self.indent);
        Change {
            rank: self.rank,
            place: self.place,
            sign,
            text: format!("{sign} {indent}{text}"),
            is_bare: false,
            entry: Some(entry),
        }
    }
}
