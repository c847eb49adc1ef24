//! Keyboard and pointer state: key definitions on the US layout, and the pressed keys and buttons.

use crate::backend::{InputStep, Key, Modifier, MouseButton, Point};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The pressed keys and buttons between two input sequences, and the position of the pointer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pressed {
    pub(crate) pointer: Point,
    pub(crate) buttons: Vec<MouseButton>,
    pub(crate) modifiers: Vec<Modifier>,
    /// The keys that are no modifiers.
    pub(crate) keys: Vec<Key>,
}

impl Pressed {
    /// Returns the step that moves the pointer.
    pub(crate) fn pointer_moved(&self, to: Point) -> InputStep {
        InputStep::MouseMove {
            to,
            buttons: self.buttons.clone(),
            modifiers: self.modifiers.clone(),
        }
    }

    /// Returns the step that presses a button at the position of the pointer.
    pub(crate) fn down(&self, button: MouseButton, count: u32) -> InputStep {
        let mut buttons = self.buttons.clone();
        if !buttons.contains(&button) {
            buttons.push(button);
        }
        InputStep::MouseDown {
            at: self.pointer,
            button,
            buttons,
            count,
            modifiers: self.modifiers.clone(),
        }
    }

    /// Returns the step that releases a button at the position of the pointer.
    pub(crate) fn up(&self, button: MouseButton, count: u32) -> InputStep {
        let mut buttons = self.buttons.clone();
        buttons.retain(|held| *held != button);
        InputStep::MouseUp {
            at: self.pointer,
            button,
            buttons,
            count,
            modifiers: self.modifiers.clone(),
        }
    }

    /// Records a step that is sent.
    pub(crate) fn apply(&mut self, step: &InputStep) {
        match step {
            InputStep::MouseMove { to, .. } => self.pointer = *to,
            InputStep::MouseDown { buttons, .. } | InputStep::MouseUp { buttons, .. } => {
                self.buttons.clone_from(buttons);
            }
            InputStep::KeyDown { key, modifiers, .. } => {
                self.modifiers.clone_from(modifiers);
                let is_held = self.keys.iter().any(|held| held.code == key.code);
                if !is_held && key.key.parse::<Modifier>().is_err() {
                    self.keys.push(key.clone());
                }
            }
            InputStep::KeyUp { key, modifiers } => {
                self.modifiers.clone_from(modifiers);
                self.keys.retain(|held| held.code != key.code);
            }
            InputStep::Wheel { .. } | InputStep::InsertText { .. } => {}
        }
    }

    /// Returns the state after a step.
    pub(crate) fn after(mut self, step: &InputStep) -> Self {
        self.apply(step);
        self
    }

    /// Returns the steps that release everything that was not pressed before.
    pub(crate) fn back_to(&self, before: &Self) -> Vec<InputStep> {
        let mut now = self.clone();
        let mut steps = Vec::new();
        for button in &self.buttons {
            if !before.buttons.contains(button) {
                let up = now.up(*button, 1);
                now.apply(&up);
                steps.push(up);
            }
        }
        for key in &self.keys {
            if !before.keys.iter().any(|held| held.code == key.code) {
                steps.push(key_up(key.clone(), &now.modifiers));
            }
        }
        let more: Vec<_> = now
            .modifiers
            .iter()
            .copied()
            .filter(|modifier| !before.modifiers.contains(modifier))
            .collect();
        steps.extend(hold(&more, &before.modifiers).1);
        steps
    }
}

/// A key with modifiers: `a`, `Enter`, `Control+Shift+ArrowLeft`, `ControlOrMeta+a`, `Control++`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shortcut {
    held: Vec<&'static KeyDefinition>,
    key: &'static KeyDefinition,
    /// Whether the key was named by its character with Shift: `A`, `!`.
    shifted: bool,
}

