//! Trusted input: one command for each sequence of actions.

use super::WebKitPage;
use crate::backend::webkit::input_sources::InputSources;
use crate::backend::{Evaluation, Input, InputStep, PageBackend as _, Point, gesture};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use wire::actions::{Action, Source};

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
        // The browser performs one sequence at a time, also if the caller has stopped waiting for it, and crashes when it cancels one.
        let acting = self.parts.acting.clone().lock_owned().await;
        // All windows share the input sources, and a move to the position that the mouse has already is not reported to the page.
        if self.parts.acquire_input(&self.id) {
            if self.parts.input().has_scrolled() {
                // The browser scrolls back by the sum. A document without the script has no position to lose.
                let _ = self.call(&self.main, "swallowWheel", &Value::Null).await;
            }
            self.activate().await?;
            self.reset_input().await?;
        }
        let mut params = self.parts.input().sequence(&actions);
        params["frameHandle"] = "".into();
        let page = self.itself().ok_or(Error::PageClosed {})?;
        let performing = async move {
            let method = "Automation.performInteractionSequence";
            let performed = tokio::select! {
                performed = page.automate::<Value>(method, "handle", params) => performed,
                () = page.wait_until_closed() => Err(Error::PageClosed {}),
            };
            drop(acting);
            performed
        };
        let performed = tokio::select! {
            biased;
            performed = task::run_to_completion("input", performing) => {
                performed.unwrap_or(Err(Error::PageClosed {}))
            }
            // The browser answers after the dialog is closed.
            () = self.wait_for_dialog() => Ok(Value::Null),
        };
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

impl WebKitPage {
    /// Resets the input sources.
    async fn reset_input(&self) -> Result<()> {
        let method = "Automation.cancelInteractionSequence";
        let params = json!({ "frameHandle": "" });
        self.automate::<Value>(method, "handle", params).await?;
        *self.parts.input() = InputSources::default();
        Ok(())
    }
}
