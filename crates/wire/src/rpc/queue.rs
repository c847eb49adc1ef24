//! The event queue of a consumer: bounded, ordered, without gaps.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::error::Result;
use crate::json;
use crate::message::Event;

/// The largest number of events in a queue; one more ends its stream.
pub const QUEUE_CAPACITY: usize = 16_384;
/// The room below which the connection waits for the consumer.
const MIN_ROOM: usize = QUEUE_CAPACITY / 4;
/// The room that it waits for.
const WANTED_ROOM: usize = QUEUE_CAPACITY / 2;
/// A consumer that takes less than `STEP` events in this time is blocked, and must not block the others.
const CONSUMER_TIMEOUT: Duration = Duration::from_secs(5);
const STEP: usize = QUEUE_CAPACITY / 64;

/// An event whose parameters are not parsed.
#[derive(Debug, Clone)]
pub struct RawEvent {
    /// The session of the event; `None` at the browser level.
    pub session: Option<Arc<str>>,
    /// The method, such as `Page.frameNavigated`.
    pub method: Box<str>,
    /// The parameters.
    pub params: Box<RawValue>,
}

impl RawEvent {
    /// Returns whether this is an `E`.
    pub fn is<E: Event>(&self) -> bool {
        &*self.method == E::METHOD
    }

    /// Parses the event as an `E`; `None` if it is another one.
    pub fn parse<E: Event>(&self) -> Option<Result<E>> {
        self.is::<E>()
            .then(|| json::decode(E::METHOD, &self.params))
    }
}

/// The events of one queue, in the order in which they arrived.
pub struct EventStream {
    items: mpsc::Receiver<Item>,
    end: Arc<OnceLock<String>>,
}

impl EventStream {
    /// Returns the next event; `None` when the session or connection has ended and all its events were taken. The call marks the previous
    /// events as handled, which opens the barriers ([`flush`](super::Session::flush)) among them. Cancel-safe.
    pub async fn next(&mut self) -> Option<RawEvent> {
        loop {
            match self.items.recv().await? {
                Item::Event(event) => return Some(event),
                // The waiter may be cancelled.
                Item::Barrier(passed) => drop(passed.send(())),
            }
        }
    }

    /// Returns why the stream has ended or will end, if known.
    pub fn end_reason(&self) -> Option<&str> {
        self.end.get().map(String::as_str)
    }
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventStream")
            .field("end_reason", &self.end_reason())
            .finish_non_exhaustive()
    }
}

pub(super) enum Item {
    Event(RawEvent),
    Barrier(oneshot::Sender<()>),
}

/// The sender of an [`EventStream`].
pub(super) struct Queue {
    /// `None` after the stream has ended.
    items: Option<mpsc::Sender<Item>>,
    end: Arc<OnceLock<String>>,
    /// Whether the connection waits or has waited for this queue.
    waited_for: bool,
}

/// A queue that fills faster than it is read.
pub(super) struct Backpressure(mpsc::Sender<Item>);

impl Backpressure {
    /// Waits until the consumer has read enough events, or proves to be blocked.
    pub(super) async fn wait_for_room(self) {
        loop {
            let wanted = (self.0.capacity() + STEP).min(WANTED_ROOM);
            // Reading continues in any case; a full queue then ends.
            let Ok(Ok(_)) =
                tokio::time::timeout(CONSUMER_TIMEOUT, self.0.reserve_many(wanted)).await
            else {
                return;
            };
            if wanted == WANTED_ROOM {
                return;
            }
        }
    }
}

pub(super) fn queue() -> (Queue, EventStream) {
    let (sender, items) = mpsc::channel(QUEUE_CAPACITY);
    let end = Arc::<OnceLock<String>>::default();
    let queue = Queue {
        items: Some(sender),
        end: Arc::clone(&end),
        waited_for: false,
    };
    (queue, EventStream { items, end })
}

impl Queue {
    /// Returns whether the item was added. A full queue ends instead of omitting an item.
    pub(super) fn push(&mut self, item: Item) -> bool {
        let Some(items) = &self.items else {
            return false;
        };
        match items.try_send(item) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                tracing::warn!("a queue of {QUEUE_CAPACITY} events is full and ends");
                self.end(&format!(
                    "{QUEUE_CAPACITY} events were waiting to be handled, and more came"
                ));
                false
            }
            Err(mpsc::error::TrySendError::Closed(_)) => {
                self.end("its events are not read");
                false
            }
        }
    }

    /// Returns the backpressure once each time when the queue becomes nearly full.
    pub(super) fn backpressure(&mut self) -> Option<Backpressure> {
        let items = self.items.as_ref()?;
        let room = items.capacity();
        // The consumer was not blocked. (Less than `WANTED_ROOM`: the wait ends with exactly that room, and the next event has used some
        // already.)
        if room >= MIN_ROOM + STEP {
            self.waited_for = false;
        }
        if room >= MIN_ROOM || self.waited_for {
            return None;
        }
        self.waited_for = true;
        Some(Backpressure(items.clone()))
    }

    /// Ends the stream after its items. Only the first reason counts.
    pub(super) fn end(&mut self, reason: &str) {
        let _ = self.end.set(reason.into());
        self.items = None;
    }

    pub(super) fn end_reason(&self) -> Option<&str> {
        self.end.get().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn event() -> Item {
        Item::Event(RawEvent {
            session: None,
            method: "Runtime.consoleAPICalled".into(),
            params: RawValue::NULL.to_owned(),
        })
    }

    /// Fills the queue until it reports backpressure.
    fn fill(queue: &mut Queue) -> Backpressure {
        loop {
            assert!(queue.push(event()), "it asks before it is full");
            if let Some(crowd) = queue.backpressure() {
                return crowd;
            }
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_progressing_consumer_is_waited_for_each_time() {
        let (mut queue, mut events) = queue();
        for _ in 0..20 {
            let crowd = fill(&mut queue);
            let mut thinned = std::pin::pin!(crowd.wait_for_room());
            // Reads no more events than necessary.
            while (&mut thinned).now_or_never().is_none() {
                events.next().await.unwrap();
            }
        }
        assert_eq!(queue.end_reason(), None);
    }
}
