//! Trusted input: one gesture, one command.

use super::WebDriverPage;
use crate::backend::{Evaluation, Input, InputStep, Point, gesture};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use wire::actions::{Action, Source};
use wire::webdriver::action::{PerformActions, ReleaseActions};

#[async_trait]
impl Input for WebDriverPage {
    async fn input(&self, steps: &[InputStep]) -> Result<()> {
        self.mark_last_used();
        self.devices.act(self, steps).await
    }
}

#[async_trait]
impl gesture::ActionsOrigin for WebDriverPage {
    /// The driver takes whole pixels.
    fn inside(&self, point: Point) -> Point {
        Point {
            x: point.x.floor(),
            y: point.y.floor(),
        }
    }

    async fn perform(&self, actions: Vec<Source>) -> Result<()> {
        // There is one mouse for all windows, and a place where it is said to be already tells a page nothing.
        if self.parts.acquire_input(&self.id) {
            self.send_to_main(&ReleaseActions {}).await?;
        }
        if self.has_inspector() && presses_another_button(&actions) {
            return self.perform_separately(actions).await;
        }
        self.record_mouse_position(&actions);
        let types = |source: &Source| matches!(source, Source::Key { .. });
        if actions.iter().all(types) {
            return match self.send_to_focused(&PerformActions { actions }).await {
                Err(Error::DocumentGone {}) => Ok(()),
                done => done.map(drop),
            };
        }
        match self.send_to_main(&PerformActions { actions }).await {
            // The document that it was for has gone by the last of it.
            Err(Error::DocumentGone {}) => Ok(()),
            done => done.map(drop),
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
}

impl WebDriverPage {
    /// Says each step of the mouse to the browser itself: its driver lets go of the left button, whichever was pressed.
    async fn perform_separately(&self, actions: Vec<Source>) -> Result<()> {
        let length = actions.iter().map(|source| actions_of(source).len()).max();
        for tick in 0..length.unwrap_or(0) {
            let mut rest = Vec::new();
            for source in &actions {
                let Some(action) = actions_of(source).get(tick) else {
                    continue;
                };
                match action {
                    Action::Pause { .. } => {}
                    Action::PointerMove { x, y } => {
                        self.state().mouse = (*x, *y);
                        self.send_mouse("Move", "None").await?;
                    }
                    Action::PointerDown { button } => {
                        self.send_mouse("Down", button_name(*button)).await?
                    }
                    Action::PointerUp { button } => {
                        self.send_mouse("Up", button_name(*button)).await?
                    }
                    _ => rest.push(single_action(source, action.clone())),
                }
            }
            if !rest.is_empty() {
                self.send_to_main(&PerformActions { actions: rest }).await?;
            }
        }
        Ok(())
    }

    async fn send_mouse(&self, interaction: &str, button: &str) -> Result<()> {
        let (x, y) = self.state().mouse;
        let said = json!({
            "handle": self.window,
            "position": { "x": x, "y": y },
            "button": button,
            "interaction": interaction,
            "modifiers": [],
        });
        let inspector = self.parts.inspector()?;
        let asked = inspector.automate::<Value>("Automation.performMouseInteraction", &said);
        tokio::select! {
            biased;
            done = asked => done.map(drop),
            // What it led to waits for its answer, and so does this.
            () = self.wait_for_dialog() => Ok(()),
        }
    }

    /// Where the mouse is after these.
    fn record_mouse_position(&self, actions: &[Source]) {
        let last = actions
            .iter()
            .flat_map(actions_of)
            .rev()
            .find_map(|action| match action {
                Action::PointerMove { x, y } => Some((*x, *y)),
                _ => None,
            });
        if let Some(last) = last {
            self.state().mouse = last;
        }
    }
}

fn actions_of(source: &Source) -> &[Action] {
    match source {
        Source::Key { actions, .. }
        | Source::Pointer { actions, .. }
        | Source::Wheel { actions, .. } => actions,
    }
}

/// One action of a device.
fn single_action(source: &Source, action: Action) -> Source {
    let actions = vec![action];
    match source {
        Source::Key { id, .. } => Source::Key { id, actions },
        Source::Pointer { id, .. } => Source::Pointer { id, actions },
        Source::Wheel { id, .. } => Source::Wheel { id, actions },
    }
}

fn presses_another_button(actions: &[Source]) -> bool {
    actions.iter().flat_map(actions_of).any(|action| {
        matches!(
            action,
            Action::PointerDown { button } | Action::PointerUp { button } if *button > 0
        )
    })
}

/// The browser's name for a button.
fn button_name(button: u8) -> &'static str {
    match button {
        1 => "Middle",
        2 => "Right",
        _ => "Left",
    }
}
