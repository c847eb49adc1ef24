//! The browsers that isolated contexts share: who goes where, and which browser is not needed any more.

use crate::config::PoolSettings;
use crate::error::Result;
use engine::Browser;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The browsers that run for isolated contexts.
pub(super) struct Pool {
    settings: PoolSettings,
    members: tokio::sync::Mutex<Vec<Member>>,
    /// How many there ever were.
    started: AtomicU64,
    closed: AtomicBool,
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
pub(super) enum Afterwards {
    Ends,
    Stays,
}

/// What became of a browser whose context was given back.
pub(super) enum Vacated {
    /// Others need it, or it stays.
    Stays,
    /// Nobody needs it: it is to be closed.
    Ends,
    /// Nobody is in it, and it is to be closed when that has been so for a while: ask [`Pool::retire`] then.
    Waits(Retirement),
}

/// A browser that nobody is in.
pub(super) struct Retirement {
    pub(super) after: std::time::Duration,
    member: Member,
    taken: u64,
}

impl Pool {
    pub(super) fn new(settings: PoolSettings) -> Self {
        Self {
            settings,
            members: tokio::sync::Mutex::default(),
            started: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        }
    }

    /// Room for one more context: in the browser with the fewest, or in another one if there may be one.
    pub(super) async fn seat<F: Future<Output = Result<Browser>>>(
        &self,
        start: impl FnOnce() -> F,
    ) -> Result<(Member, Seat)> {
        let mut members = self.members.lock().await;
        members.retain(Member::lives);
        let emptiest = members.iter().min_by_key(|member| member.contexts());
        let member = match emptiest {
            Some(member) if member.contexts() == 0 || members.len() >= self.settings.max => {
                member.clone()
            }
            _ => {
                let member = self.member(start().await?);
                members.push(member.clone());
                member
            }
        };
        let seat = Seat::in_(&member);
        Ok((member, seat))
    }

    /// Starts one more browser if there are fewer than there have to be; `None` when there are enough.
    pub(super) async fn fill<F: Future<Output = Result<Browser>>>(
        &self,
        start: impl FnOnce() -> F,
    ) -> Result<Option<Browser>> {
        let mut members = self.members.lock().await;
        members.retain(Member::lives);
        if members.len() >= self.settings.min || self.closed.load(Ordering::Acquire) {
            return Ok(None);
        }
        let member = self.member(start().await?);
        members.push(member.clone());
        Ok(Some(member.browser))
    }

    /// One context less.
    pub(super) async fn vacate(&self, member: &Member, afterwards: Afterwards) -> Vacated {
        let mut members = self.members.lock().await;
        let last = member.contexts.fetch_sub(1, Ordering::AcqRel) == 1;
        if !last {
            return Vacated::Stays;
        }
        match (afterwards, self.settings.idle_timeout) {
            (Afterwards::Ends, _) => match self.remove(&mut members, member) {
                true => Vacated::Ends,
                false => Vacated::Stays,
            },
            (Afterwards::Stays, None) => Vacated::Stays,
            (Afterwards::Stays, Some(after)) => Vacated::Waits(Retirement {
                after,
                member: member.clone(),
                taken: member.taken.load(Ordering::Acquire),
            }),
        }
    }

    /// The browser of a retirement, to be closed, if nobody has needed it meanwhile.
    pub(super) async fn retire(&self, retirement: Retirement) -> Option<Browser> {
        let Retirement { member, taken, .. } = retirement;
        let mut members = self.members.lock().await;
        let needed = member.contexts() > 0 || member.taken.load(Ordering::Acquire) != taken;
        (!needed && self.remove(&mut members, &member)).then_some(member.browser)
    }

    /// Starts none any more.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Takes it out, so that nobody gets one that is about to end; not where it has to stay.
    fn remove(&self, members: &mut Vec<Member>, member: &Member) -> bool {
        let closing = self.closed.load(Ordering::Acquire);
        if members.len() <= self.settings.min && member.lives() && !closing {
            return false;
        }
        members.retain(|other| other.number != member.number);
        true
    }

    fn member(&self, browser: Browser) -> Member {
        Member {
            number: self.started.fetch_add(1, Ordering::AcqRel) + 1,
            browser,
            contexts: Arc::default(),
            taken: Arc::default(),
        }
    }
}

impl Member {
    fn lives(&self) -> bool {
        self.browser.closed_reason().is_none()
    }

    fn contexts(&self) -> usize {
        self.contexts.load(Ordering::Acquire)
    }
}

/// One more among the contexts of a browser; one less again when dropped.
pub(super) struct Seat(Option<Arc<AtomicUsize>>);

impl Seat {
    fn in_(member: &Member) -> Self {
        member.contexts.fetch_add(1, Ordering::AcqRel);
        member.taken.fetch_add(1, Ordering::AcqRel);
        Self(Some(member.contexts.clone()))
    }

    /// The context is there: [`Pool::vacate`] gives it back.
    pub(super) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(contexts) = &self.0 {
            contexts.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
