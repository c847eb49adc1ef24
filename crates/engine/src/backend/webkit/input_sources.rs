//! The states of input sources: a command has the state of each source for each tick, and the browser finds out what has changed.
//!
//! <https://github.com/WebKit/WebKit/blob/main/Source/WebKit/UIProcess/Automation/SimulatedInputDispatcher.cpp>

use serde_json::{Value, json};
use wire::actions::{Action, Source};

/// The states of the keyboard and the wheel, which the browser compares with the next ones.
#[derive(Debug, Clone, Default)]
pub(super) struct InputSources {
    /// The key that types a character.
    char: Option<String>,
    /// The other keys, by their names.
    keys: Vec<&'static str>,
    /// The number of pressed buttons of the mouse.
    pressed: u8,
    /// The sum of the distances that the wheel was scrolled.
    scrolled: (i64, i64),
}

impl InputSources {
    /// Returns the parameters of a command that performs actions: the sources, and their states for each tick.
    pub(super) fn sequence(&mut self, sources: &[Source]) -> Value {
        let length = sources.iter().map(|source| actions_of(source).len()).max();
        let steps = (0..length.unwrap_or(0)).map(|tick| {
            let states = sources.iter().map(|source| {
                let (id, _) = identity(source);
                let action = actions_of(source).get(tick);
                let mut state = match source {
                    Source::Key { .. } => self.keyboard(action),
                    Source::Pointer { .. } => self.mouse(action),
                    Source::Wheel { .. } => self.wheel(action),
                };
                state["sourceId"] = id.into();
                state
            });
            json!({ "states": states.collect::<Vec<_>>() })
        });
        let steps: Vec<_> = steps.collect();
        let sources = sources.iter().map(|source| {
            let (id, kind) = identity(source);
            json!({ "sourceId": id, "sourceType": kind })
        });
        json!({ "inputSources": sources.collect::<Vec<_>>(), "steps": steps })
    }

    /// Whether the wheel has a distance that its reset would scroll back.
    pub(super) fn has_scrolled(&self) -> bool {
        self.scrolled != (0, 0)
    }

    /// Whether a button of the mouse is pressed.
    pub(super) fn is_pressed(&self) -> bool {
        self.pressed > 0
    }

    fn keyboard(&mut self, action: Option<&Action>) -> Value {
        match action {
            Some(Action::KeyDown { value }) => match virtual_key(value) {
                Some(key) if self.keys.contains(&key) => {}
                Some(key) => self.keys.push(key),
                None => self.char = Some(value.clone()),
            },
            Some(Action::KeyUp { value }) => match virtual_key(value) {
                Some(key) => self.keys.retain(|pressed| *pressed != key),
                None => self.char = None,
            },
            _ => {}
        }
        let mut state = json!({ "pressedVirtualKeys": self.keys });
        if let Some(char) = &self.char {
            state["pressedCharKey"] = char.as_str().into();
        }
        state
    }

    fn mouse(&mut self, action: Option<&Action>) -> Value {
        match action {
            Some(Action::PointerMove { x, y }) => json!({
                "mouseInteraction": "Move",
                "origin": "Viewport",
                "location": { "x": x, "y": y },
            }),
            Some(Action::PointerDown { button }) => {
                self.pressed += 1;
                json!({ "mouseInteraction": "Down", "pressedButton": button_name(*button) })
            }
            Some(Action::PointerUp { button }) => {
                self.pressed = self.pressed.saturating_sub(1);
                json!({ "mouseInteraction": "Up", "pressedButton": button_name(*button) })
            }
            _ => json!({}),
        }
    }

    /// The distance is a state that lasts beyond the command: the browser scrolls by the difference to the previous one.
    fn wheel(&mut self, action: Option<&Action>) -> Value {
        let mut state = json!({});
        if let Some(Action::Scroll {
            x,
            y,
            delta_x,
            delta_y,
        }) = action
        {
            self.scrolled = (self.scrolled.0 + delta_x, self.scrolled.1 + delta_y);
            state["origin"] = "Viewport".into();
            state["location"] = json!({ "x": x, "y": y });
        }
        let (width, height) = self.scrolled;
        state["delta"] = json!({ "width": width, "height": height });
        state
    }
}

