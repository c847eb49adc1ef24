//! Trusted input: one gesture, one command.

use super::page::WebDriverPage;
use crate::backend::{InputStep, Point, gesture};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use wire::actions::{Action, Source};
use wire::webdriver::action::{PerformActions, ReleaseActions};

#[async_trait]
impl gesture::Ground for WebDriverPage {
    /// The driver takes whole pixels.
    fn inside(&self, point: Point) -> Point {
        Point {
            x: point.x.floor(),
            y: point.y.floor(),
        }
    }

    async fn perform(&self, actions: Vec<Source>) -> Result<()> {
        // There is one mouse for all windows, and a place where it is said to be already tells a page nothing.
        if self.context()?.takes_devices(self.page_id()) {
            self.ask(&ReleaseActions {}).await?;
        }
        if self.is_heard() && presses_another_button(&actions) {
            return self.act_one_by_one(actions).await;
        }
        self.remember_mouse(&actions);
        let types = |source: &Source| matches!(source, Source::Key { .. });
        if actions.iter().all(types) {
            return match self.ask_focused(&PerformActions { actions }).await {
                Err(Error::DocumentGone {}) => Ok(()),
                done => done.map(drop),
            };
        }
        match self.ask(&PerformActions { actions }).await {
            // The document that it was for has gone by the last of it.
            Err(Error::DocumentGone {}) => Ok(()),
            done => done.map(drop),
        }
    }

    async fn drag(&self, function: &str, at: Point) -> Result<bool> {
        let point = json!({ "x": at.x, "y": at.y });
        let main = self.main().clone();
        match self.call_core(&main, function, &point).await {
            Ok(answer) => Ok(answer == "true"),
            Err(Error::DocumentGone {}) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl WebDriverPage {
    pub(super) async fn dispatch(&self, steps: &[InputStep]) -> Result<()> {
        self.devices.act(self, steps).await
    }

    /// Says each step of the mouse to the browser itself: its driver lets go of the left button, whichever was pressed.
    async fn act_one_by_one(&self, actions: Vec<Source>) -> Result<()> {
        let length = actions.iter().map(|source| acts(source).len()).max();
        for tick in 0..length.unwrap_or(0) {
            let mut rest = Vec::new();
            for source in &actions {
                let Some(action) = acts(source).get(tick) else {
                    continue;
                };
                match action {
                    Action::Pause { .. } => {}
                    Action::PointerMove { x, y } => {
                        self.state().mouse = (*x, *y);
                        self.say_mouse("Move", "None").await?;
                    }
                    Action::PointerDown { button } => {
                        self.say_mouse("Down", named(*button)).await?
                    }
                    Action::PointerUp { button } => self.say_mouse("Up", named(*button)).await?,
                    _ => rest.push(alone(source, action.clone())),
                }
            }
            if !rest.is_empty() {
                self.ask(&PerformActions { actions: rest }).await?;
            }
        }
        Ok(())
    }

    async fn say_mouse(&self, interaction: &str, button: &str) -> Result<()> {
        let (x, y) = self.state().mouse;
        let said = json!({
            "handle": self.window(),
            "position": { "x": x, "y": y },
            "button": button,
            "interaction": interaction,
            "modifiers": [],
        });
        let context = self.context()?;
        let asked = context.automate::<Value>("Automation.performMouseInteraction", &said);
        tokio::select! {
            biased;
            done = asked => done.map(drop),
            // What it led to waits for its answer, and so does this.
            () = self.dialog_shows() => Ok(()),
        }
    }

    /// Where the mouse is after these.
    fn remember_mouse(&self, actions: &[Source]) {
        let last = actions
            .iter()
            .flat_map(acts)
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

fn acts(source: &Source) -> &[Action] {
    match source {
        Source::Key { actions, .. }
        | Source::Pointer { actions, .. }
        | Source::Wheel { actions, .. } => actions,
    }
}

/// One action of a device.
fn alone(source: &Source, action: Action) -> Source {
    let actions = vec![action];
    match source {
        Source::Key { id, .. } => Source::Key { id, actions },
        Source::Pointer { id, .. } => Source::Pointer { id, actions },
        Source::Wheel { id, .. } => Source::Wheel { id, actions },
    }
}

fn presses_another_button(actions: &[Source]) -> bool {
    actions.iter().flat_map(acts).any(|action| {
        matches!(
            action,
            Action::PointerDown { button } | Action::PointerUp { button } if *button > 0
        )
    })
}

/// The browser's name for a button.
fn named(button: u8) -> &'static str {
    match button {
        1 => "Middle",
        2 => "Right",
        _ => "Left",
    }
}
