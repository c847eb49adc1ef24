//! Trusted input: one command for each sequence of actions.
//!
//! The command has a state of each input source for each tick, and the browser finds out what changed.
//! <https://github.com/WebKit/WebKit/blob/main/Source/WebKit/UIProcess/Automation/SimulatedInputDispatcher.cpp>

use super::WebKitPage;
use crate::backend::{Evaluation, Input, InputStep, PageBackend as _, Point, gesture};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use wire::actions::{Action, Source};

/// The state of the keyboard and the wheel, which the browser compares with the next one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pressed {
    /// The key that types a character.
    char: Option<String>,
    /// The other keys, by their names.
    keys: Vec<&'static str>,
    /// The sum of the distances that the wheel was scrolled.
    scrolled: (i64, i64),
}

#[async_trait]
impl Input for WebKitPage {
    fn inserts_text(&self) -> bool {
        false
    }

    async fn input(&self, steps: &[InputStep]) -> Result<()> {
        self.mark_last_used();
        self.devices.act(self, steps).await
    }
}

#[async_trait]
impl gesture::ActionsOrigin for WebKitPage {
    /// The browser accepts only whole pixels.
    fn inside(&self, point: Point) -> Point {
        Point {
            x: point.x.floor(),
            y: point.y.floor(),
        }
    }

    async fn perform(&self, actions: Vec<Source>) -> Result<()> {
        // All windows share the input sources, and a move to the position that the mouse has already is not reported to the page.
        if self.parts.acquire_input(&self.id) {
            if self.parts.pressed().scrolled != (0, 0) {
                // The browser scrolls back by the sum. A document without the script has no position to lose.
                let _ = self.call(&self.main, "swallowWheel", &Value::Null).await;
            }
            self.activate().await?;
            self.cancel_input().await?;
        }
        let steps = self.steps(&actions);
        let sources = actions.iter().map(|source| {
            let (id, kind) = identity(source);
            json!({ "sourceId": id, "sourceType": kind })
        });
        let params = json!({
            "frameHandle": "",
            "inputSources": sources.collect::<Vec<_>>(),
            "steps": steps,
        });
        let mut running = Running(self.itself());
        let method = "Automation.performInteractionSequence";
        let performed = self.automate::<Value>(method, "handle", params);
        let performed = tokio::select! {
            biased;
            performed = performed => performed,
            // The browser answers after the dialog is closed.
            () = self.wait_for_dialog() => Ok(Value::Null),
        };
        running.0 = None;
        match performed {
            // An action may end its document.
            Err(Error::DocumentGone {}) => Ok(()),
            performed => performed.map(drop),
        }
    }

    async fn drag(&self, function: &str, at: Point) -> Result<bool> {
        let point = json!({ "x": at.x, "y": at.y });
        let main = self.main.clone();
        match self.call(&main, function, &point).await {
            Ok(answer) => Ok(answer == "true"),
            Err(Error::DocumentGone {}) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn prevent_clicks(&self, at: Point, count: u32) -> Result<bool> {
        let main = self.main.clone();
        // With a click of another button, WebKit begins to count again.
        let arguments = [json!(at.x), json!(at.y), json!(count + 1)];
        let answer = self.run(&main, gesture::PREVENT_CLICKS, &arguments).await?;
        if answer != "prevented" {
            return Ok(false);
        }
        let button = 1;
        let actions = vec![Action::PointerDown { button }, Action::PointerUp { button }];
        let id = "mouse";
        self.perform(vec![Source::Pointer { id, actions }]).await?;
        Ok(true)
    }
}

/// A sequence in progress. The browser accepts no other one in the window until it has ended, so a dropped one is cancelled.
struct Running(Option<Arc<WebKitPage>>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(page) = self.0.take() {
            task::spawn("cancelling input", async move {
                let cancelled = page.cancel_input().await;
                tracing::debug!(?cancelled, "cancelled input");
            })
            .detach();
        }
    }
}

impl WebKitPage {
    /// Ends the sequence that is in progress in the window, and resets the input sources.
    async fn cancel_input(&self) -> Result<()> {
        let method = "Automation.cancelInteractionSequence";
        let params = json!({ "frameHandle": "" });
        self.automate::<Value>(method, "handle", params).await?;
        *self.parts.pressed() = Pressed::default();
        Ok(())
    }

    /// Returns the states of the input sources for each tick.
    fn steps(&self, sources: &[Source]) -> Vec<Value> {
        let length = sources.iter().map(|source| actions_of(source).len()).max();
        let mut pressed = self.parts.pressed();
        let steps = (0..length.unwrap_or(0)).map(|tick| {
            let states = sources.iter().map(|source| {
                let (id, _) = identity(source);
                let action = actions_of(source).get(tick);
                let mut state = match source {
                    Source::Key { .. } => pressed.keyboard(action),
                    Source::Pointer { .. } => mouse(action),
                    Source::Wheel { .. } => pressed.wheel(action),
                };
                state["sourceId"] = id.into();
                state
            });
            json!({ "states": states.collect::<Vec<_>>() })
        });
        steps.collect()
    }
}

impl Pressed {
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

fn mouse(action: Option<&Action>) -> Value {
    match action {
        Some(Action::PointerMove { x, y }) => json!({
            "mouseInteraction": "Move",
            "origin": "Viewport",
            "location": { "x": x, "y": y },
        }),
        Some(Action::PointerDown { button }) => {
            json!({ "mouseInteraction": "Down", "pressedButton": button_name(*button) })
        }
        Some(Action::PointerUp { button }) => {
            json!({ "mouseInteraction": "Up", "pressedButton": button_name(*button) })
        }
        _ => json!({}),
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
        let mut pressed = Pressed::default();
        let down = |value: &str| Action::KeyDown {
            value: value.to_owned(),
        };
        pressed.keyboard(Some(&down("\u{E008}")));
        let state = pressed.keyboard(Some(&down("a")));
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
            deltas.push(pressed.wheel(action)["delta"]["height"].clone());
        }
        assert_eq!(deltas, [100, 200, 200, 300]);
    }
}
