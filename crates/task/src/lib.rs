//! Background tasks, which have a name and end with their owner, and long computations on threads of their own.

mod size;

pub use size::is_large;

use serde::Serialize;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
use tracing::Instrument as _;

/// A running task; dropping it stops the task.
#[derive(Debug)]
#[must_use = "dropping a task stops it"]
pub struct Task(Option<JoinHandle<()>>);

/// Starts `work` under a name that is used in logs. Its log lines and spans do not belong to the current call, which may end before it.
pub fn spawn(name: &'static str, work: impl Future<Output = ()> + Send + 'static) -> Task {
    // Boxed, so that the runtime's code for tasks is compiled once and not for each future.
    let work: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(work);
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the function that the rule names"
    )]
    let handle = tokio::spawn(work.instrument(tracing::debug_span!(parent: None, "task", name)));
    Task(Some(handle))
}

/// Runs `work` to its end, even if the caller is cancelled; an unused result is dropped. Returns `None` if it panicked. Its log lines and
/// spans belong to the current call.
pub async fn run_to_completion<T: Send + 'static>(
    name: &'static str,
    work: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let (done, waiting) = oneshot::channel();
    let work = async move {
        let _ = done.send(work.await);
    };
    spawn(name, work.in_current_span()).detach();
    waiting.await.ok()
}

/// A guard that undoes an operation in the background when it is dropped before the operation has completed.
#[must_use = "what was begun is undone at once"]
pub struct Undo<F>(Option<(&'static str, F)>)
where
    F: Future<Output: Debug> + Send + 'static;

impl<F> Undo<F>
where
    F: Future<Output: Debug> + Send + 'static,
{
    /// Creates a guard that runs `undo` unless it is disarmed.
    pub fn by(name: &'static str, undo: F) -> Self {
        Self(Some((name, undo)))
    }

    /// Marks the operation as completed.
    pub fn disarm(mut self) {
        self.0 = None;
    }
}

impl<F> Drop for Undo<F>
where
    F: Future<Output: Debug> + Send + 'static,
{
    fn drop(&mut self) {
        if let Some((name, undo)) = self.0.take() {
            spawn(name, async move {
                let undone = undo.await;
                tracing::debug!(?undone, "undone: it was given up half-way");
            })
            .detach();
        }
    }
}

/// Limits concurrent computations. More of them would not be faster, and would take processors from the threads that serve clients.
static COMPUTING: Semaphore = Semaphore::const_new(2);

/// Runs a computation, whose input size a client or a page controls, on a thread of its own, so that the thread that serves clients stays
/// free.
///
/// # Panics
/// When `work` does.
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let result = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&result);
    compute_boxed(Box::new(move || {
        let value = work();
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }))
    .await;
    let mut result = result.lock().unwrap_or_else(PoisonError::into_inner);
    result.take().expect("it was set before the thread ended")
}

/// Runs a computation on a thread of its own. Boxed for the same reason as a task.
async fn compute_boxed(work: Box<dyn FnOnce() + Send>) {
    let permit = COMPUTING.acquire().await;
    let work = move || {
        // Held during the computation, even if its caller was cancelled.
        let _permit = permit;
        work();
    };
    if let Err(failed) = tokio::task::spawn_blocking(work).await {
        std::panic::resume_unwind(failed.into_panic());
    }
}

/// Runs a computation on a thread of its own if it is large, otherwise at once.
///
/// # Panics
/// When `work` does.
pub async fn compute_if_large<T: Send + 'static>(
    is_large: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    match is_large {
        true => compute(work).await,
        false => work(),
    }
}

/// Formats the value as indented JSON, however large it is.
pub async fn pretty<T: Serialize + Send + 'static>(value: T) -> String {
    let write = |value| serde_json::to_string_pretty(&value).unwrap_or_default();
    compute_if_large(is_large(&value), move || write(value)).await
}

/// The longest JSON that is parsed on the thread that serves clients, in bytes.
const LONG_JSON: usize = 256 * 1024;

/// Parses JSON from a page.
pub async fn read_json<T>(text: String) -> serde_json::Result<T>
where
    T: serde::de::DeserializeOwned + Send + 'static,
{
    compute_if_large(text.len() > LONG_JSON, move || serde_json::from_str(&text)).await
}

impl Task {
    /// Lets the task run to its end without an owner.
    pub fn detach(mut self) {
        drop(self.0.take());
    }

    /// Waits for the end of the task.
    pub async fn ended(mut self) {
        if let Some(handle) = &mut self.0 {
            // A panic in a task was logged by the panic hook.
            let _ = handle.await;
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(handle) = &self.0 {
            handle.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::Notify;

    /// Starts an operation, cancels it before it completes, and waits until it is undone.
    #[tokio::test]
    async fn a_cancelled_creation_is_undone() {
        let (go_on, undone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (made, undo) = (go_on.clone(), undone.clone());
        let making = run_to_completion("making", async move {
            made.notified().await;
            Undo::by("undoing", async move { undo.notify_one() })
        });
        let given_up = tokio::time::timeout(std::time::Duration::ZERO, making).await;
        assert!(given_up.is_err());
        go_on.notify_one();
        undone.notified().await;
    }

    #[tokio::test]
    async fn a_disarmed_undo_does_nothing() {
        let undone = Arc::new(Notify::new());
        let undo = undone.clone();
        let made = async move { Undo::by("undoing", async move { undo.notify_one() }) };
        run_to_completion("making", made)
            .await
            .expect("it is made")
            .disarm();
        tokio::task::yield_now().await;
        assert_eq!(Arc::strong_count(&undone), 1);
    }
}
