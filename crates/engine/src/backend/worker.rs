//! Workers. <https://html.spec.whatwg.org/multipage/workers.html> <https://w3c.github.io/ServiceWorker/>

use super::WorkerId;
use std::sync::Arc;

/// The kind of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum WorkerKind {
    /// A worker of one document.
    Dedicated,
    /// A worker of all documents of its origin that name it.
    Shared,
    /// A worker for the requests of the documents in its scope.
    Service,
}

/// A worker that a browser reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningWorker {
    /// Its identifier.
    pub id: WorkerId,
    /// Its kind.
    pub kind: WorkerKind,
    /// The URL of its script.
    pub url: Arc<str>,
}

/// The worker that sent a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestingWorker {
    /// Its kind.
    pub kind: WorkerKind,
    /// The URL of its script.
    pub url: Arc<str>,
}

impl RequestingWorker {
    /// Whether it belongs to the page.
    pub(crate) fn is_own(&self) -> bool {
        self.kind == WorkerKind::Dedicated
    }
}
