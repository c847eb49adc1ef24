//! Pages that appear while a page of our own is on its way: one of them is it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps such pages back until it is known which of them is ours.
pub(crate) struct Withheld<T>(Mutex<Option<Vec<T>>>);

impl<T> Default for Withheld<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Withheld<T> {
    /// From now on pages are kept back.
    pub(crate) fn begin(&self) {
        *self.pages() = Some(Vec::new());
    }

    /// Keeps a page back; returns it if that is not needed.
    pub(crate) fn withhold(&self, page: T) -> Option<T> {
        match &mut *self.pages() {
            Some(pages) => {
                pages.push(page);
                None
            }
            None => Some(page),
        }
    }

    /// Whether such a page is kept back.
    pub(crate) fn any(&self, is: impl Fn(&T) -> bool) -> bool {
        self.pages().iter().flatten().any(is)
    }

    /// Removes those that are not to be kept.
    pub(crate) fn retain(&self, keep: impl Fn(&T) -> bool) {
        if let Some(pages) = &mut *self.pages() {
            pages.retain(keep);
        }
    }

    /// No page is kept back any more; returns those that were.
    pub(crate) fn end(&self) -> Vec<T> {
        self.pages().take().unwrap_or_default()
    }

    fn pages(&self) -> MutexGuard<'_, Option<Vec<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
