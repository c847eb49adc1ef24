//! Waiting for changes of something that stands behind a lock.

use tokio::sync::watch;

/// Counts changes; waiting code checks its condition after each.
#[derive(Debug, Default)]
pub(crate) struct Changes(watch::Sender<u64>);

impl Changes {
    /// Counts a change.
    pub(crate) fn notify(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    /// Waits until `look` finds something.
    pub(crate) async fn wait<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        let mut changes = self.0.subscribe();
        loop {
            changes.mark_unchanged();
            if let Some(found) = look() {
                return found;
            }
            // The sender lives in `self`.
            let _ = changes.changed().await;
        }
    }
}