impl Shortcut {
    /// Parses a key or shortcut. Keys are named by their value (`a`, `A`, `Enter`) or by their code (`KeyA`).
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut names = split(text);
        let last = names.pop().unwrap_or_default();
        let (key, shifted) = key_definition(&last)?;
        let held = names
            .iter()
            .map(|name| key_definition(name).map(|(cap, _)| cap))
            .collect::<Result<_>>()?;
        Ok(Self { held, key, shifted })
    }

    /// Returns the step that presses the key, with these modifiers.
    pub(crate) fn down(&self, already: &[Modifier]) -> InputStep {
        let mut down = already.to_vec();
        if let Some(modifier) = self
            .key
            .modifier()
            .filter(|modifier| !down.contains(modifier))
        {
            down.push(modifier);
        }
        key_down(self.key.key(self.shifted, already), &down)
    }

    /// Returns the step that releases the key.
    pub(crate) fn up(&self, already: &[Modifier]) -> InputStep {
        let mut down = already.to_vec();
        down.retain(|held| Some(*held) != self.key.modifier());
        key_up(self.key.key(self.shifted, already), &down)
    }

    /// Returns the steps that press and release every key in order; `already` are modifiers that are pressed anyway.
    pub(crate) fn press(&self, already: &[Modifier]) -> Vec<InputStep> {
        let mut down = already.to_vec();
        let mut steps = Vec::new();
        let mut ups = Vec::new();
        for cap in &self.held {
            if let Some(modifier) = cap.modifier().filter(|modifier| !down.contains(modifier)) {
                down.push(modifier);
            }
            steps.push(key_down(cap.key(false, &[]), &down));
            ups.push(*cap);
        }
        let before = down.clone();
        if let Some(modifier) = self.key.modifier() {
            down.push(modifier);
        }
        let key = self.key.key(self.shifted, &before);
        steps.push(key_down(key.clone(), &down));
        down = before;
        steps.push(key_up(key, &down));
        for cap in ups.into_iter().rev() {
            if let Some(modifier) = cap
                .modifier()
                .filter(|modifier| !already.contains(modifier))
            {
                down.retain(|held| *held != modifier);
            }
            steps.push(key_up(cap.key(false, &[]), &down));
        }
        steps
    }
}

/// Returns the steps that type a character as a key press, or that insert it if no key has it.
pub(crate) fn type_char(c: char, already: &[Modifier]) -> Vec<InputStep> {
    let name = match c {
        '\n' | '\r' => "Enter".to_owned(),
        '\t' => "Tab".to_owned(),
        c => c.to_string(),
    };
    match key_definition(&name) {
        Ok((key, shifted)) => Shortcut {
            held: Vec::new(),
            key,
            shifted,
        }
        .press(already),
        Err(_) => vec![InputStep::InsertText { text: name }],
    }
}

/// Returns the steps that press modifiers, and the steps that release them.
pub(crate) fn hold(
    modifiers: &[Modifier],
    already: &[Modifier],
) -> (Vec<InputStep>, Vec<InputStep>) {
    let mut held = already.to_vec();
    let mut down = Vec::new();
    let mut up = Vec::new();
    for modifier in modifiers {
        if held.contains(modifier) {
            continue;
        }
        let Ok((cap, _)) = key_definition(&modifier.to_string()) else {
            continue;
        };
        up.push(key_up(cap.key(false, &[]), &held));
        held.push(*modifier);
        down.push(key_down(cap.key(false, &[]), &held));
    }
    up.reverse();
    (down, up)
}

fn key_down(key: Key, modifiers: &[Modifier]) -> InputStep {
    InputStep::KeyDown {
        key,
        modifiers: modifiers.to_vec(),
        repeat: false,
    }
}

fn key_up(key: Key, modifiers: &[Modifier]) -> InputStep {
    InputStep::KeyUp {
        key,
        modifiers: modifiers.to_vec(),
    }
}

/// The key of `ControlOrMeta` in shortcuts: Command on a Mac.
pub(crate) const CONTROL_OR_META: Modifier = if cfg!(target_os = "macos") {
    Modifier::Meta
} else {
    Modifier::Control
};

/// Splits at `+`, unless that is the key itself.
fn split(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    for c in text.chars() {
        match names.last_mut() {
            Some(name) if c == '+' && !name.is_empty() => names.push(String::new()),
            Some(name) => name.push(c),
            None => {}
        }
    }
    names
}

