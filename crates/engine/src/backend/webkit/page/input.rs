//! Trusted input: one command for each sequence of actions.

use super::WebKitPage;
use crate::backend::{Evaluation, Input, InputStep, Point, gesture};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use wire::actions::{Action, Source};
use wire::webdriver::action::{PerformActions, ReleaseActions};

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
    /// The driver accepts only whole pixels.
    fn inside(&self, point: Point) -> Point {
        Point {
            x: point.x.floor(),
            y: point.y.floor(),
        }
    }

    async fn perform(&self, mut actions: Vec<Source>) -> Result<()> {
        // All windows share one mouse, and a move to the position that it has already is not reported to the page.
        if self.parts.acquire_input(&self.id) {
            if self.parts.reset_scrolled() {
                // The driver scrolls back by the sum. A document without the script has no position to lose.
                let _ = self.call(&self.main, "swallowWheel", &Value::Null).await;
            }
            self.send_to_main(&ReleaseActions {}).await?;
        }
        for source in &mut actions {
            self.add_up_scrolls(source);
        }
        self.perform_with_buttons(actions).await
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
        let script = format!("return ({})(...arguments)", gesture::PREVENT_CLICKS);
        let main = self.main.clone();
        // With a click of another button, WebKit's driver begins to count again.
        let arguments = vec![json!(at.x), json!(at.y), json!(count + 1)];
        if self.run_raw(&main, script, arguments).await? != "prevented" {
            return Ok(false);
        }
        let button = 1;
        let actions = vec![Action::PointerDown { button }, Action::PointerUp { button }];
        let id = "mouse";
        self.perform(vec![Source::Pointer { id, actions }]).await?;
        Ok(true)
    }
}

impl WebKitPage {
    /// Replaces the distance of each scroll by the sum of all. WebKit's driver treats the distance as a state of the wheel that lasts beyond
    /// the command: it scrolls by the difference to the previous one, and not at all by the same distance again.
    fn add_up_scrolls(&self, source: &mut Source) {
        let Source::Wheel { actions, .. } = source else {
            return;
        };
        for action in actions {
            if let Action::Scroll {
                delta_x, delta_y, ..
            } = action
            {
                (*delta_x, *delta_y) = self.parts.add_scrolled(*delta_x, *delta_y);
            }
        }
    }

    /// Performs actions with the driver. An action may end its document.
    pub(crate) async fn perform_actions(&self, actions: Vec<Source>) -> Result<()> {
        let types = |source: &Source| matches!(source, Source::Key { .. });
        let is_typing = actions.iter().all(types);
        let command = PerformActions { actions };
        let performed = if is_typing {
            self.send_to_focused(&command).await
        } else {
            self.send_to_main(&command).await
        };
        match performed {
            Err(Error::DocumentGone {}) => Ok(()),
            performed => performed.map(drop),
        }
    }
}
