//! Responses that a route changes.

use super::{Interception, Verdict};
use crate::routes::{FailureReason, ResponseChanges};

/// Sends a paused request and fulfills it with the changed response. A request that gets no response fails.
pub(crate) async fn change_response(
    page: &(dyn Interception + Sync),
    key: &str,
    request: Verdict,
    changes: &ResponseChanges,
) {
    let verdict = match page.fetch(key, request).await {
        Ok(fetched) => {
            let (status, headers, body) =
                changes.apply(fetched.status, fetched.headers, fetched.body);
            Verdict::Fulfill {
                status,
                headers,
                body,
            }
        }
        Err(_) => Verdict::Abort(FailureReason::Failed),
    };
    // A closed page needs no decision.
    drop(page.decide(key, verdict).await);
}
