//! The deadline, cancellation and log of an operation.

use crate::error::{Error, Result};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The progress of an operation, passed from the call to the protocol command: deadline, cancellation, log.
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

/// The longest timeout that can be represented.
const MAX_TIMEOUT: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The largest number of log lines; repeats are folded when the log is read.
const MAX_LOG_LINES: usize = 1_000;

impl Progress {
    /// Creates an operation that may take `timeout` from now on.
    pub fn new(timeout: Duration) -> Self {
        Self::cancelled_by(timeout, CancellationToken::new())
    }

    /// Creates an operation with a token that cancels it.
    pub fn cancelled_by(timeout: Duration, cancel: CancellationToken) -> Self {
        Self {
            timeout,
            deadline: Instant::now() + timeout.min(MAX_TIMEOUT),
            cancel,
            log: Arc::default(),
        }
    }

    /// Creates a part of this operation with its own timeout and log; cancelled with the whole.
    pub fn within(&self, timeout: Duration) -> Self {
        Self::cancelled_by(timeout, self.cancel.clone())
    }

    /// Returns the deadline.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns the timeout.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Logs a detail of the last step.
    pub fn detail(&self, step: impl std::fmt::Display) {
        self.log(format!("  {step}"));
    }

    /// Logs a step; the log becomes part of the error if the operation times out.
    pub fn log(&self, step: impl Into<String>) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.lines.len() < MAX_LOG_LINES {
            log.lines.push(step.into());
        }
    }

    /// Sets the last failed check, for the timeout error.
    pub fn set_obstacle(&self, error: Error) {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .obstacle = Some(error);
    }

    /// Returns the steps so far; details are indented, repeats folded (`3 × …`).
    pub fn steps(&self) -> Vec<String> {
        fold_repeats(
            &self
                .log
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .lines,
        )
    }

    /// Returns whether another clone exists.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.log) > 1
    }

    /// Returns the last step and the last failed check in one line; `None` without a step.
    pub fn current_step(&self) -> Option<String> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let mut steps = log.lines.iter().rev();
        let step = steps.find(|line| !line.starts_with(' '))?;
        let obstacle = log.obstacle.as_ref().map(|error| error.to_string());
        let whole = match &obstacle {
            Some(obstacle) => format!("{step}: {obstacle}"),
            None => step.clone(),
        };
        whole.lines().next().map(str::to_owned)
    }

    /// Runs `operation` until it ends, the deadline passes, or it is cancelled, in which case it is dropped.
    pub async fn run<T>(&self, operation: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Error::Cancelled {}),
            result = operation => result,
            () = tokio::time::sleep_until(self.deadline) => Err(self.timed_out()),
        }
    }

    /// Returns the timeout error with the log.
    pub fn timed_out(&self) -> Error {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        Error::Timeout {
            timeout_ms: self.timeout.as_millis().try_into().unwrap_or(u64::MAX),
            obstacle: log.obstacle.take().map(Box::new),
            log: fold_repeats(&std::mem::take(&mut log.lines)),
        }
    }
}

/// The longest sequence of lines that is folded.
const FOLDED_RUN: usize = 8;

/// Folds repeated sequences of lines, with the number of their repetitions.
fn fold_repeats(lines: &[String]) -> Vec<String> {
    let mut folded = Vec::new();
    let mut rest = lines;
    while let Some(first) = rest.first() {
        let repeats = |length: usize| {
            let run = &rest[..length];
            rest.chunks_exact(length)
                .take_while(|chunk| *chunk == run)
                .count()
        };
        let (length, count) = (1..=FOLDED_RUN.min(rest.len() / 2))
            .map(|length| (length, repeats(length)))
            .filter(|(_, count)| *count > 1)
            .max_by_key(|(length, count)| (length * count, std::cmp::Reverse(*length)))
            .unwrap_or((1, 1));
        if count == 1 {
            folded.push(first.clone());
        } else {
            let step = first.trim_start();
            let indent = &first[..first.len() - step.len()];
            folded.push(format!("{indent}{count} × {step}"));
            folded.extend(rest[1..length].iter().map(|line| format!("  {line}")));
        }
        rest = &rest[length * count..];
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn very_long_timeouts_do_not_overflow() {
        let progress = Progress::new(Duration::MAX);
        assert!(progress.run(async { Ok(()) }).await.is_ok());
    }

    #[test]
    fn the_current_step_is_the_last_one_with_its_obstacle() {
        let progress = Progress::new(Duration::from_secs(1));
        assert_eq!(progress.current_step(), None);
        progress.log("waiting for x");
        progress.detail("not ready");
        assert_eq!(progress.current_step().as_deref(), Some("waiting for x"));
        progress.set_obstacle(Error::DialogOpen {});
        let step = progress.current_step();
        assert_eq!(step.as_deref(), Some("waiting for x: a dialog is open"));
    }

    #[test]
    fn repeated_steps_are_folded() {
        let progress = Progress::new(Duration::from_secs(1));
        progress.log("waiting for x");
        for pause in [20, 100, 100, 100] {
            progress.detail("not ready");
            progress.detail(format!("waiting {pause}ms"));
        }
        assert_eq!(
            progress.steps(),
            [
                "waiting for x",
                "  not ready",
                "  waiting 20ms",
                "  3 × not ready",
                "    waiting 100ms",
            ]
        );
    }
}
