//! The names of workers, and the events of shared and service workers, which belong to no page: each page of their origin lists them.

use super::Page;
use crate::backend::address::is_of_origin;
use crate::backend::{PageEvent, WorkerId};
use std::collections::HashMap;

/// The largest number of events that wait for a document.
const MAX_HELD: usize = 1_000;

/// The names of the workers of a page, which they keep.
#[derive(Debug, Default)]
pub(crate) struct WorkerNames {
    numbers: HashMap<WorkerId, u32>,
    /// The number of names that were given.
    given: u32,
}

impl WorkerNames {
    /// Forgets the workers that have ended.
    pub(crate) fn retain(&mut self, is_running: impl Fn(&WorkerId) -> bool) {
        self.numbers.retain(|worker, _| is_running(worker));
    }

    /// Returns the name of a worker, such as `w1`.
    pub(crate) fn name(&mut self, worker: &WorkerId) -> String {
        let number = self.numbers.entry(worker.clone()).or_insert_with(|| {
            self.given += 1;
            self.given
        });
        format!("w{number}")
    }
}

impl Page {
    /// Records an event of a worker, if the page shows a document of its origin. A document of this origin that is being loaded gets the
    /// event when it is shown: a service worker runs before.
    pub(crate) fn worker_event(&self, origin: &str, event: PageEvent) {
        {
            let mut state = self.state();
            let loading = state.frames.main().pending.as_ref();
            if loading.is_some_and(|loading| is_of_origin(&loading.url, origin)) {
                if state.worker_events.len() < MAX_HELD {
                    state.worker_events.push(event.bounded());
                }
                return;
            }
            if !state.frames.urls().any(|url| is_of_origin(url, origin)) {
                return;
            }
            let event = self.shared.with_reason(event.bounded(), &mut state);
            state.apply(event);
        }
        self.shared.changes.send_modify(|count| *count += 1);
    }
}
