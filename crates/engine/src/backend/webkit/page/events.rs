//! The inspector's events of a page, in order.

use super::WebKitPage;
use crate::backend::PageEvent;
use crate::backend::webkit::console::Message;
use crate::backend::webkit::network::{
    DataReceived, ExecutionContext, Frame, LoadingFailed, LoadingFinished, RequestWillBeSent,
    ResponseReceived,
};
use crate::backend::webkit::targets::read;
use crate::error::NetError;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use wire::webkit::Event;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FrameEvent {
    frame_id: String,
    frame: Frame,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ContextCreated {
    context: ExecutionContext,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Added {
    message: Message,
}

impl WebKitPage {
    /// Applies an event of the part of the page that shows its document.
    pub(in crate::backend::webkit) fn on_event(self: Arc<Self>, event: &Event) -> Option<()> {
        match &*event.method {
            "Page.frameStartedLoading" => {
                let event: FrameEvent = read(event)?;
                if self.is_main(&event.frame_id) {
                    self.on_navigation_started(None, None, "");
                }
            }
            "Page.frameNavigated" => {
                let frame = read::<FrameEvent>(event)?.frame;
                if frame.parent_id.is_some() {
                    self.on_child_navigated(&frame);
                } else {
                    self.on_navigation_committed(&frame);
                }
            }
            "Page.frameDetached" => self.on_frame_detached(&read::<FrameEvent>(event)?.frame_id),
            "Page.frameStoppedLoading" => {
                let event: FrameEvent = read(event)?;
                self.on_stopped_loading(&event.frame_id);
            }
            "Page.domContentEventFired" => self.on_parsed(&self.main),
            "Page.loadEventFired" => self.on_loaded(&self.main),
            "Runtime.executionContextCreated" => {
                let context = read::<ContextCreated>(event)?.context;
                if context.kind == "normal" {
                    self.on_context_created(&context.frame_id, context.id);
                }
            }
            "Network.requestWillBeSent" => {
                self.on_request_will_be_sent(read::<RequestWillBeSent>(event)?)
            }
            "Network.responseReceived" => {
                self.on_response_received(read::<ResponseReceived>(event)?)
            }
            "Network.dataReceived" => self.on_data_received(&read::<DataReceived>(event)?),
            "Network.loadingFinished" => self.on_loading_finished(read::<LoadingFinished>(event)?),
            "Network.loadingFailed" => self.on_loading_failed(read::<LoadingFailed>(event)?),
            method if method.starts_with("Network.webSocket") => self.on_web_socket(event)?,
            "Network.requestIntercepted" => {
                self.on_request_intercepted(read(event)?, &event.part);
            }
            "Console.messageAdded" => self.on_console_message(read::<Added>(event)?.message),
            "Inspector.targetCrashed" => self.report(PageEvent::Crashed),
            _ => {}
        }
        Some(())
    }

    fn is_main(&self, frame: &str) -> bool {
        let state = self.state();
        state.main_native.is_empty() || state.main_native == frame
    }

    fn on_stopped_loading(&self, native: &str) {
        if !self.is_main(native) {
            if let Some(frame) = self.frame_of(native) {
                self.on_parsed(&frame);
                self.on_loaded(&frame);
            }
            return;
        }
        let pending = {
            let state = self.state();
            if state.navigation.next_part.is_some() {
                return;
            }
            state.navigation.pending.clone()
        };
        // The end of the document's request is reported, too.
        match pending {
            Some(pending) if pending.request.is_none() => self.on_navigation_ended(None),
            Some(_) => {}
            // A document from the back/forward cache reports no load event.
            None => self.on_loaded(&self.main),
        }
    }

    /// Reports a console message, or applies it if it is the report of a hook.
    fn on_console_message(&self, message: Message) {
        if let Some(report) = message.text.strip_prefix(&*self.parts.token) {
            if let Ok(parts) = serde_json::from_str::<Vec<Value>>(report) {
                self.on_hook_message(&parts);
            }
            return;
        }
        if message.is_of_scroll_bars() || message.is_of_injected_code() {
            return;
        }
        if message.source == "security" && self.is_refused_by_port(&message.text) {
            self.on_navigation_ended(Some(NetError::UnsafePort));
        }
        self.report(PageEvent::Console(message.to_message()));
    }

    fn is_refused_by_port(&self, text: &str) -> bool {
        let pending = self.state().navigation.pending.clone();
        text.starts_with("Not allowed to use restricted network port")
            && pending.is_some_and(|pending| pending.request.is_none())
    }

    /// Applies the report of a hook.
    fn on_hook_message(&self, parts: &[Value]) {
        let text = |index: usize| parts.get(index).and_then(Value::as_str).unwrap_or_default();
        match text(0) {
            "dialog" => self.on_dialog_opening(text(1), text(2), text(3)),
            "answered" => self.dialog_closed(),
            "chooser" => {
                let multiple = parts.get(2).and_then(Value::as_bool).unwrap_or(false);
                self.on_file_chooser_opened(text(1), multiple);
            }
            "moved" => self.on_url_changed(&self.main, text(1)),
            _ => {}
        }
    }
}
