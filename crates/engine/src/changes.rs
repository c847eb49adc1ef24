//! Waiting for changes of a state behind a lock.

use tokio::sync::watch;

/// Counts changes; waiters check their condition after each.
#[derive(Debug, Default)]
pub(crate) struct Changes(watch::Sender<u64>);

impl Changes {
    /// Counts a change.
    pub(crate) fn notify(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    /// Waits until `look` returns a value.
    pub(crate) async fn wait<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        let mut changes = self.0.subscribe();
        loop {
            changes.mark_unchanged();
            if let Some(found) = look() {
                return found;
            }
            // The sender is a field of `self`.
            let _ = changes.changed().await;
        }
    }
}
