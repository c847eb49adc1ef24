//! The pages of a context, from when they are attached until they are gone.

use crate::backend::PageId;
use crate::backend::cdp::page::CdpPage;
use crate::error::Error;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use wire::Session;
use wire::cdp::target;

/// Names of pages that are gone; enough for whoever still waits for one of them.
const MAX_CLOSED_PAGES: usize = 64;
/// Pages of a context that other pages opened: with as many of them, further ones are closed before they show anything.
const MAX_POPUPS: usize = 50;

/// The pages, shared with the tasks that prepare them.
#[derive(Default)]
pub(super) struct Pages {
    state: Mutex<PagesState>,
    changed: watch::Sender<u64>,
}

#[derive(Default)]
pub(super) struct PagesState {
    pub(super) open: HashMap<PageId, Arc<CdpPage>>,
    /// Attached, not yet prepared: session by page.
    pub(super) opening: HashMap<PageId, String>,
    /// Those of both that other pages opened, while we looked.
    pub(super) opened_by_pages: HashSet<PageId>,
    /// Attached while a page of our own is on its way: one of them is it.
    pub(super) withheld: Option<Vec<(Session, target::TargetInfo)>>,
    /// With the reason, if they could not be made what the context asks for.
    pub(super) gone: VecDeque<(PageId, Option<Error>)>,
}

impl Pages {
    pub(super) fn state(&self) -> MutexGuard<'_, PagesState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn bump(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    pub(super) async fn wait<T>(&self, mut look: impl FnMut(&PagesState) -> Option<T>) -> T {
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            if let Some(found) = look(&self.state()) {
                return found;
            }
            // The sender lives in `self`.
            let _ = changed.changed().await;
        }
    }
}

impl PagesState {
    /// Whether another page that a page opened may join.
    pub(super) fn admit_popup(&mut self, id: &PageId) -> bool {
        let few = self.opened_by_pages.len() < MAX_POPUPS;
        few && self.opened_by_pages.insert(id.clone())
    }

    pub(super) fn forget(&mut self, id: PageId, why: Option<Error>) {
        if self.gone.len() == MAX_CLOSED_PAGES {
            self.gone.pop_front();
        }
        self.gone.push_back((id, why));
    }
}