fn actions_of(source: &Source) -> &[Action] {
    match source {
        Source::Key { actions, .. }
        | Source::Pointer { actions, .. }
        | Source::Wheel { actions, .. } => actions,
    }
}

/// Returns the identifier and the type of a source.
fn identity(source: &Source) -> (&'static str, &'static str) {
    match source {
        Source::Key { id, .. } => (id, "Keyboard"),
        Source::Pointer { id, .. } => (id, "Mouse"),
        Source::Wheel { id, .. } => (id, "Wheel"),
    }
}

/// Returns the browser's name for a button.
fn button_name(button: u8) -> &'static str {
    match button {
        1 => "Middle",
        2 => "Right",
        _ => "Left",
    }
}

/// Returns the browser's name for a key of WebDriver that types no character.
fn virtual_key(value: &str) -> Option<&'static str> {
    const FIRST: u32 = 0xE001;
    /// The keys from U+E001 on.
    const KEYS: [&str; 41] = [
        "Cancel",
        "Help",
        "Backspace",
        "Tab",
        "Clear",
        "Return",
        "Enter",
        "Shift",
        "Control",
        "Alternate",
        "Pause",
        "Escape",
        "Space",
        "PageUp",
        "PageDown",
        "End",
        "Home",
        "LeftArrow",
        "UpArrow",
        "RightArrow",
        "DownArrow",
        "Insert",
        "Delete",
        "Semicolon",
        "Equals",
        "NumberPad0",
        "NumberPad1",
        "NumberPad2",
        "NumberPad3",
        "NumberPad4",
        "NumberPad5",
        "NumberPad6",
        "NumberPad7",
        "NumberPad8",
        "NumberPad9",
        "NumberPadMultiply",
        "NumberPadAdd",
        "NumberPadSeparator",
        "NumberPadSubtract",
        "NumberPadDecimal",
        "NumberPadDivide",
    ];
    /// The keys from U+E031 on.
    const FUNCTIONS: [&str; 13] = [
        "Function1",
        "Function2",
        "Function3",
        "Function4",
        "Function5",
        "Function6",
        "Function7",
        "Function8",
        "Function9",
        "Function10",
        "Function11",
        "Function12",
        "Meta",
    ];
    let mut chars = value.chars();
    let code = u32::from(chars.next()?);
    if chars.next().is_some() {
        return None;
    }
    let at = |first: u32| usize::try_from(code.checked_sub(first)?).ok();
    match code {
        0xE050 => Some("Shift"),
        0xE051 => Some("Control"),
        0xE052 => Some("Alternate"),
        0xE053 => Some("Meta"),
        0xE031.. => FUNCTIONS.get(at(0xE031)?).copied(),
        _ => KEYS.get(at(FIRST)?).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_names_of_the_browser() {
        for (value, name) in [
            ("\u{E003}", Some("Backspace")),
            ("\u{E006}", Some("Return")),
            ("\u{E00D}", Some("Space")),
            ("\u{E017}", Some("Delete")),
            ("\u{E029}", Some("NumberPadDivide")),
            ("\u{E03C}", Some("Function12")),
            ("\u{E03D}", Some("Meta")),
            ("\u{E053}", Some("Meta")),
            ("\u{E040}", None),
            ("a", None),
            ("e\u{301}", None),
        ] {
            assert_eq!(virtual_key(value), name, "{value:?}");
        }
    }

    #[test]
    fn keys_and_scrolls_are_states() {
        let mut sources = InputSources::default();
        let down = |value: &str| Action::KeyDown {
            value: value.to_owned(),
        };
        sources.keyboard(Some(&down("\u{E008}")));
        let state = sources.keyboard(Some(&down("a")));
        assert_eq!(
            state,
            json!({ "pressedVirtualKeys": ["Shift"], "pressedCharKey": "a" })
        );
        let scroll = Action::Scroll {
            x: 1,
            y: 2,
            delta_x: 0,
            delta_y: 100,
        };
        let mut deltas = Vec::new();
        for action in [Some(&scroll), Some(&scroll), None, Some(&scroll)] {
            deltas.push(sources.wheel(action)["delta"]["height"].clone());
        }
        assert_eq!(deltas, [100, 200, 200, 300]);
    }
}
