//! What changed on a page since the last snapshot of its document.

use engine::{LoaderId, Snapshot};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use task::compute_if_large;

/// The largest snapshot that a tab keeps, in bytes. The changes of larger pages are not listed.
const MAX_KEPT_BYTES: usize = 1024 * 1024;

/// The largest kept snapshot after which an action takes another one for its changes alone, in bytes.
const MAX_SMALL_BYTES: usize = 64 * 1024;

/// The last snapshot of a complete page.
#[derive(Default)]
pub(super) struct LastSnapshot(Mutex<Option<Kept>>);

#[derive(Clone)]
struct Kept {
    document: Option<LoaderId>,
    /// `None` if it was too large.
    snapshot: Option<Arc<Snapshot>>,
}

/// The result of comparing a snapshot with the last one.
#[derive(Debug)]
pub(crate) enum Comparison {
    /// The changes.
    Lines(Vec<String>),
    /// No snapshot of this document was taken, or it showed nothing.
    NewDocument,
    /// One of the snapshots is too large.
    TooLarge,
}

/// What is known of the current document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownSize {
    /// No snapshot of it was taken, or it showed nothing.
    Unknown,
    /// Another snapshot of it costs little.
    Small,
    Large,
}

impl LastSnapshot {
    /// Compares a snapshot of the complete page with the last one. With `keeps`, the snapshot is kept in place of that.
    pub(super) async fn compare(
        &self,
        document: Option<LoaderId>,
        snapshot: &Snapshot,
        keeps: bool,
        max_tokens: usize,
    ) -> Comparison {
        let new = (snapshot.size() <= MAX_KEPT_BYTES).then(|| Arc::new(snapshot.clone()));
        let last = match keeps {
            true => self.lock().replace(Kept {
                document: document.clone(),
                snapshot: new.clone(),
            }),
            false => self.lock().clone(),
        };
        let Some(last) = last.filter(|last| last.document == document) else {
            return Comparison::NewDocument;
        };
        let (Some(last), Some(new)) = (last.snapshot, new) else {
            return Comparison::TooLarge;
        };
        if last.text.is_empty() {
            return Comparison::NewDocument;
        }
        let is_large = new.size().max(last.size()) > MAX_SMALL_BYTES;
        let changes = move || new.changes_since(&last, Some(max_tokens));
        Comparison::Lines(compute_if_large(is_large, changes).await)
    }

    /// Returns what is known of the current document.
    pub(super) fn known_size(&self, document: &Option<LoaderId>) -> KnownSize {
        let last = self.lock();
        match last.as_ref().filter(|last| last.document == *document) {
            None => KnownSize::Unknown,
            Some(Kept {
                snapshot: Some(snapshot),
                ..
            }) if snapshot.text.is_empty() => KnownSize::Unknown,
            Some(Kept {
                snapshot: Some(snapshot),
                ..
            }) if snapshot.size() <= MAX_SMALL_BYTES => KnownSize::Small,
            Some(_) => KnownSize::Large,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
