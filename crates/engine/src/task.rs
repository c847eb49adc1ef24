//! The one door to background work: a task has a name and ends with its owner.

use std::future::Future;
use tokio::task::JoinHandle;
use tracing::Instrument as _;

/// A running task; dropping it stops the task.
#[derive(Debug)]
#[must_use = "dropping a task stops it"]
pub struct Task(Option<JoinHandle<()>>);

/// Starts `work` under a name that shows in logs.
pub fn spawn(name: &'static str, work: impl Future<Output = ()> + Send + 'static) -> Task {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door the rule points at"
    )]
    let handle = tokio::spawn(work.instrument(tracing::debug_span!("task", name)));
    Task(Some(handle))
}

/// Does `work` to its end, even if nobody waits for it any more; what nobody takes is dropped. `None` if it panicked.
pub async fn to_the_end<T: Send + 'static>(
    name: &'static str,
    work: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let (done, waiting) = tokio::sync::oneshot::channel();
    spawn(name, async move {
        let _ = done.send(work.await);
    })
    .detach();
    waiting.await.ok()
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
