//! Pages that never reach the network: what they ask for is answered here, with an empty document.

use wire::Session;
use wire::cdp::fetch;

/// Stops every request of the page, for [`answer`] to answer it.
pub(super) fn stop_requests() -> fetch::Enable {
    fetch::Enable {
        patterns: Some(vec![fetch::RequestPattern::default()]),
        ..Default::default()
    }
}

/// Answers in the server's place.
pub(super) fn answer(session: &Session, paused: fetch::RequestPaused) {
    drop(session.send(&fetch::FulfillRequest {
        request_id: paused.request_id,
        response_code: 200,
        response_headers: Some(vec![fetch::HeaderEntry {
            name: "Content-Type".to_owned(),
            value: "text/html".to_owned(),
        }]),
        ..Default::default()
    }));
}
