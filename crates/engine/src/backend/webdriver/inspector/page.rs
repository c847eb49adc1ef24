//! What the inspector offers a page: reported navigations, dialogs while the driver is blocked, all mouse buttons, screenshots of any part.

use super::InspectorLink;
use crate::backend::webdriver::WebKitPage;
use crate::backend::webdriver::page::{CapturedPart, Outcome, PageExtension, screenshot_error};
use crate::backend::{Capabilities, DialogKind, ScreenshotArea};
use crate::error::{Error, Result};
use async_trait::async_trait;
use base64::Engine as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wire::actions::{Action, Source};
use wire::webdriver::action::PerformActions;

#[async_trait]
impl PageExtension for InspectorLink {
    const CAPABILITIES: &'static Capabilities = &crate::backend::webdriver::CAPABILITIES;
    const REPORTS_DOCUMENTS: bool = true;
    /// The hooks of a document report all other dialogs.
    const UNREPORTED_DIALOG: DialogKind = DialogKind::Beforeunload;

    fn prepare(page: &WebKitPage) {
        page.send_settings();
    }

    /// Reads the inspector's name of the main frame. The settings that were sent before are applied by then.
    async fn load(page: &WebKitPage) -> Result<()> {
        let method = "Page.getResourceTree";
        let resources: Value = page.call_inspector(method, &json!({})).await?;
        let id = &resources["frameTree"]["frame"]["id"];
        page.state().main_native = id.as_str().unwrap_or_default().to_owned();
        Ok(())
    }

    fn apply_options(page: &WebKitPage) {
        page.apply_interception();
        page.apply_headers();
        page.apply_scripts();
    }

    fn apply_user_agent(page: &WebKitPage) {
        page.apply_user_agent();
    }

    async fn flush(page: &WebKitPage) -> Result<()> {
        page.parts.extension.flush(page.window()).await
    }

    async fn drain(page: &WebKitPage) -> Result<()> {
        page.parts.extension.drain(page.window()).await
    }

    async fn wait_for_navigation(
        page: &WebKitPage,
        before: u64,
        _url: &str,
    ) -> Result<Option<Outcome>> {
        let ended = || {
            let state = page.state();
            if state.closed {
                return Some(Err(Error::PageClosed {}));
            }
            state.navigation.outcome_after(before).map(Some).map(Ok)
        };
        page.changes.wait(ended).await
    }

    /// Actions with the middle or the right button are sent to the browser one by one, because the driver releases the left button instead.
    async fn perform(page: &WebKitPage, actions: Vec<Source>) -> Result<()> {
        if !presses_another_button(&actions) {
            page.record_mouse_position(&actions);
            return page.perform_actions(actions).await;
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
                        page.state().mouse = (*x, *y);
                        page.send_mouse("Move", "None").await?;
                    }
                    Action::PointerDown { button } => {
                        page.send_mouse("Down", button_name(*button)).await?;
                    }
                    Action::PointerUp { button } => {
                        page.send_mouse("Up", button_name(*button)).await?;
                    }
                    _ => rest.push(single_action(source, action.clone())),
                }
            }
            if !rest.is_empty() {
                page.send_to_main(&PerformActions { actions: rest }).await?;
            }
        }
        Ok(())
    }

    async fn shown_dialog(page: &WebKitPage) -> Result<Option<String>> {
        let method = "Automation.isShowingJavaScriptDialog";
        let showing: Value = page.send_to_dialog(method).await?;
        if showing["result"] != true {
            return Ok(None);
        }
        let method = "Automation.messageOfCurrentJavaScriptDialog";
        let dialog: Value = page.send_to_dialog(method).await.unwrap_or_default();
        let message = dialog["message"].as_str().unwrap_or_default();
        Ok(Some(message.to_owned()))
    }

    async fn answer_dialog(page: &WebKitPage, accept: bool, text: Option<&str>) -> Result<()> {
        if let Some(text) = text {
            let input = json!({ "browsingContextHandle": page.window(), "userInput": text });
            let method = "Automation.setUserInputForCurrentJavaScriptPrompt";
            let inspector = &page.parts.extension;
            inspector.automate::<Value>(method, &input).await?;
        }
        let method = if accept {
            "Automation.acceptCurrentJavaScriptDialog"
        } else {
            "Automation.dismissCurrentJavaScriptDialog"
        };
        page.send_to_dialog(method).await.map(drop)
    }

    /// The driver would capture the viewport only, with scroll bars that come and go.
    async fn capture(page: &WebKitPage, area: ScreenshotArea) -> Result<(Vec<u8>, CapturedPart)> {
        let [x, y, width, height] = page.pixel_box_of(area).await?;
        let rectangle = json!({
            "x": x,
            "y": y,
            "width": width,
            "height": height,
            "coordinateSystem": "Page",
        });
        Ok((page.snapshot_rect(&rectangle).await?, None))
    }

    async fn capture_frame(page: &WebKitPage) -> Result<Vec<u8>> {
        let size = json!({ "expression": "[innerWidth, innerHeight]", "returnByValue": true });
        let size: Value = page.call_inspector("Runtime.evaluate", &size).await?;
        let size = &size["result"]["value"];
        let rectangle = json!({
            "x": 0,
            "y": 0,
            "width": size[0],
            "height": size[1],
            "coordinateSystem": "Viewport",
        });
        page.snapshot_rect(&rectangle).await
    }
}

impl WebKitPage {
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
