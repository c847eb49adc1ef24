//! What is held down right now: keys and mouse buttons, and where the pointer is.

use crate::backend::{Modifier, MouseButton, Point};

/// Keys and buttons held between two input sequences, and where the pointer stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pressed {
    pub(crate) pointer: Point,
    pub(crate) buttons: Vec<MouseButton>,
    pub(crate) modifiers: Vec<Modifier>,
}
