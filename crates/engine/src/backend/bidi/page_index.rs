//! The index of pages by frame.

use super::page::BidiPage;
use crate::backend::FrameId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The pages of a browser by their frames. The main frames are included.
#[derive(Default)]
pub(super) struct PageIndex(Mutex<HashMap<FrameId, Arc<BidiPage>>>);

impl PageIndex {
    pub(super) fn get(&self, frame: &str) -> Option<Arc<BidiPage>> {
        self.frames().get(&FrameId::from(frame)).cloned()
    }

    pub(super) fn insert(&self, frame: &str, page: Arc<BidiPage>) {
        self.frames().insert(FrameId::from(frame), page);
    }

    pub(super) fn remove_frame(&self, frame: &FrameId) {
        self.frames().remove(frame);
    }

    pub(super) fn remove_page(&self, closed: &BidiPage) {
        self.frames()
            .retain(|_, page| !std::ptr::eq(&**page, closed));
    }

    /// Removes all pages of a closed browser.
    pub(super) fn clear(&self) {
        self.frames().clear();
    }

    fn frames(&self) -> MutexGuard<'_, HashMap<FrameId, Arc<BidiPage>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
