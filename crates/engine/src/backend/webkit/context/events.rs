//! The events of a context, in order.

use crate::backend::webkit::context::WebKitContext;
use crate::backend::webkit::targets::read;
use serde_json::Value;
use std::sync::Weak;
use tokio::sync::{mpsc, watch};
use wire::webkit::Event;

/// Applies the events of all pages of a context until its browser is gone.
pub(super) async fn follow(context: Weak<WebKitContext>, mut events: mpsc::Receiver<Event>) {
    while let Some(event) = events.recv().await {
        let Some(context) = context.upgrade() else {
            return;
        };
        context.on_event(event);
        context.parts.targets.count_event();
    }
}

/// Closes a context when its connection is closed, which is the first sign of a browser that exits.
pub(super) async fn follow_end(
    context: Weak<WebKitContext>,
    mut closed: watch::Receiver<Option<String>>,
) {
    let reason = closed.wait_for(Option::is_some).await;
    let reason = reason.ok().and_then(|reason| reason.clone());
    if let Some(context) = context.upgrade() {
        context.on_browser_closed(&reason.unwrap_or_default());
    }
}

impl WebKitContext {
    fn on_event(&self, event: Event) {
        let targets = &self.parts.targets;
        let page = targets.page_of(event.target);
        let page = page.and_then(|page| self.pages.get(&page));
        match &*event.method {
            "Target.targetCreated" => {
                let params: Value = read(&event).unwrap_or_default();
                let info = &params["targetInfo"];
                if info["type"] == "page" {
                    let part = info["targetId"].as_str().unwrap_or_default();
                    if info["isProvisional"] != true {
                        targets.set_part(event.target, part);
                        self.pages.changes.notify();
                    }
                    match page {
                        Some(page) => page.on_process_created(part),
                        None if targets.is_isolated(event.target) => {
                            targets.isolate_part(event.target, part);
                        }
                        None if targets.is_early(event.target) => {
                            targets.report_early(event.target, part);
                        }
                        None => {}
                    }
                    if info["isPaused"] == true {
                        targets.resume(event.target, part);
                    }
                }
            }
            "Target.didCommitProvisionalTarget" => {
                let params: Value = read(&event).unwrap_or_default();
                let part = params["newTargetId"].as_str().unwrap_or_default();
                let held = targets.commit_part(event.target, part);
                if let Some(page) = page.filter(|_| !targets.is_early(event.target)) {
                    page.on_process_changed();
                    for event in held {
                        page.clone().on_event(&event);
                    }
                } else if targets.is_early(event.target) {
                    held.into_iter().for_each(|event| targets.hold(event));
                }
            }
            "Target.targetDestroyed" => {
                let params: Value = read(&event).unwrap_or_default();
                let part = params["targetId"].as_str().unwrap_or_default();
                if let Some(page) = page {
                    page.on_process_ended(part);
                }
            }
            "Network.requestIntercepted" if targets.is_isolated(event.target) => {
                targets.answer_with_nothing(&event);
            }
            method => {
                if targets.is_early(event.target) {
                    return targets.hold(event);
                }
                let Some(page) = page else { return };
                // A part that shows no document so far waits for decisions about its requests, too.
                if method == "Network.requestIntercepted" || targets.is_shown(&event) {
                    page.on_event(&event);
                } else {
                    targets.hold(event);
                }
            }
        }
    }
}
