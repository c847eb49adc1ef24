//! The browsers that isolated contexts share: who goes where, and which browser is not needed any more.

use crate::config::PoolSettings;
use crate::error::Result;
use engine::Browser;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The browsers that run for isolated contexts. Its lock is never held while one starts.
pub(super) struct Pool {
    settings: PoolSettings,
    members: Mutex<Members>,
    /// How many there ever were, here and in other pools of the server.
    started: Arc<AtomicU64>,
    /// Counts up whenever a browser came, went, or did not start.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Members {
    running: Vec<Member>,
    /// How many are being started for a context, which will be the first in them.
    starting: usize,
    /// How many are being started for whoever comes first.
    filling: usize,
    closed: bool,
}

/// A browser and how many contexts there are in it.
#[derive(Clone)]
pub(super) struct Member {
    /// Its number, from 1 in the order of their start.
    pub(super) number: u64,
    /// The browser.
    pub(super) browser: Browser,
    contexts: Arc<AtomicUsize>,
    /// How many there ever were.
    taken: Arc<AtomicU64>,
}

/// What becomes of a browser that has no contexts any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EmptyPolicy {
    Ends,
    Stays,
}

/// What became of a browser whose context was given back.
pub(super) enum ReleaseOutcome {
    /// Others need it, or it stays.
    Stays,
    /// Nobody needs it: it is to be closed.
    Ends,
    /// Nobody is in it, and it is to be closed when that has been so for a while: ask [`Pool::take_idle`] then.
    Waits(IdleBrowser),
}

/// A browser that nobody is in.
pub(super) struct IdleBrowser {
    pub(super) after: std::time::Duration,
    member: Member,
    taken: u64,
}

/// How a pool stands that has to have some browsers.
pub(super) enum FillState {
    /// One more was started.
    Started,
    /// There are enough: these, until the pool tells of a change, or one of them goes.
    Enough(Vec<Browser>, watch::Receiver<u64>),
    /// It starts none any more.
    Closed,
}

impl Pool {
    pub(super) fn new(settings: PoolSettings, started: Arc<AtomicU64>) -> Self {
        Self {
            settings,
            members: Mutex::default(),
            started,
            changes: watch::Sender::new(0),
        }
    }

    /// Room for one more context: in the browser with the fewest, or in another one if there may be one. `take` counts it, with
    /// [`Member::take`], before anybody else is given the same room.
    pub(super) async fn reserve<F: Future<Output = Result<Browser>>, S>(
        &self,
        start: impl FnOnce() -> F,
        take: impl FnOnce(&Member) -> S,
    ) -> Result<S> {
        let slot = loop {
            let mut changes = self.changes.subscribe();
            {
                let mut members = self.members();
                members.running.retain(Member::is_alive);
                let full = members.count() >= self.settings.max;
                let emptiest = members
                    .running
                    .iter()
                    .min_by_key(|member| member.contexts());
                match emptiest {
                    Some(member) if member.contexts() == 0 || full => {
                        return Ok(take(member));
                    }
                    // One that is about to be there will do.
                    _ if full || members.filling > 0 => {}
                    _ => break Slot::take(self, &mut members, |members| &mut members.starting),
                }
            }
            // The sender is ours.
            let _ = changes.changed().await;
        };
        let browser = start().await?;
        Ok(slot.fill(browser, take))
    }

    /// Starts one more browser if there are fewer than there have to be.
    pub(super) async fn fill<F: Future<Output = Result<Browser>>>(
        &self,
        start: impl FnOnce() -> F,
    ) -> Result<FillState> {
        let changes = self.changes.subscribe();
        let slot = {
            let mut members = self.members();
            members.running.retain(Member::is_alive);
            if members.closed {
                return Ok(FillState::Closed);
            }
            if members.count() >= self.settings.min {
                let running = members.running.iter();
                let running = running.map(|member| member.browser.clone()).collect();
                return Ok(FillState::Enough(running, changes));
            }
            Slot::take(self, &mut members, |members| &mut members.filling)
        };
        let browser = start().await?;
        slot.fill(browser, |_| ());
        Ok(FillState::Started)
    }

    /// One context less.
    pub(super) fn release_context(
        &self,
        member: &Member,
        when_empty: EmptyPolicy,
    ) -> ReleaseOutcome {
        let mut members = self.members();
        let last = member.contexts.fetch_sub(1, Ordering::AcqRel) == 1;
        if !last {
            return ReleaseOutcome::Stays;
        }
        match (when_empty, self.settings.idle_timeout) {
            (EmptyPolicy::Ends, _) => match self.remove(&mut members, member) {
                true => ReleaseOutcome::Ends,
                false => ReleaseOutcome::Stays,
            },
            (EmptyPolicy::Stays, None) => ReleaseOutcome::Stays,
            (EmptyPolicy::Stays, Some(after)) => ReleaseOutcome::Waits(IdleBrowser {
                after,
                member: member.clone(),
                taken: member.taken.load(Ordering::Acquire),
            }),
        }
    }

    /// The idle browser, to be closed, if nobody has needed it meanwhile.
    pub(super) fn take_idle(&self, idle_browser: IdleBrowser) -> Option<Browser> {
        let IdleBrowser { member, taken, .. } = idle_browser;
        let mut members = self.members();
        let needed = member.contexts() > 0 || member.taken.load(Ordering::Acquire) != taken;
        (!needed && self.remove(&mut members, &member)).then_some(member.browser)
    }

    /// Starts none any more.
    pub(super) fn close(&self) {
        self.members().closed = true;
        self.changed();
    }

    /// Takes it out, so that nobody gets one that is about to end; not where it has to stay.
    fn remove(&self, members: &mut Members, member: &Member) -> bool {
        if members.running.len() <= self.settings.min && member.is_alive() && !members.closed {
            return false;
        }
        members
            .running
            .retain(|other| other.number != member.number);
        self.changed();
        true
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Members {
    /// How many there are, with those that are about to be.
    fn count(&self) -> usize {
        self.running.len() + self.starting + self.filling
    }
}

/// Which of the numbers of browsers that are about to be counts one.
type Count = fn(&mut Members) -> &mut usize;

/// The slot of a browser that is being started: given back when dropped.
struct Slot<'a> {
    pool: &'a Pool,
    count: Option<Count>,
}

impl<'a> Slot<'a> {
    fn take(pool: &'a Pool, members: &mut Members, count: Count) -> Self {
        *count(members) += 1;
        Self {
            pool,
            count: Some(count),
        }
    }

    /// The browser is there; `first` has it before anybody else.
    fn fill<T>(mut self, browser: Browser, first: impl FnOnce(&Member) -> T) -> T {
        let mut members = self.pool.members();
        if let Some(count) = self.count.take() {
            *count(&mut members) -= 1;
        }
        let member = Member {
            number: self.pool.started.fetch_add(1, Ordering::Relaxed) + 1,
            browser,
            contexts: Arc::default(),
            taken: Arc::default(),
        };
        let had = first(&member);
        members.running.push(member);
        had
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some(count) = self.count {
            *count(&mut self.pool.members()) -= 1;
        }
        self.pool.changed();
    }
}

impl Member {
    fn is_alive(&self) -> bool {
        self.browser.closed_reason().is_none()
    }

    fn contexts(&self) -> usize {
        self.contexts.load(Ordering::Acquire)
    }

    /// One more is in it, or about to be: [`Pool::release_context`] gives it back.
    pub(super) fn take(&self) {
        self.contexts.fetch_add(1, Ordering::AcqRel);
        self.taken.fetch_add(1, Ordering::AcqRel);
    }
}
