//! What the inspector offers a page: reported navigations, dialogs while the driver is blocked, all mouse buttons, screenshots of any part.

use crate::backend::ScreenshotArea;
use crate::backend::webkit::WebKitPage;
use crate::backend::webkit::page::{CapturedPart, Outcome, screenshot_error};
use crate::error::{Error, Result};
use base64::Engine as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wire::actions::{Action, Source};
use wire::webdriver::action::PerformActions;

impl WebKitPage {
    /// Reads the inspector's name of the main frame. The settings that were sent before are applied by then.
    pub(crate) async fn load(&self) -> Result<()> {
        let method = "Page.getResourceTree";
        let resources: Value = self.call_inspector(method, &json!({})).await?;
        let id = &resources["frameTree"]["frame"]["id"];
        self.state().main_native = id.as_str().unwrap_or_default().to_owned();
        Ok(())
    }

    pub(crate) fn apply_options(&self) {
        self.apply_interception();
        self.apply_headers();
        self.apply_scripts();
    }

    /// Returns once every event that the browser sent so far was handled.
    pub(crate) async fn flush_events(&self) -> Result<()> {
        self.parts.extension.flush(self.window()).await
    }

    /// Returns once every event that the browser sent before the driver's last answer was handled. Costs less than `flush_events`.
    pub(crate) async fn drain_events(&self) -> Result<()> {
        self.parts.extension.drain(self.window()).await
    }

    /// Waits for the end of a navigation after the `before`th.
    pub(crate) async fn wait_for_navigation(&self, before: u64) -> Result<Option<Outcome>> {
        let ended = || {
            let state = self.state();
            if state.closed {
                return Some(Err(Error::PageClosed {}));
            }
            state.navigation.outcome_after(before).map(Some).map(Ok)
        };
        self.changes.wait(ended).await
    }

    /// Actions with the middle or the right button are sent to the browser one by one, because the driver releases the left button instead.
    pub(crate) async fn perform_with_buttons(&self, actions: Vec<Source>) -> Result<()> {
        if !presses_another_button(&actions) {
            self.record_mouse_position(&actions);
            return self.perform_actions(actions).await;
        }
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
                        self.send_mouse("Down", button_name(*button)).await?;
                    }
                    Action::PointerUp { button } => {
                        self.send_mouse("Up", button_name(*button)).await?;
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

    /// Returns the message of the open dialog.
    pub(crate) async fn shown_dialog(&self) -> Result<Option<String>> {
        let method = "Automation.isShowingJavaScriptDialog";
        let showing: Value = self.send_to_dialog(method).await?;
        if showing["result"] != true {
            return Ok(None);
        }
        let method = "Automation.messageOfCurrentJavaScriptDialog";
        let dialog: Value = self.send_to_dialog(method).await.unwrap_or_default();
        let message = dialog["message"].as_str().unwrap_or_default();
        Ok(Some(message.to_owned()))
    }

    pub(crate) async fn answer_shown_dialog(&self, accept: bool, text: Option<&str>) -> Result<()> {
        if let Some(text) = text {
            let input = json!({ "browsingContextHandle": self.window(), "userInput": text });
            let method = "Automation.setUserInputForCurrentJavaScriptPrompt";
            let inspector = &self.parts.extension;
            inspector.automate::<Value>(method, &input).await?;
        }
        let method = if accept {
            "Automation.acceptCurrentJavaScriptDialog"
        } else {
            "Automation.dismissCurrentJavaScriptDialog"
        };
        self.send_to_dialog(method).await.map(drop)
    }

    /// The driver would capture the viewport only, with scroll bars that come and go.
    pub(crate) async fn capture(&self, area: ScreenshotArea) -> Result<(Vec<u8>, CapturedPart)> {
        let [x, y, width, height] = self.pixel_box_of(area).await?;
        let rectangle = json!({
            "x": x,
            "y": y,
            "width": width,
            "height": height,
            "coordinateSystem": "Page",
        });
        Ok((self.snapshot_rect(&rectangle).await?, None))
    }

    /// Takes a PNG screenshot of the viewport without a script and without a switch to another frame.
    pub(crate) async fn capture_frame(&self) -> Result<Vec<u8>> {
        let size = json!({ "expression": "[innerWidth, innerHeight]", "returnByValue": true });
        let size: Value = self.call_inspector("Runtime.evaluate", &size).await?;
        let size = &size["result"]["value"];
        let rectangle = json!({
            "x": 0,
            "y": 0,
            "width": size[0],
            "height": size[1],
            "coordinateSystem": "Viewport",
        });
        self.snapshot_rect(&rectangle).await
    }

    /// Sends a command to the inspector without waiting for the answer.
    pub(crate) fn send_to_inspector(&self, method: &'static str, params: &Value) {
        self.parts.extension.send(self.window(), method, params);
    }

    pub(crate) async fn call_inspector<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<T> {
        let inspector = &self.parts.extension;
        inspector.call(self.window(), method, params).await
    }

    /// Returns a PNG of a part of the page.
    async fn snapshot_rect(&self, rectangle: &Value) -> Result<Vec<u8>> {
        let snapshot: Value = self.call_inspector("Page.snapshotRect", rectangle).await?;
        let data_url = snapshot["dataURL"].as_str().unwrap_or_default();
        let (_, data) = data_url
            .split_once(";base64,")
            .ok_or_else(|| screenshot_error(&"no picture"))?;
        let png = base64::engine::general_purpose::STANDARD.decode(data);
        png.map_err(|error| screenshot_error(&error))
    }

    async fn send_to_dialog(&self, method: &'static str) -> Result<Value> {
        let window = json!({ "browsingContextHandle": self.window() });
        self.parts.extension.automate(method, &window).await
    }

    async fn send_mouse(&self, interaction: &str, button: &str) -> Result<()> {
        let (x, y) = self.state().mouse;
        let params = json!({
            "handle": self.window(),
            "position": { "x": x, "y": y },
            "button": button,
            "interaction": interaction,
            "modifiers": [],
        });
        let method = "Automation.performMouseInteraction";
        let performed = self.parts.extension.automate::<Value>(method, &params);
        tokio::select! {
            biased;
            performed = performed => performed.map(drop),
            // The browser answers after the dialog is closed.
            () = self.wait_for_dialog() => Ok(()),
        }
    }

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

/// Returns a source with one action.
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

/// Returns the browser's name for a button.
fn button_name(button: u8) -> &'static str {
    match button {
        1 => "Middle",
        2 => "Right",
        _ => "Left",
    }
}
