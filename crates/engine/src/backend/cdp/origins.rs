//! The rules which origins may be requested, enforced: each request of the browser stops by us.
//!
//! The browser's own session sees what every page, frame and worker asks for, redirects too. It does not see
//! WebSockets: those a script (`backend/guard`) refuses where they are opened, beside the rules that a browser has from its start.

use crate::origins::OriginRules;
use wire::Session;
use wire::cdp::{fetch, network};

/// Lets a request go on, or fails it.
pub(super) fn decide(root: &Session, rules: &[OriginRules], paused: fetch::RequestPaused) {
    let request_id = paused.request_id;
    // A browser that goes leaves nobody to answer to.
    if rules.iter().all(|rules| rules.allow(&paused.request.url)) {
        drop(root.send(&fetch::ContinueRequest {
            request_id,
            ..Default::default()
        }));
    } else {
        drop(root.send(&fetch::FailRequest {
            request_id,
            error_reason: network::ErrorReason::BlockedByClient,
        }));
    }
}