/// Other names of keys, in lower case.
const OTHER_NAMES: [(&str, &str); 21] = [
    ("esc", "Escape"),
    ("ctrl", "Control"),
    ("cmd", "Meta"),
    ("command", "Meta"),
    ("super", "Meta"),
    ("win", "Meta"),
    ("option", "Alt"),
    ("opt", "Alt"),
    ("mod", "ControlOrMeta"),
    ("return", "Enter"),
    ("del", "Delete"),
    ("ins", "Insert"),
    ("up", "ArrowUp"),
    ("down", "ArrowDown"),
    ("left", "ArrowLeft"),
    ("right", "ArrowRight"),
    ("pgup", "PageUp"),
    ("pgdn", "PageDown"),
    ("pgdown", "PageDown"),
    ("spacebar", "Space"),
    ("shift", "Shift"),
];

/// Returns the key that an unknown name probably means: one that other programs call so, or the same in other letters.
pub fn similar_key(name: &str) -> Option<&'static str> {
    let name = name
        .trim()
        .to_ascii_lowercase()
        .replace(['-', '_', ' '], "");
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == name);
    let modifiers = ["Control", "Alt", "Meta", "ControlOrMeta"];
    let same = || {
        let mut known = NAMES.keys().copied().chain(modifiers);
        known.find(|known| known.len() > 1 && known.eq_ignore_ascii_case(&name))
    };
    other.map(|(_, key)| *key).or_else(same)
}

fn key_definition(name: &str) -> Result<(&'static KeyDefinition, bool)> {
    let alias = match name {
        "Shift" => "ShiftLeft",
        "Control" => "ControlLeft",
        "Alt" => "AltLeft",
        "Meta" => "MetaLeft",
        "ControlOrMeta" if CONTROL_OR_META == Modifier::Meta => "MetaLeft",
        "ControlOrMeta" => "ControlLeft",
        "\n" | "\r" => "Enter",
        name => name,
    };
    NAMES.get(alias).copied().ok_or_else(|| Error::UnknownKey {
        key: name.to_owned(),
    })
}

/// A key definition. <https://www.w3.org/TR/uievents-code/>
#[derive(Debug, PartialEq, Eq)]
struct KeyDefinition {
    code: &'static str,
    key_code: u32,
    key: &'static str,
    /// The value and the key code with Shift.
    shifted: Option<(&'static str, u32)>,
    location: u32,
}

impl KeyDefinition {
    fn modifier(&self) -> Option<Modifier> {
        self.key.parse().ok()
    }

    fn key(&self, shifted: bool, held: &[Modifier]) -> Key {
        let (key, key_code) = match self.shifted {
            Some(with_shift) if shifted || held.contains(&Modifier::Shift) => with_shift,
            _ => (self.key, self.key_code),
        };
        // With Control, Alt or Meta, a key inserts no text.
        let types = held.iter().all(|modifier| *modifier == Modifier::Shift);
        let text = match key {
            "Enter" => Some("\r"),
            key if key.chars().count() == 1 => Some(key),
            _ => None,
        };
        Key {
            key: key.to_owned(),
            code: self.code.to_owned(),
            key_code,
            text: text.filter(|_| types).map(str::to_owned),
            location: self.location,
        }
    }
}

static NAMES: LazyLock<HashMap<&'static str, (&'static KeyDefinition, bool)>> =
    LazyLock::new(|| {
        let mut names = HashMap::new();
        for cap in KEY_DEFINITIONS {
            names.insert(cap.code, (cap, false));
        }
        for cap in KEY_DEFINITIONS {
            names.entry(cap.key).or_insert((cap, false));
        }
        for cap in KEY_DEFINITIONS {
            if let Some((key, _)) = cap.shifted {
                names.entry(key).or_insert((cap, true));
            }
        }
        names
    });

const fn plain(code: &'static str, key_code: u32, key: &'static str) -> KeyDefinition {
    KeyDefinition {
        code,
        key_code,
        key,
        shifted: None,
        location: 0,
    }
}

const fn pair(
    code: &'static str,
    key_code: u32,
    key: &'static str,
    shifted: &'static str,
) -> KeyDefinition {
    KeyDefinition {
        code,
        key_code,
        key,
        shifted: Some((shifted, key_code)),
        location: 0,
    }
}

