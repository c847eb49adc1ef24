//! Enforces the rules about origins: each request of the browser is intercepted.
//!
//! The session of the browser intercepts the requests of all pages, frames and workers, including redirects, but no WebSockets. Those are
//! blocked by a script (`backend/guard`) and by the rules that a browser has from its start.

use crate::origins::OriginRules;
use wire::Session;
use wire::cdp::{fetch, network};

/// Continues a request or fails it.
pub(super) fn decide(root: &Session, rules: &[OriginRules], paused: fetch::RequestPaused) {
    let request_id = paused.request_id;
    if rules.iter().all(|rules| rules.allow(&paused.request.url)) {
        root.post(&fetch::ContinueRequest {
            request_id,
            ..Default::default()
        });
    } else {
        root.post(&fetch::FailRequest {
            request_id,
            error_reason: network::ErrorReason::BlockedByClient,
        });
    }
}
