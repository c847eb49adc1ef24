//! The inspector's events of a page, in order.

use crate::backend::webkit::WebKitPage;
use crate::backend::webkit::console::Message;
use crate::backend::webkit::inspector::read;
use crate::backend::webkit::network::{
    DataReceived, Frame, LoadingFailed, LoadingFinished, RequestWillBeSent, ResponseReceived,
};
use crate::backend::{FrameId, LoaderId, PageEvent};
use crate::error::NetError;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use wire::inspector::InspectorEvent;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FrameEvent {
    frame_id: String,
    frame: Frame,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Added {
    message: Message,
}

impl WebKitPage {
    pub(crate) fn on_inspector_event(self: Arc<Self>, event: &InspectorEvent) -> Option<()> {
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
                    self.schedule_poll();
                } else {
                    self.state().main_native = frame.id;
                    self.on_navigation_committed(&frame.loader_id, &frame.url, &frame.name);
                }
            }
            "Page.frameDetached" => self.schedule_poll(),
            "Page.frameStoppedLoading" => {
                let event: FrameEvent = read(event)?;
                let pending = self.state().navigation.pending.clone();
                // The end of the document's request is reported, too.
                match pending {
                    _ if !self.is_main(&event.frame_id) => {}
                    Some(pending) if pending.request.is_none() => self.on_navigation_ended(None),
                    Some(_) => {}
                    // A document from the back/forward cache reports no load event.
                    None => {
                        self.report_of_document(|frame, loader| PageEvent::Load { frame, loader })
                    }
                }
            }
            "Page.domContentEventFired" => self
                .report_of_document(|frame, loader| PageEvent::DomContentLoaded { frame, loader }),
            "Page.loadEventFired" => {
                self.report_of_document(|frame, loader| PageEvent::Load { frame, loader });
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
            "Network.requestIntercepted" => self.on_request_intercepted(read(event)?),
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

    fn report_of_document(&self, event: impl FnOnce(FrameId, LoaderId) -> PageEvent) {
        let loader = {
            let state = self.state();
            let document = state.frames.get(&self.main);
            let document = document.and_then(|frame| frame.document.as_ref());
            let reported = state.navigation.loader.clone();
            reported.or_else(|| document.map(LoaderId::from))
        };
        if let Some(loader) = loader {
            self.report(event(self.main.clone(), loader));
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
        if message.is_of_scroll_bars() {
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
            "moved" => self.on_main_url_changed(text(1)),
            _ => {}
        }
    }
}
