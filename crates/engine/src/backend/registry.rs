//! The pages of a context, from when they appear until they are gone.

use super::PageId;
use crate::changes::Changes;
use crate::error::{Error, Result};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The number of closed pages that are remembered, for calls that still wait for one of them.
const MAX_CLOSED_PAGES: usize = 64;
/// Pages of a context that other pages opened: with as many of them, further ones are closed at once.
const MAX_POPUPS: usize = 50;

/// The pages of a context, shared with the tasks that prepare them.
pub(crate) struct PageRegistry<P> {
    pages: Mutex<Pages<P>>,
    pub(crate) changes: Changes,
    /// Holds the reason once the browser is gone.
    closed: watch::Receiver<Option<String>>,
}

/// What is known of the pages.
pub(crate) struct Pages<P> {
    open: HashMap<PageId, Arc<P>>,
    /// Attached, not yet prepared: session by page.
    opening: HashMap<PageId, String>,
    /// Those that other pages opened, also before they are prepared.
    popups: HashSet<PageId>,
    /// With the reason, if they could not be prepared.
    gone: VecDeque<(PageId, Option<Error>)>,
}

impl<P> PageRegistry<P> {
    /// `closed` holds the reason once the browser is gone.
    pub(crate) fn new(closed: watch::Receiver<Option<String>>) -> Self {
        let pages = Pages {
            open: HashMap::new(),
            opening: HashMap::new(),
            popups: HashSet::new(),
            gone: VecDeque::new(),
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

    /// The pages that are open.
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

    /// Removes a page that is gone. `report` reports that of one that was open, before the waiting for its end is over.
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

    /// Waits until `look` finds something; the end of the browser ends the waiting.
    pub(crate) async fn wait<T>(&self, mut look: impl FnMut(&Pages<P>) -> Option<T>) -> Result<T> {
        let mut closed = self.closed.clone();
        tokio::select! {
            biased;
            found = self.changes.wait(|| look(&self.pages())) => Ok(found),
            reason = closed.wait_for(Option::is_some) => {
                let reason = reason.ok().and_then(|reason| reason.clone()).unwrap_or_default();
                Err(Error::BrowserClosed { reason })
            }
        }
    }

    /// Waits until all pages are gone.
    pub(crate) async fn wait_until_empty(&self) -> Result<()> {
        self.wait(|pages| (pages.open.is_empty() && pages.opening.is_empty()).then_some(()))
            .await
    }
}

impl<P> Pages<P> {
    /// Whether another page that a page opened is admitted; counts it if so.
    pub(crate) fn admit_popup(&mut self, id: &PageId) -> bool {
        let few = self.popups.len() < MAX_POPUPS;
        few && self.popups.insert(id.clone())
    }

    /// No longer counts a popup that did not become a page.
    pub(crate) fn release_popup(&mut self, id: &PageId) {
        if !self.contains(id) {
            self.popups.remove(id);
        }
    }

    /// Adds a page that was attached and is to be prepared.
    pub(crate) fn begin(&mut self, id: PageId, session: String) {
        self.opening.insert(id, session);
    }

    /// Opens a page that was prepared, unless it is gone by now.
    pub(crate) fn finish(&mut self, id: &PageId, page: Arc<P>) {
        if self.opening.remove(id).is_some() {
            self.open.insert(id.clone(), page);
        }
    }

    /// Removes a page that cannot be prepared; `false` if it is gone by now.
    pub(crate) fn fail(&mut self, id: &PageId, error: Error) -> bool {
        let known = self.opening.contains_key(id);
        if known {
            self.remove(id, Some(error));
        }
        known
    }

    fn remove(&mut self, id: &PageId, error: Option<Error>) -> Option<Arc<P>> {
        self.opening.remove(id);
        self.popups.remove(id);
        if self.gone.len() == MAX_CLOSED_PAGES {
            self.gone.pop_front();
        }
        self.gone.push_back((id.clone(), error));
        self.open.remove(id)
    }

    /// The pages that are open.
    pub(crate) fn open(&self) -> impl Iterator<Item = (&PageId, &Arc<P>)> {
        self.open.iter()
    }

    /// The page that is prepared in this session.
    pub(crate) fn opening_in(&self, session: &str) -> Option<&PageId> {
        let mut opening = self.opening.iter();
        let found = opening.find(|(_, opening)| *opening == session);
        found.map(|(id, _)| id)
    }

    /// Whether a page is there, prepared or not.
    pub(crate) fn contains(&self, id: &PageId) -> bool {
        self.open.contains_key(id) || self.opening.contains_key(id)
    }

    /// Whether a page was there and is gone.
    pub(crate) fn is_gone(&self, id: &PageId) -> bool {
        self.gone.iter().any(|(gone, _)| gone == id)
    }

    /// Whether no page is being prepared.
    pub(crate) fn is_settled(&self) -> bool {
        self.opening.is_empty()
    }

    /// How the opening of a page ended, once it has.
    pub(crate) fn outcome(&self, id: &PageId) -> Option<Result<()>> {
        if self.open.contains_key(id) {
            return Some(Ok(()));
        }
        let (_, error) = self.gone.iter().find(|(gone, _)| gone == id)?;
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
