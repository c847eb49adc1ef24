//! From what the inspector says to the engine's events, in order.

use super::WebDriverContext;
use crate::backend::webdriver::inspector::{InspectorTarget, read};
use serde::Deserialize;
use std::sync::Weak;
use tokio::sync::mpsc;
use wire::inspector::InspectorEvent;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TargetCreated {
    target_info: TargetInfo,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TargetInfo {
    target_id: String,
    #[serde(rename = "type")]
    kind: String,
    is_provisional: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Committed {
    new_target_id: String,
}

/// Hears what all pages of a context say, until its browser is gone.
pub(super) async fn listen(
    context: Weak<WebDriverContext>,
    mut events: mpsc::Receiver<InspectorEvent>,
) {
    while let Some(event) = events.recv().await {
        let Some(context) = context.upgrade() else {
            return;
        };
        context.on_inspector_event(event);
        if let Some(inspector) = &context.parts.inspector {
            inspector.count_event();
        }
    }
}

impl WebDriverContext {
    fn on_inspector_event(&self, event: InspectorEvent) {
        let page = self.page_of(event.target);
        match &*event.method {
            "Target.targetCreated" => {
                let Some(TargetCreated { target_info: info }) = read(&event) else {
                    return;
                };
                if info.kind == "page" {
                    self.on_part_created(event.target, &info.target_id, info.is_provisional);
                }
            }
            "Target.didCommitProvisionalTarget" => {
                if let (Some(page), Some(committed)) = (page, read::<Committed>(&event)) {
                    page.state().inspector_target = Some(InspectorTarget {
                        target: event.target,
                        part: committed.new_target_id.into(),
                    });
                }
            }
            "Network.requestIntercepted" if self.is_utility_target(event.target) => {
                let target = InspectorTarget {
                    target: event.target,
                    part: event.part,
                };
                self.answer_utility_request(target, event.params.get());
            }
            _ => {
                if let Some(page) = page {
                    page.on_inspector_event(&event);
                }
            }
        }
    }
}
