//! The inspector's events of a context, in order.

use crate::backend::webkit::WebKitContext;
use crate::backend::webkit::inspector::read;
use serde_json::Value;
use std::sync::Weak;
use tokio::sync::mpsc;
use wire::inspector::InspectorEvent;

/// Applies the events of all pages of a context until its browser is gone.
pub(in crate::backend::webkit) async fn follow(
    context: Weak<WebKitContext>,
    mut events: mpsc::Receiver<InspectorEvent>,
) {
    while let Some(event) = events.recv().await {
        let Some(context) = context.upgrade() else {
            return;
        };
        context.on_inspector_event(event);
        context.parts.extension.count_event();
    }
}

impl WebKitContext {
    fn on_inspector_event(&self, event: InspectorEvent) {
        let inspector = &self.parts.extension;
        let page = inspector.page_of(event.target);
        let page = page.and_then(|page| self.pages.get(&page));
        match &*event.method {
            "Target.targetCreated" => {
                let params: Value = read(&event).unwrap_or_default();
                let info = &params["targetInfo"];
                if info["type"] == "page" {
                    inspector.set_part(event.target, &info["targetId"]);
                    if let Some(page) = page {
                        tracing::debug!(%info, "a page moves to another process");
                        page.send_settings();
                    }
                    self.pages.changes.notify();
                }
            }
            "Target.didCommitProvisionalTarget" => {
                let params: Value = read(&event).unwrap_or_default();
                inspector.set_part(event.target, &params["newTargetId"]);
            }
            "Network.requestIntercepted" if inspector.is_isolated(event.target) => {
                inspector.answer_with_nothing(&event);
            }
            _ => {
                if let Some(page) = page {
                    page.on_inspector_event(&event);
                }
            }
        }
    }
}
