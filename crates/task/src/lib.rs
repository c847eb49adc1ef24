//! Background work: a task has a name and ends with its owner. Long computations run on threads of their own.

mod size;

pub use size::is_large;

use serde::Serialize;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
use tracing::Instrument as _;

/// A running task; dropping it stops the task.
#[derive(Debug)]
#[must_use = "dropping a task stops it"]
pub struct Task(Option<JoinHandle<()>>);

/// Starts `work` under a name that shows in logs.
pub fn spawn(name: &'static str, work: impl Future<Output = ()> + Send + 'static) -> Task {
    // Boxed, the runtime's code for tasks is compiled once and not for each of them.
    let work: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(work);
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the function that the rule names"
    )]
    let handle = tokio::spawn(work.instrument(tracing::debug_span!("task", name)));
    Task(Some(handle))
}

/// Does `work` to its end, even if nobody waits for it any more; what nobody takes is dropped. `None` if it panicked.
pub async fn run_to_completion<T: Send + 'static>(
    name: &'static str,
    work: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let (done, waiting) = oneshot::channel();
    spawn(name, async move {
        let _ = done.send(work.await);
    })
    .detach();
    waiting.await.ok()
}

/// Undoes in the background what was begun, when it is dropped before that was done.
#[must_use = "what was begun is undone at once"]
pub struct Undo<F>(Option<(&'static str, F)>)
where
    F: Future<Output: Debug> + Send + 'static;

impl<F> Undo<F>
where
    F: Future<Output: Debug> + Send + 'static,
{
    /// Does `undo` unless it is disarmed.
    pub fn by(name: &'static str, undo: F) -> Self {
        Self(Some((name, undo)))
    }

    /// What was begun is done, and stays.
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

/// How many computations run at once. More of them would be no faster, and take the processors from what serves clients.
static COMPUTING: Semaphore = Semaphore::const_new(2);

/// Computes what a client or a page chooses the size of, on a thread of its own: the thread that serves clients stays free.
///
/// # Panics
/// When `work` does.
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let permit = COMPUTING.acquire().await;
    let (done, result) = oneshot::channel();
    // Boxed for the same reason as a task.
    let work: Box<dyn FnOnce() + Send> = Box::new(move || {
        // Kept while it computes, also when its caller has given up.
        let _permit = permit;
        let _ = done.send(work());
    });
    if let Err(failed) = tokio::task::spawn_blocking(work).await {
        std::panic::resume_unwind(failed.into_panic());
    }
    result.await.expect("it was sent before the thread ended")
}

/// Computes it on a thread of its own if it is large, else at once.
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

/// The value as JSON for people, however large it is.
pub async fn pretty<T: Serialize + Send + 'static>(value: T) -> String {
    let write = |value| serde_json::to_string_pretty(&value).unwrap_or_default();
    compute_if_large(is_large(&value), move || write(value)).await
}

/// JSON longer than this, in bytes, is not read on the thread that serves clients.
const LONG_JSON: usize = 256 * 1024;

/// Reads what a page answered.
pub async fn read_json<T>(text: String) -> serde_json::Result<T>
where
    T: serde::de::DeserializeOwned + Send + 'static,
{
    compute_if_large(text.len() > LONG_JSON, move || serde_json::from_str(&text)).await
}

impl Task {
    /// Lets the task run to its own end, without an owner.
    pub fn detach(mut self) {
        drop(self.0.take());
    }

    /// Waits for the task's own end.
    pub async fn ended(mut self) {
        if let Some(handle) = &mut self.0 {
            // A panic in a task was logged by the panic hook; its owner has nothing to add.
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
    use std::sync::Arc;
    use tokio::sync::Notify;

    /// Begins to make something, gives that up before it is made, and waits until it is undone.
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
