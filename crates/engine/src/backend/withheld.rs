//! Pages that appear while a utility page is being created, one of which is the utility page.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Withholds pages until it is known which of them is the utility page.
pub(crate) struct Withheld<T>(Mutex<Option<Vec<T>>>);

impl<T> Default for Withheld<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Withheld<T> {
    /// Starts to withhold pages.
    pub(crate) fn begin(&self) {
        *self.pages() = Some(Vec::new());
    }

    /// Withholds a page, or returns it if pages are not withheld.
    pub(crate) fn withhold(&self, page: T) -> Option<T> {
        match &mut *self.pages() {
            Some(pages) => {
                pages.push(page);
                None
            }
            None => Some(page),
        }
    }

    /// Whether a withheld page fulfils a condition.
    pub(crate) fn any(&self, is: impl Fn(&T) -> bool) -> bool {
        self.pages().iter().flatten().any(is)
    }

    /// Removes the withheld pages that do not fulfil a condition.
    pub(crate) fn retain(&self, keep: impl Fn(&T) -> bool) {
        if let Some(pages) = &mut *self.pages() {
            pages.retain(keep);
        }
    }

    /// Stops withholding and returns the withheld pages.
    pub(crate) fn end(&self) -> Vec<T> {
        self.pages().take().unwrap_or_default()
    }

    fn pages(&self) -> MutexGuard<'_, Option<Vec<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
