//! The console and the requests of shared and service workers, which the pages of their origin list.

use super::Shared;
use crate::backend::address::origin_of;
use crate::backend::{PageEvent, PageObserver, RunningWorker};
use std::sync::Weak;

/// Passes the events of a worker to the pages of its origin.
pub(super) struct WorkerObserver {
    context: Weak<Shared>,
    origin: String,
}

impl WorkerObserver {
    pub(super) fn new(context: Weak<Shared>, worker: &RunningWorker) -> Self {
        Self {
            context,
            origin: origin_of(&worker.url),
        }
    }
}

impl PageObserver for WorkerObserver {
    fn event(&self, event: PageEvent) {
        if !matches!(event, PageEvent::Console(_) | PageEvent::Request(_)) {
            return;
        }
        let Some(context) = self.context.upgrade() else {
            return;
        };
        let pages = context.state().pages.clone();
        for page in pages.iter().filter(|page| !page.is_closed()) {
            page.worker_event(&self.origin, event.clone());
        }
    }
}