const fn side(
    code: &'static str,
    key_code: u32,
    key: &'static str,
    location: u32,
) -> KeyDefinition {
    KeyDefinition {
        code,
        key_code,
        key,
        shifted: None,
        location,
    }
}

/// Returns a key of the numeric keypad, whose value with Shift is its digit.
const fn pad(
    code: &'static str,
    key_code: u32,
    key: &'static str,
    digit: (&'static str, u32),
) -> KeyDefinition {
    KeyDefinition {
        code,
        key_code,
        key,
        shifted: Some(digit),
        location: 3,
    }
}

#[rustfmt::skip]
static KEY_DEFINITIONS: &[KeyDefinition] = &[
    plain("Escape", 27, "Escape"),
    plain("F1", 112, "F1"), plain("F2", 113, "F2"), plain("F3", 114, "F3"), plain("F4", 115, "F4"),
    plain("F5", 116, "F5"), plain("F6", 117, "F6"), plain("F7", 118, "F7"), plain("F8", 119, "F8"),
    plain("F9", 120, "F9"), plain("F10", 121, "F10"), plain("F11", 122, "F11"), plain("F12", 123, "F12"),
    plain("F13", 124, "F13"), plain("F14", 125, "F14"), plain("F15", 126, "F15"), plain("F16", 127, "F16"),
    plain("F17", 128, "F17"), plain("F18", 129, "F18"), plain("F19", 130, "F19"), plain("F20", 131, "F20"),
    plain("F21", 132, "F21"), plain("F22", 133, "F22"), plain("F23", 134, "F23"), plain("F24", 135, "F24"),
    pair("Backquote", 192, "`", "~"),
    pair("Digit1", 49, "1", "!"), pair("Digit2", 50, "2", "@"), pair("Digit3", 51, "3", "#"), pair("Digit4", 52, "4", "$"),
    pair("Digit5", 53, "5", "%"), pair("Digit6", 54, "6", "^"), pair("Digit7", 55, "7", "&"), pair("Digit8", 56, "8", "*"),
    pair("Digit9", 57, "9", "("), pair("Digit0", 48, "0", ")"), pair("Minus", 189, "-", "_"), pair("Equal", 187, "=", "+"),
    pair("Backslash", 220, "\\", "|"),
    plain("Backspace", 8, "Backspace"), plain("Tab", 9, "Tab"), plain("Enter", 13, "Enter"),
    pair("KeyQ", 81, "q", "Q"), pair("KeyW", 87, "w", "W"), pair("KeyE", 69, "e", "E"), pair("KeyR", 82, "r", "R"),
    pair("KeyT", 84, "t", "T"), pair("KeyY", 89, "y", "Y"), pair("KeyU", 85, "u", "U"), pair("KeyI", 73, "i", "I"),
    pair("KeyO", 79, "o", "O"), pair("KeyP", 80, "p", "P"), pair("BracketLeft", 219, "[", "{"), pair("BracketRight", 221, "]", "}"),
    pair("KeyA", 65, "a", "A"), pair("KeyS", 83, "s", "S"), pair("KeyD", 68, "d", "D"), pair("KeyF", 70, "f", "F"),
    pair("KeyG", 71, "g", "G"), pair("KeyH", 72, "h", "H"), pair("KeyJ", 74, "j", "J"), pair("KeyK", 75, "k", "K"),
    pair("KeyL", 76, "l", "L"), pair("Semicolon", 186, ";", ":"), pair("Quote", 222, "'", "\""),
    pair("KeyZ", 90, "z", "Z"), pair("KeyX", 88, "x", "X"), pair("KeyC", 67, "c", "C"), pair("KeyV", 86, "v", "V"),
    pair("KeyB", 66, "b", "B"), pair("KeyN", 78, "n", "N"), pair("KeyM", 77, "m", "M"),
    pair("Comma", 188, ",", "<"), pair("Period", 190, ".", ">"), pair("Slash", 191, "/", "?"),
    plain("Space", 32, " "), plain("CapsLock", 20, "CapsLock"), plain("ContextMenu", 93, "ContextMenu"),
    side("ShiftLeft", 16, "Shift", 1), side("ShiftRight", 16, "Shift", 2),
    side("ControlLeft", 17, "Control", 1), side("ControlRight", 17, "Control", 2),
    side("AltLeft", 18, "Alt", 1), side("AltRight", 18, "Alt", 2),
    side("MetaLeft", 91, "Meta", 1), side("MetaRight", 92, "Meta", 2), plain("AltGraph", 225, "AltGraph"),
    plain("PrintScreen", 44, "PrintScreen"), plain("ScrollLock", 145, "ScrollLock"), plain("Pause", 19, "Pause"),
    plain("PageUp", 33, "PageUp"), plain("PageDown", 34, "PageDown"), plain("Insert", 45, "Insert"), plain("Delete", 46, "Delete"),
    plain("Home", 36, "Home"), plain("End", 35, "End"),
    plain("ArrowLeft", 37, "ArrowLeft"), plain("ArrowUp", 38, "ArrowUp"), plain("ArrowRight", 39, "ArrowRight"), plain("ArrowDown", 40, "ArrowDown"),
    plain("NumLock", 144, "NumLock"),
    side("NumpadDivide", 111, "/", 3), side("NumpadMultiply", 106, "*", 3), side("NumpadSubtract", 109, "-", 3), side("NumpadAdd", 107, "+", 3),
    side("NumpadEnter", 13, "Enter", 3), pad("NumpadDecimal", 46, "Delete", (".", 110)),
    pad("Numpad0", 45, "Insert", ("0", 96)), pad("Numpad1", 35, "End", ("1", 97)), pad("Numpad2", 40, "ArrowDown", ("2", 98)),
    pad("Numpad3", 34, "PageDown", ("3", 99)), pad("Numpad4", 37, "ArrowLeft", ("4", 100)), pad("Numpad5", 12, "Clear", ("5", 101)),
    pad("Numpad6", 39, "ArrowRight", ("6", 102)), pad("Numpad7", 36, "Home", ("7", 103)), pad("Numpad8", 38, "ArrowUp", ("8", 104)),
    pad("Numpad9", 33, "PageUp", ("9", 105)),
    plain("AudioVolumeMute", 173, "AudioVolumeMute"), plain("AudioVolumeDown", 174, "AudioVolumeDown"), plain("AudioVolumeUp", 175, "AudioVolumeUp"),
    plain("MediaTrackNext", 176, "MediaTrackNext"), plain("MediaTrackPrevious", 177, "MediaTrackPrevious"),
    plain("MediaStop", 178, "MediaStop"), plain("MediaPlayPause", 179, "MediaPlayPause"),
    plain("BrowserBack", 166, "BrowserBack"), plain("BrowserForward", 167, "BrowserForward"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(steps: &[InputStep]) -> Vec<String> {
        steps
            .iter()
            .map(|step| match step {
                InputStep::KeyDown { key, modifiers, .. } => {
                    format!(
                        "+{}{}{modifiers:?}",
                        key.key,
                        key.text
                            .as_deref()
                            .map_or(String::new(), |text| format!("={text}"))
                    )
                }
                InputStep::KeyUp { key, modifiers } => format!("-{}{modifiers:?}", key.key),
                InputStep::InsertText { text } => format!("insert {text}"),
                other => format!("{other:?}"),
            })
            .collect()
    }

    fn press(text: &str) -> Vec<String> {
        shown(&Shortcut::parse(text).unwrap().press(&[]))
    }

    #[test]
    fn a_letter_is_typed() {
        assert_eq!(press("a"), ["+a=a[]", "-a[]"]);
        assert_eq!(press("A"), ["+A=A[]", "-A[]"]);
        assert_eq!(press("KeyA"), ["+a=a[]", "-a[]"]);
    }

    #[test]
    fn shift_gives_the_upper_sign() {
        assert_eq!(
            press("Shift+a"),
            ["+Shift[Shift]", "+A=A[Shift]", "-A[Shift]", "-Shift[]"]
        );
    }

    #[test]
    fn a_shortcut_with_control_types_no_text() {
        assert_eq!(
            press("Control+a"),
            [
                "+Control[Control]",
                "+a[Control]",
                "-a[Control]",
                "-Control[]"
            ]
        );
    }

    #[test]
    fn plus_is_a_key_too() {
        assert_eq!(press("+"), ["+\u{2b}=+[]", "-+[]"]);
        assert_eq!(press("Control++")[1], "++[Control]");
    }

    #[test]
    fn a_single_modifier_is_held_while_it_is_down() {
        assert_eq!(press("Shift"), ["+Shift[Shift]", "-Shift[]"]);
    }

    #[test]
    fn enter_types_a_line_break() {
        assert_eq!(press("Enter"), ["+Enter=\r[]", "-Enter[]"]);
        assert_eq!(shown(&type_char('\n', &[])), press("Enter"));
    }

    #[test]
    fn text_without_a_key_is_inserted() {
        assert_eq!(shown(&type_char('é', &[])), ["insert é"]);
    }

    #[test]
    fn an_unknown_key_is_named() {
        let error = Shortcut::parse("Control+NoSuchKey").unwrap_err();
        assert_eq!(error.to_string(), "Unknown key: \"NoSuchKey\"");
        assert!(Shortcut::parse("").is_err());
    }

    #[test]
    fn a_similar_key_is_found() {
        for (name, key) in [
            ("Esc", Some("Escape")),
            ("ctrl", Some("Control")),
            ("SHIFT", Some("Shift")),
            ("control", Some("Control")),
            ("page-down", Some("PageDown")),
            ("arrowleft", Some("ArrowLeft")),
            ("ENTER", Some("Enter")),
            ("keya", Some("KeyA")),
            ("NoSuchKey", None),
            ("", None),
        ] {
            assert_eq!(similar_key(name), key, "{name}");
            assert!(key.is_none_or(|key| Shortcut::parse(key).is_ok()), "{name}");
        }
    }

    #[test]
    fn everything_that_is_pressed_is_released() {
        let mut pressed = Pressed::default();
        for key in ["Shift", "w", "x"] {
            let step = Shortcut::parse(key).unwrap().down(&pressed.modifiers);
            pressed.apply(&step);
        }
        pressed.apply(&pressed.down(MouseButton::Left, 1));
        pressed.apply(&Shortcut::parse("x").unwrap().up(&pressed.modifiers));
        let steps = pressed.back_to(&Pressed::default());
        assert_eq!(shown(&steps)[1..], ["-W[Shift]", "-Shift[]"]);
        assert!(matches!(steps[0], InputStep::MouseUp { .. }));
        let released = steps.iter().fold(pressed, |held, step| held.after(step));
        assert_eq!(released, Pressed::default());
    }

    #[test]
    fn modifiers_are_released_in_reverse_order() {
        let (down, up) = hold(&[Modifier::Control, Modifier::Shift], &[]);
        assert_eq!(
            shown(&down),
            ["+Control[Control]", "+Shift[Control, Shift]"]
        );
        assert_eq!(shown(&up), ["-Shift[Control]", "-Control[]"]);
    }

    proptest! {
        #[test]
        fn any_text_is_a_shortcut_or_an_unknown_key(text in ".{0,20}") {
            match Shortcut::parse(&text) {
                Ok(_) => {}
                Err(Error::UnknownKey { key }) => prop_assert!(text.contains(&key)),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }

        #[test]
        fn pressed_keys_are_released(
            modifiers in proptest::sample::subsequence(vec!["Shift", "Control", "Alt", "Meta"], 0..4),
            key in proptest::sample::select(KEY_DEFINITIONS.iter().map(|cap| cap.key).collect::<Vec<_>>()),
        ) {
            let text = modifiers.iter().copied().chain([key]).collect::<Vec<_>>().join("+");
            let steps = Shortcut::parse(&text).unwrap().press(&[]);
            let down = steps.iter().filter(|step| matches!(step, InputStep::KeyDown { .. })).count();
            let up = steps.iter().filter(|step| matches!(step, InputStep::KeyUp { .. })).count();
            prop_assert_eq!(down, up);
            prop_assert_eq!(down, modifiers.len() + 1);
            let left = match steps.last() {
                Some(InputStep::KeyUp { modifiers, .. }) => modifiers.clone(),
                _ => vec![Modifier::Alt],
            };
            prop_assert!(left.is_empty());
        }
    }
}
