//! The registry of the pages of a context.

use super::PageId;
use crate::changes::Changes;
use crate::error::{Error, Result};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The number of closed pages that are stored, for calls that still wait for one of them.
const MAX_CLOSED_PAGES: usize = 64;
/// The largest number of open popups of a context. Further ones are closed at once.
const MAX_POPUPS: usize = 50;

/// The pages of a context, which the tasks that prepare them also access.
pub(crate) struct PageRegistry<P> {
    pages: Mutex<Pages<P>>,
    pub(crate) changes: Changes,
    /// Contains the reason after the browser was closed.
    closed: watch::Receiver<Option<String>>,
}

/// The state of the pages.
pub(crate) struct Pages<P> {
    open: HashMap<PageId, Arc<P>>,
    /// The sessions of pages that are attached but not yet prepared.
    opening: HashMap<PageId, String>,
    /// Pages that other pages opened, including those that are not yet prepared.
    popups: HashSet<PageId>,
    /// Closed pages, with an error if they could not be prepared.
    closed_pages: VecDeque<(PageId, Option<Error>)>,
}

impl<P> PageRegistry<P> {
    /// Creates an empty registry. `closed` contains the reason after the browser was closed.
    pub(crate) fn new(closed: watch::Receiver<Option<String>>) -> Self {
        let pages = Pages {
            open: HashMap::new(),
            opening: HashMap::new(),
            popups: HashSet::new(),
            closed_pages: VecDeque::new(),
        };
        Self {
            pages: Mutex::new(pages),
            changes: Changes::default(),
            closed,
        }
    }

    pub(crate) fn pages(&self) -> MutexGuard<'_, Pages<P>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the open pages.
    pub(crate) fn open(&self) -> Vec<Arc<P>> {
        self.pages().open.values().cloned().collect()
    }

    pub(crate) fn get(&self, id: &PageId) -> Option<Arc<P>> {
        self.pages().open.get(id).cloned()
    }

    /// Adds a page that is ready.
    pub(crate) fn insert(&self, id: PageId, page: Arc<P>) {
        self.pages().open.insert(id, page);
        self.changes.notify();
    }

    /// Removes a page that was closed. `report` is called for an open one before calls that wait for its closing return.
    pub(crate) fn remove(&self, id: &PageId, report: impl FnOnce(&P)) {
        let removed = self.pages().remove(id, None);
        if let Some(page) = removed {
            report(&page);
        }
        self.changes.notify();
    }

    /// Removes all pages.
    pub(crate) fn clear(&self, report: impl Fn(&P)) {
        let open: Vec<_> = {
            let mut pages = self.pages();
            pages.opening.clear();
            pages.popups.clear();
            pages.open.drain().collect()
        };
        for (_, page) in open {
            report(&page);
        }
        self.changes.notify();
    }

    /// Waits until `find` returns a value. Fails when the browser is closed.
    pub(crate) async fn wait<T>(&self, mut find: impl FnMut(&Pages<P>) -> Option<T>) -> Result<T> {
        let mut closed = self.closed.clone();
        tokio::select! {
            biased;
            found = self.changes.wait(|| find(&self.pages())) => Ok(found),
            reason = closed.wait_for(Option::is_some) => {
                let reason = reason.ok().and_then(|reason| reason.clone()).unwrap_or_default();
                Err(Error::BrowserClosed { reason })
            }
        }
    }

    /// Waits until all pages are closed.
    pub(crate) async fn wait_until_empty(&self) -> Result<()> {
        self.wait(|pages| (pages.open.is_empty() && pages.opening.is_empty()).then_some(()))
            .await
    }
}

impl<P> Pages<P> {
    /// Counts a popup, if the limit permits it. Returns whether it does.
    pub(crate) fn admit_popup(&mut self, id: &PageId) -> bool {
        let few = self.popups.len() < MAX_POPUPS;
        few && self.popups.insert(id.clone())
    }

    /// Uncounts a popup that did not become a page.
    pub(crate) fn release_popup(&mut self, id: &PageId) {
        if !self.contains(id) {
            self.popups.remove(id);
        }
    }

    /// Adds a page that was attached and is to be prepared.
    pub(crate) fn begin(&mut self, id: PageId, session: String) {
        self.opening.insert(id, session);
    }

    /// Opens a page that was prepared, unless it was closed.
    pub(crate) fn finish(&mut self, id: &PageId, page: Arc<P>) {
        if self.opening.remove(id).is_some() {
            self.open.insert(id.clone(), page);
        }
    }

    /// Removes a page that cannot be prepared. Returns `false` if it was closed before.
    pub(crate) fn fail(&mut self, id: &PageId, error: Error) -> bool {
        let was_opening = self.opening.contains_key(id);
        if was_opening {
            self.remove(id, Some(error));
        }
        was_opening
    }

    fn remove(&mut self, id: &PageId, error: Option<Error>) -> Option<Arc<P>> {
        self.opening.remove(id);
        self.popups.remove(id);
        if self.closed_pages.len() == MAX_CLOSED_PAGES {
            self.closed_pages.pop_front();
        }
        self.closed_pages.push_back((id.clone(), error));
        self.open.remove(id)
    }

    /// Returns the open pages.
    pub(crate) fn open(&self) -> impl Iterator<Item = (&PageId, &Arc<P>)> {
        self.open.iter()
    }

    /// Returns the page that is being prepared in this session.
    pub(crate) fn opening_in(&self, session: &str) -> Option<&PageId> {
        let mut opening = self.opening.iter();
        let found = opening.find(|(_, opening)| *opening == session);
        found.map(|(id, _)| id)
    }

    /// Whether a page is open or being prepared.
    pub(crate) fn contains(&self, id: &PageId) -> bool {
        self.open.contains_key(id) || self.opening.contains_key(id)
    }

    /// Whether a page was closed recently.
    pub(crate) fn is_gone(&self, id: &PageId) -> bool {
        self.closed_pages.iter().any(|(page, _)| page == id)
    }

    /// Whether no page is being prepared.
    pub(crate) fn is_settled(&self) -> bool {
        self.opening.is_empty()
    }

    /// Returns the result of opening a page, once it is was_opening.
    pub(crate) fn outcome(&self, id: &PageId) -> Option<Result<()>> {
        if self.open.contains_key(id) {
            return Some(Ok(()));
        }
        let (_, error) = self.closed_pages.iter().find(|(page, _)| page == id)?;
        Some(Err(error.clone().unwrap_or(Error::PageClosed {})))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn popups_are_admitted_up_to_a_limit_and_again_when_one_is_gone() {
        let registry = PageRegistry::<()>::new(watch::Sender::new(None).subscribe());
        let id = |number: usize| PageId::from(number.to_string());
        for number in 0..MAX_POPUPS {
            assert!(registry.pages().admit_popup(&id(number)));
        }
        assert!(!registry.pages().admit_popup(&id(MAX_POPUPS)));
        registry.remove(&id(0), |()| {});
        assert!(registry.pages().admit_popup(&id(MAX_POPUPS)));
        assert!(!registry.pages().admit_popup(&id(0)));
        registry.pages().release_popup(&id(1));
        assert!(registry.pages().admit_popup(&id(0)));
    }

    #[tokio::test]
    async fn the_end_of_the_browser_ends_waiting_for_pages() {
        let closed = watch::Sender::new(None);
        let registry = PageRegistry::<()>::new(closed.subscribe());
        closed.send_replace(Some("gone".to_owned()));
        let waited = registry.wait(|pages| pages.outcome(&"page".into())).await;
        assert!(matches!(waited, Err(Error::BrowserClosed { reason }) if reason == "gone"));
    }
}
