//! The order in which calls came in. Calls are handled concurrently; their places in line keep what is queued for a
//! session in the order in which the client sent it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// A line of calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrivals(Arc<Line>);

#[derive(Debug, Default)]
struct Line {
    state: Mutex<State>,
    moved: Notify,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    waiting: BTreeSet<u64>,
}

/// A place in the line. Left by [`Arrival::leave`], at the latest when its last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Arrival(Arc<Place>);

#[derive(Debug)]
struct Place {
    number: u64,
    line: Arrivals,
}

impl Arrivals {
    /// Takes the last place.
    pub(crate) fn join(&self) -> Arrival {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.waiting.insert(number);
        Arrival(Arc::new(Place {
            number,
            line: self.clone(),
        }))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, number: u64) {
        if self.state().waiting.remove(&number) {
            self.0.moved.notify_waiters();
        }
    }
}

impl Arrival {
    /// Waits until everyone who came before has left.
    pub(crate) async fn first(&self) {
        let line = &self.0.line;
        loop {
            let moved = line.0.moved.notified();
            let before = line.state().waiting.range(..self.0.number).next().copied();
            if before.is_none() {
                return;
            }
            moved.await;
        }
    }

    /// Lets the next one through.
    pub(crate) fn leave(&self) {
        self.0.line.leave(self.0.number);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.line.leave(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[test]
    fn who_came_later_waits_for_who_came_before() {
        let line = Arrivals::default();
        let (first, second, third) = (line.join(), line.join(), line.join());
        assert!(first.first().now_or_never().is_some());
        assert!(second.first().now_or_never().is_none());
        first.leave();
        assert!(second.first().now_or_never().is_some());
        assert!(third.first().now_or_never().is_none());
        drop(second);
        assert!(third.first().now_or_never().is_some());
    }
}
