//! Targets that are no pages: workers, and what belongs to no page.

use crate::backend::guard;
use crate::origins::OriginRules;
use wire::Session;
use wire::cdp::{runtime, target};

/// Tells a worker which connections it may not open.
pub(super) fn guard(session: &Session, rules: &OriginRules) {
    if !rules.is_empty() {
        drop(session.send(&runtime::Evaluate {
            expression: guard::guard(rules),
            silent: Some(true),
            ..Default::default()
        }));
    }
}

/// Lets a target run that nobody drives, and leaves it alone.
pub(super) fn detach_target(session: Session, parent: &Session, id: target::SessionId) {
    let resumed = session.send(&runtime::RunIfWaitingForDebugger {});
    let parent = parent.clone();
    task::spawn("leaving a target", async move {
        // Left too early it would wait for ever. If it has gone, there is nothing to leave.
        if resumed.await.is_ok() {
            drop(parent.send(&target::DetachFromTarget {
                session_id: Some(id),
            }));
        }
    })
    .detach();
}
