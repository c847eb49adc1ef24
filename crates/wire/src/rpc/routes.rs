//! Routing of events to queues. A target that is attached at the browser level has one queue, which its child sessions share, so that all
//! events of a page are ordered.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;

use super::queue::{Backpressure, EventStream, Item, Queue, RawEvent, queue};
use crate::cdp::target;
use crate::error::Error;

const DETACHED: &str = "its target was closed or detached";

/// The attached sessions.
pub(super) struct Routes {
    root: Queue,
    sessions: HashMap<Arc<str>, Route>,
}

struct Route {
    /// The session that attached this one; `None` for the browser level.
    parent: Option<Arc<str>>,
    events: Events,
}

enum Events {
    /// A queue of its own, with its stream until it is taken.
    Own(Queue, Option<EventStream>),
    /// The queue of this session.
    Of(Arc<str>),
}

impl Routes {
    pub(super) fn new(root: Queue) -> Self {
        Self {
            root,
            sessions: HashMap::new(),
        }
    }

    /// Adds an event to its queue, after updating the routes if it attaches or detaches a session. Returns the detached sessions, and the
    /// queue if it is nearly full.
    pub(super) fn deliver(&mut self, event: RawEvent) -> (Vec<Arc<str>>, Option<Backpressure>) {
        let mut gone = Vec::new();
        if event.is::<target::AttachedToTarget>() {
            if let Some(id) = session_id(&event) {
                self.attach(id, event.session.clone());
            }
        } else if event.is::<target::DetachedFromTarget>()
            && let Some(id) = session_id(&event)
        {
            gone = self.detach(&id);
        }
        let session = event.session.clone();
        let crowd = self.queue(session.as_ref()).and_then(|queue| {
            queue.push(Item::Event(event));
            queue.backpressure()
        });
        (gone, crowd)
    }

    /// Returns whether the item was queued. Items of ended sessions are dropped.
    pub(super) fn push(&mut self, session: Option<&Arc<str>>, item: Item) -> bool {
        self.queue(session).is_some_and(|queue| queue.push(item))
    }

    pub(super) fn take_events(&mut self, session: &str) -> Option<EventStream> {
        match &mut self.sessions.get_mut(session)?.events {
            Events::Own(_, stream) => stream.take(),
            Events::Of(_) => None,
        }
    }

    /// Ends all queues.
    pub(super) fn end(&mut self, reason: &str) {
        self.root.end(reason);
        for (_, mut route) in self.sessions.drain() {
            if let Events::Own(queue, _) = &mut route.events {
                queue.end(reason);
            }
        }
    }

    /// Returns why a session's queue has ended.
    pub(super) fn end_reason(&mut self, session: Option<&Arc<str>>) -> String {
        match self.queue(session) {
            Some(queue) => queue.end_reason().unwrap_or(DETACHED).into(),
            None => DETACHED.into(),
        }
    }

    fn queue(&mut self, session: Option<&Arc<str>>) -> Option<&mut Queue> {
        let Some(session) = session else {
            return Some(&mut self.root);
        };
        let owner = match &self.sessions.get(session)?.events {
            Events::Own(..) => Arc::clone(session),
            Events::Of(owner) => Arc::clone(owner),
        };
        match &mut self.sessions.get_mut(&owner)?.events {
            Events::Own(queue, _) => Some(queue),
            Events::Of(_) => None,
        }
    }

    fn attach(&mut self, id: Arc<str>, parent: Option<Arc<str>>) {
        let events = match &parent {
            None => {
                let (queue, stream) = queue();
                Events::Own(queue, Some(stream))
            }
            Some(parent) => match self.sessions.get(parent).map(|route| &route.events) {
                Some(Events::Of(owner)) => Events::Of(Arc::clone(owner)),
                _ => Events::Of(Arc::clone(parent)),
            },
        };
        self.sessions.insert(id, Route { parent, events });
    }

    /// Removes a session and its child sessions.
    fn detach(&mut self, id: &Arc<str>) -> Vec<Arc<str>> {
        let mut gone = vec![Arc::clone(id)];
        let mut checked = 0;
        while checked < gone.len() {
            let parent = Arc::clone(&gone[checked]);
            let children = self
                .sessions
                .iter()
                .filter(|(_, route)| route.parent.as_ref() == Some(&parent));
            gone.extend(children.map(|(id, _)| Arc::clone(id)));
            checked += 1;
        }
        for id in &gone {
            if let Some(Route {
                events: Events::Own(mut queue, _),
                ..
            }) = self.sessions.remove(id)
            {
                queue.end(DETACHED);
            }
        }
        gone
    }
}

/// Returns the error of a call whose session was detached.
pub(super) fn detached(session: &Arc<str>) -> Error {
    Error::SessionClosed {
        session: session.to_string(),
        reason: DETACHED.into(),
    }
}

fn session_id(event: &RawEvent) -> Option<Arc<str>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct SessionReference {
        session_id: String,
    }
    let mentioned: SessionReference = serde_json::from_str(event.params.get()).ok()?;
    Some(mentioned.session_id.into())
}
