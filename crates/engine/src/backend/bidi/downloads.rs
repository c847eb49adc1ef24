//! The downloads in progress.

use std::sync::{Mutex, PoisonError};

/// The downloads of a context in progress: the browser's key and the identifier of each.
#[derive(Default)]
pub(super) struct Downloads(Mutex<(u64, Vec<(Key, String)>)>);

/// The navigation, if there is one, and the URL.
type Key = (Option<String>, String);

impl Downloads {
    pub(super) fn insert(&self, key: Key) -> String {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        let id = format!("download-{}", state.0);
        state.1.push((key, id.clone()));
        id
    }

    pub(super) fn remove(&self, key: &Key) -> Option<String> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = state.1.iter().position(|(known, _)| known == key)?;
        Some(state.1.remove(index).1)
    }
}
