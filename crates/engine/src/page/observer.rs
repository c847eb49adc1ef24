//! The events of a page, as the backend reports them.

use super::Shared;
use crate::backend::{PageEvent, PageObserver, PausedRequest};
use std::sync::PoisonError;

impl PageObserver for Shared {
    fn paused(&self, request: PausedRequest) -> bool {
        self.intercept_request(request)
    }

    fn event(&self, event: PageEvent) {
        let event = event.bounded();
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.own_requests.is_own(&event) {
                return;
            }
            let event = self.with_reason(event, &mut state);
            let tapped = (!state.taps.is_empty()).then(|| event.clone());
            self.group.counting(&mut state, |state| state.apply(event));
            if let Some(tapped) = tapped {
                // A subscriber with a full queue is removed, so that none gets events with a gap.
                state
                    .taps
                    .retain(|tap| tap.try_send(tapped.clone()).is_ok());
            }
        }
        self.changes.send_modify(|count| *count += 1);
    }
}
