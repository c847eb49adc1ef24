//! The files that the user gave to pages of the session.

use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// The largest size of the files that are kept, in bytes; the oldest are removed first.
const MAX_KEPT: u64 = 500 * 1024 * 1024;

/// The folders of uploads with their sizes, oldest first.
#[derive(Default)]
pub(crate) struct Uploads(Mutex<Vec<(TempDir, u64)>>);

impl Uploads {
    /// Keeps a folder until the browser context is closed, because pages read files when they need them.
    pub(crate) fn keep(&self, folder: TempDir, size: u64) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((folder, size));
        while kept.iter().map(|(_, size)| size).sum::<u64>() > MAX_KEPT {
            kept.remove(0);
        }
    }

    /// Removes all files.
    pub(super) fn clear(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clear();
    }
}
