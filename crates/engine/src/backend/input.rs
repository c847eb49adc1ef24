//! Trusted input, in terms of the engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point in a viewport, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Point {
    /// From the left edge.
    pub x: f64,
    /// From the top edge.
    pub y: f64,
}

/// A mouse button.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::Display,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "their names say it")]
pub enum MouseButton {
    #[default]
    Left,
    Right,
    Middle,
}

/// A modifier key.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
)]
pub enum Modifier {
    /// Alt, Option.
    Alt,
    /// Control.
    Control,
    /// Meta, Command, Windows.
    Meta,
    /// Shift.
    Shift,
}

/// A modifier key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "their names are Playwright's")]
pub enum HeldKey {
    Alt,
    Control,
    ControlOrMeta,
    Meta,
    Shift,
}

impl From<HeldKey> for Modifier {
    fn from(key: HeldKey) -> Self {
        match key {
            HeldKey::Alt => Self::Alt,
            HeldKey::ControlOrMeta if cfg!(target_os = "macos") => Self::Meta,
            HeldKey::Control | HeldKey::ControlOrMeta => Self::Control,
            HeldKey::Meta => Self::Meta,
            HeldKey::Shift => Self::Shift,
        }
    }
}

/// A key definition of the keyboard layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The key value: `a`, `A`, `Enter`. <https://www.w3.org/TR/uievents-key/>
    pub key: String,
    /// The physical key: `KeyA`. <https://www.w3.org/TR/uievents-code/>
    pub code: String,
    /// The legacy `keyCode`.
    pub key_code: u32,
    /// The text that the key types, if any.
    pub text: Option<String>,
    /// 0 standard, 1 left, 2 right, 3 numeric keypad.
    pub location: u32,
}

/// A step of a sequence of input.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    missing_docs,
    reason = "the sentence of a variant describes its fields"
)]
pub enum InputStep {
    /// Moves the pointer. `modifiers` are the pressed keys.
    MouseMove {
        to: Point,
        buttons: Vec<MouseButton>,
        modifiers: Vec<Modifier>,
    },
    /// Presses a button; `count` is 2 for the second press of a double click. `buttons` are the pressed ones, including this.
    MouseDown {
        at: Point,
        button: MouseButton,
        buttons: Vec<MouseButton>,
        count: u32,
        modifiers: Vec<Modifier>,
    },
    /// Releases a button. `buttons` are those that remain pressed.
    MouseUp {
        at: Point,
        button: MouseButton,
        buttons: Vec<MouseButton>,
        count: u32,
        modifiers: Vec<Modifier>,
    },
    /// Scrolls the wheel.
    Wheel {
        at: Point,
        delta_x: f64,
        delta_y: f64,
        modifiers: Vec<Modifier>,
    },
    /// Presses a key. `modifiers` include the key itself if it is a modifier.
    KeyDown {
        key: Key,
        modifiers: Vec<Modifier>,
        repeat: bool,
    },
    /// Releases a key. `modifiers` are those that remain pressed.
    KeyUp { key: Key, modifiers: Vec<Modifier> },
    /// Inserts text without keys, as an input method does.
    InsertText { text: String },
}
