//! Trusted input: one command for each sequence of actions.

use super::WebKitPage;
use crate::backend::webkit::input_sources::InputSources;
use crate::backend::{Evaluation, Input, InputStep, PageBackend as _, Point, gesture};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::oneshot;
use wire::actions::{Action, Source};

/// How long input may take before the document is checked.
const PAINT_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns whether a document is painted, or need not be waited for. The browser paints one that loads when it has about 200 characters.
const IS_PAINTED: &str = "() => document.readyState !== 'loading' || new Promise((resolve) => {
  requestAnimationFrame(() => resolve(true));
  setTimeout(() => resolve(false), 500);
})";

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
        // A page performs one sequence at a time, also if the caller has stopped waiting for it, and the browser crashes when it cancels one.
        let own = tokio::select! {
            own = self.acting.clone().lock_owned() => own,
            () = self.wait_while_unpainted() => return Err(unpainted()),
        };
        // The pages share the input sources.
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
        let (stuck, is_stuck) = oneshot::channel();
        let performing = async move {
            let method = "Automation.performInteractionSequence";
            let performed = async {
                tokio::select! {
                    performed = page.automate::<Value>(method, "handle", params) => performed,
                    () = page.wait_until_closed() => Err(Error::PageClosed {}),
                }
            };
            tokio::pin!(performed);
            let performed = tokio::select! {
                biased;
                performed = &mut performed => performed,
                // The rest follows later. Until then, other pages have the input.
                () = page.wait_for_dialog() => {
                    drop(acting);
                    performed.await
                }
                () = page.wait_while_unpainted() => {
                    drop(acting);
                    let _ = stuck.send(());
                    performed.await
                }
            };
            drop(own);
            performed
        };
        let performed = tokio::select! {
            biased;
            performed = task::run_to_completion("input", performing) => {
                performed.unwrap_or(Err(Error::PageClosed {}))
            }
            // The browser answers after the dialog is closed.
            () = self.wait_for_dialog() => Ok(Value::Null),
            Ok(()) = is_stuck => Err(unpainted()),
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
    /// Returns once the browser has painted nothing of a document for a while that still loads: its input waits for that.
    async fn wait_while_unpainted(&self) {
        loop {
            tokio::time::sleep(PAINT_TIMEOUT).await;
            let is_painted = self.run(&self.main.clone(), IS_PAINTED, &[]).await;
            if matches!(is_painted, Ok(Value::Bool(false))) {
                return;
            }
        }
    }

    /// Resets the input sources.
    async fn reset_input(&self) -> Result<()> {
        let method = "Automation.cancelInteractionSequence";
        let params = json!({ "frameHandle": "" });
        self.automate::<Value>(method, "handle", params).await?;
        *self.parts.input() = InputSources::default();
        Ok(())
    }
}

fn unpainted() -> Error {
    Error::protocol(
        "Automation.performInteractionSequence",
        "WebKit has painted nothing of this page so far, so that it gets no input: its document still loads, and has little text. Wait until \
         there is more, or end the loading with the script `window.stop()`.",
    )
}
