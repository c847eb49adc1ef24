//! The call queue. Calls are handled concurrently; their tickets preserve the order in which the client sent the calls of a session.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// A queue of calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallQueue(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    moved: Notify,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    waiting: BTreeSet<u64>,
}

/// A position in the queue, which is left with [`Ticket::leave`] or when its last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Ticket(Arc<TicketState>);

#[derive(Debug)]
struct TicketState {
    number: u64,
    queue: CallQueue,
}

impl CallQueue {
    /// Enters the queue at its end.
    pub(crate) fn join(&self) -> Ticket {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.waiting.insert(number);
        Ticket(Arc::new(TicketState {
            number,
            queue: self.clone(),
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

impl Ticket {
    /// Waits until all earlier tickets have left.
    pub(crate) async fn first(&self) {
        let queue = &self.0.queue;
        loop {
            let moved = queue.0.moved.notified();
            let before = queue.state().waiting.range(..self.0.number).next().copied();
            if before.is_none() {
                return;
            }
            moved.await;
        }
    }

    /// Leaves the queue, so that the next ticket is first.
    pub(crate) fn leave(&self) {
        self.0.queue.leave(self.0.number);
    }
}

impl Drop for TicketState {
    fn drop(&mut self) {
        self.queue.leave(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[test]
    fn a_later_call_waits_for_earlier_calls() {
        let queue = CallQueue::default();
        let (first, second, third) = (queue.join(), queue.join(), queue.join());
        assert!(first.first().now_or_never().is_some());
        assert!(second.first().now_or_never().is_none());
        first.leave();
        assert!(second.first().now_or_never().is_some());
        assert!(third.first().now_or_never().is_none());
        drop(second);
        assert!(third.first().now_or_never().is_some());
    }
}
