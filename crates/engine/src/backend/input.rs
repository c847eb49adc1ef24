//! Trusted input in the engine's own words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place in a viewport, in CSS pixels.
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

/// A key that changes what others do while it is held.
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

/// A key to hold.
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

/// A key as the keyboard layout describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// What it produces: `a`, `A`, `Enter`. <https://www.w3.org/TR/uievents-key/>
    pub key: String,
    /// Where it lies: `KeyA`. <https://www.w3.org/TR/uievents-code/>
    pub code: String,
    /// The legacy `keyCode`.
    pub key_code: u32,
    /// The text it types, if any.
    pub text: Option<String>,
    /// 0 standard, 1 left, 2 right, 3 numeric keypad.
    pub location: u32,
}

/// One step of an input sequence.
#[derive(Debug, Clone, PartialEq)]
pub enum InputStep {
    /// The pointer moves. `modifiers` are the keys held.
    MouseMove {
        to: Point,
        buttons: Vec<MouseButton>,
        modifiers: Vec<Modifier>,
    },
    /// A button goes down; `count` is 2 for the second press of a double click. `buttons` are those held including this.
    MouseDown {
        at: Point,
        button: MouseButton,
        buttons: Vec<MouseButton>,
        count: u32,
        modifiers: Vec<Modifier>,
    },
    /// A button goes up. `buttons` are those still held.
    MouseUp {
        at: Point,
        button: MouseButton,
        buttons: Vec<MouseButton>,
        count: u32,
        modifiers: Vec<Modifier>,
    },
    /// The wheel turns.
    Wheel {
        at: Point,
        delta_x: f64,
        delta_y: f64,
        modifiers: Vec<Modifier>,
    },
    /// A key goes down. `modifiers` include the key itself if it is one.
    KeyDown {
        key: Key,
        modifiers: Vec<Modifier>,
        repeat: bool,
    },
    /// A key goes up. `modifiers` are those still held.
    KeyUp { key: Key, modifiers: Vec<Modifier> },
    /// Text arrives as from an input method, without keys.
    InsertText { text: String },
}
