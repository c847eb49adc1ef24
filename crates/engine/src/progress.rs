//! How long an operation may take, and what it did so far.

use crate::error::{Error, Result};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Passed down from the call to the protocol command: the deadline, the way to cancel, the log.
///
/// Cheap to clone; clones share the log and the cancellation.
#[derive(Clone, Debug)]
pub struct Progress {
    timeout: Duration,
    deadline: Instant,
    cancel: CancellationToken,
    log: Arc<Mutex<Log>>,
}

#[derive(Debug, Default)]
struct Log {
    lines: Vec<String>,
    obstacle: Option<Error>,
}

/// A call log longer than this helps nobody.
const LOG_LINES: usize = 60;

impl Progress {
    /// An operation that may take `timeout` from now on.
    pub fn new(timeout: Duration) -> Self {
        Self::cancelled_by(timeout, CancellationToken::new())
    }

    /// The same, with a token that ends it early.
    pub fn cancelled_by(timeout: Duration, cancel: CancellationToken) -> Self {
        Self {
            timeout,
            deadline: Instant::now() + timeout,
            cancel,
            log: Arc::default(),
        }
    }

    /// A part of this operation with a time limit of its own and a log of its own; cancelled with the whole.
    pub fn within(&self, timeout: Duration) -> Self {
        Self::cancelled_by(timeout, self.cancel.clone())
    }

    /// When the operation must be over.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The time limit it began with.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Notes a step; the log becomes part of the error if the operation times out.
    pub fn log(&self, step: impl Into<String>) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.lines.len() < LOG_LINES {
            log.lines.push(step.into());
        }
    }

    /// Remembers what stands in the way, to be told if the deadline passes.
    pub fn blocked_by(&self, error: Error) {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .obstacle = Some(error);
    }

    /// The steps noted so far.
    pub fn steps(&self) -> Vec<String> {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .lines
            .clone()
    }

    /// Runs `operation` to its end, the deadline, or cancellation; dropping it is how it stops.
    pub async fn run<T>(&self, operation: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Error::Cancelled {}),
            result = operation => result,
            () = tokio::time::sleep_until(self.deadline) => Err(self.timed_out()),
        }
    }

    /// The error of an operation that did not make it, with its log.
    pub fn timed_out(&self) -> Error {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        Error::Timeout {
            timeout_ms: self.timeout.as_millis().try_into().unwrap_or(u64::MAX),
            obstacle: log.obstacle.take().map(Box::new),
            log: std::mem::take(&mut log.lines),
        }
    }
}
