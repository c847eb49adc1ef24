//! The browser pool: assigns isolated contexts to browsers, and determines which browsers are no longer needed.

use crate::config::PoolSettings;
use crate::error::Result;
use engine::Browser;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The browsers for isolated contexts. The lock is never held during a launch.
pub(super) struct Pool {
    settings: PoolSettings,
    members: Mutex<Members>,
    /// The number of browsers that were ever launched, in all pools of the server.
    started: Arc<AtomicU64>,
    /// Incremented when a browser was launched, ended, or failed to launch.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Members {
    running: Vec<Member>,
    /// The number of browsers that are being launched for a context, which will be the first in them.
    starting: usize,
    /// The number of browsers that are being launched in advance.
    filling: usize,
    closed: bool,
}

/// A browser and the number of its contexts.
#[derive(Clone)]
pub(super) struct Member {
    /// The number of the browser, from 1 in launch order.
    pub(super) number: u64,
    /// The browser.
    pub(super) browser: Browser,
    contexts: Arc<AtomicUsize>,
    /// The number of contexts that were ever created.
    taken: Arc<AtomicU64>,
}

/// What happens to a browser without contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EmptyPolicy {
    Ends,
    Stays,
}

/// What happens to a browser whose context was released.
pub(super) enum ReleaseOutcome {
    /// The browser is kept.
    Stays,
    /// The browser is no longer needed: close it.
    Ends,
    /// The browser is idle: call [`Pool::take_idle`] after the idle timeout.
    Waits(IdleBrowser),
}

/// A browser without contexts.
pub(super) struct IdleBrowser {
    pub(super) after: std::time::Duration,
    member: Member,
    taken: u64,
}

/// The state of a pool with a minimum number of browsers.
pub(super) enum FillState {
    /// One more browser was launched.
    Started,
    /// These browsers are enough, until the pool changes or one of them ends.
    Enough(Vec<Browser>, watch::Receiver<u64>),
    /// The pool launches no more browsers.
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

    /// Reserves a context in the browser with the fewest, or in a new one if the limits permit it. `take` counts the context with
    /// [`Member::take`], before another caller can get the same slot.
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
                    // A browser that is being launched suffices.
                    _ if full || members.filling > 0 => {}
                    _ => break Slot::take(self, &mut members, |members| &mut members.starting),
                }
            }
            // The sender is a field of `self`.
            let _ = changes.changed().await;
        };
        let browser = start().await?;
        Ok(slot.fill(browser, take))
    }

    /// Launches one browser if there are fewer than the minimum.
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

    /// Counts one context less.
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

    /// Removes and returns the idle browser, if no context was created in it meanwhile.
    pub(super) fn take_idle(&self, idle_browser: IdleBrowser) -> Option<Browser> {
        let IdleBrowser { member, taken, .. } = idle_browser;
        let mut members = self.members();
        let needed = member.contexts() > 0 || member.taken.load(Ordering::Acquire) != taken;
        (!needed && self.remove(&mut members, &member)).then_some(member.browser)
    }

    /// Stops launching browsers.
    pub(super) fn close(&self) {
        self.members().closed = true;
        self.changed();
    }

    /// Removes a browser from the pool, so that no context is created in it; returns `false` if the browser must be kept.
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
    /// Returns the number of browsers, including those that are being launched.
    fn count(&self) -> usize {
        self.running.len() + self.starting + self.filling
    }
}

/// Selects the counter of browsers that are being launched.
type Count = fn(&mut Members) -> &mut usize;

/// The slot of a browser that is being launched: released when dropped.
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

    /// Adds the launched browser; `first` reserves it before other callers.
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

    /// Counts one context more, which [`Pool::release_context`] subtracts again.
    pub(super) fn take(&self) {
        self.contexts.fetch_add(1, Ordering::AcqRel);
        self.taken.fetch_add(1, Ordering::AcqRel);
    }
}
