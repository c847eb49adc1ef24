//! Requests that a rule decides about.

use super::interception::entries;
use crate::routes::{Mock, RouteAnswer};
use crate::task::spawn;
use std::sync::Arc;
use wire::Session;
use wire::cdp::Binary;
use wire::cdp::fetch;
use wire::cdp::network::ErrorReason;

/// Does with a request that waits as its rule says.
pub(super) fn apply_route(session: &Session, paused: fetch::RequestPaused, answer: &RouteAnswer) {
    match answer {
        RouteAnswer::Block => {
            drop(session.send(&fetch::FailRequest {
                request_id: paused.request_id,
                error_reason: ErrorReason::BlockedByClient,
            }));
        }
        RouteAnswer::Mock(mock) if mock.delay.is_zero() => {
            drop(session.send(&mock_response(&paused, mock)));
        }
        RouteAnswer::Mock(mock) => {
            let (session, mock) = (session.clone(), Arc::clone(mock));
            spawn("mock", async move {
                tokio::time::sleep(mock.delay).await;
                drop(session.send(&mock_response(&paused, &mock)));
            })
            .detach();
        }
        RouteAnswer::Rewrite(changes) => {
            drop(session.send(&fetch::ContinueRequest {
                request_id: paused.request_id,
                headers: Some(entries(changes.apply(paused.request.headers.0))),
                ..Default::default()
            }));
        }
    }
}

fn mock_response(paused: &fetch::RequestPaused, mock: &Mock) -> fetch::FulfillRequest {
    let sent = |wanted: &str| {
        let mut headers = paused.request.headers.0.iter();
        headers
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.clone())
    };
    let (status, headers, body) = mock.answer(sent);
    fetch::FulfillRequest {
        request_id: paused.request_id.clone(),
        response_code: status.into(),
        response_headers: Some(entries(headers)),
        body: Some(Binary(body)),
        ..Default::default()
    }
}
