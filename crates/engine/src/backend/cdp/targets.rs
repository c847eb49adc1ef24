//! Targets that are not pages: workers and others.

use crate::backend::guard;
use crate::origins::OriginRules;
use wire::Session;
use wire::cdp::{runtime, target};

/// Runs the script in a worker that blocks connections.
pub(super) fn guard(session: &Session, rules: &OriginRules) {
    if !rules.is_empty() {
        session.post(&runtime::Evaluate {
            expression: guard::guard(rules),
            silent: Some(true),
            ..Default::default()
        });
    }
}

/// Resumes a target that is not used, and detaches from it.
pub(super) fn detach_target(session: Session, parent: &Session, id: target::SessionId) {
    let resumed = session.send(&runtime::RunIfWaitingForDebugger {});
    let parent = parent.clone();
    task::spawn("leaving a target", async move {
        // If it were detached before it is resumed, it would wait forever. If it was closed, there is nothing to detach from.
        if resumed.await.is_ok() {
            parent.post(&target::DetachFromTarget {
                session_id: Some(id),
            });
        }
    })
    .detach();
}
