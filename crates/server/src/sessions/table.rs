//! The table of the sessions of a server: their names, and the slots that limit their number.

use super::options::{self, SessionName};
use super::{Created, Kind, Sessions};
use crate::access::principal::Principal;
use crate::error::{Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use uuid::Uuid;

/// The largest number of ids of ended sessions that are remembered, to distinguish them from unknown ids.
const MAX_REMEMBERED_IDS: usize = 1000;

/// The sessions with an expiry, and the names and slots that they use.
#[derive(Default)]
pub(super) struct Table {
    /// The sessions, oldest first.
    pub(super) live: Vec<Arc<Created>>,
    /// The slots of sessions and contexts that are being created, with their owners and names.
    taken: Vec<Arc<ReservedName>>,
    expired: VecDeque<Expired>,
}

/// The name of a session that is being created.
struct ReservedName {
    owner: Principal,
    name: Option<String>,
}

/// A session that expired.
struct Expired {
    id: Uuid,
    name: Option<String>,
    owner: Principal,
}

impl Table {
    /// Returns the session of that id or name, if `owner` may use it.
    pub(super) fn find(&self, id: &str, owner: &Principal) -> Result<Arc<Created>> {
        let session_id = id.to_owned();
        let uuid = Uuid::parse_str(id).ok();
        let is_meant = |known: Uuid, name: &Option<String>, of: &Principal| {
            of == owner && (uuid == Some(known) || name.as_deref() == Some(id))
        };
        let mut live = self.live.iter();
        match live.find(|created| is_meant(created.id, &created.name, &created.owner)) {
            Some(created) if !created.is_closed_to_calls() => return Ok(created.clone()),
            Some(_) => return Err(Error::SessionExpired { session_id }),
            None => {}
        }
        let mut expired = self.expired.iter();
        match expired.any(|gone| is_meant(gone.id, &gone.name, &gone.owner)) {
            true => Err(Error::SessionExpired { session_id }),
            false => Err(Error::SessionNotFound { session_id }),
        }
    }

    /// Moves a session to those that expired. Returns false if it was closed before.
    pub(super) fn expire(&mut self, created: &Created) -> bool {
        let before = self.live.len();
        self.live.retain(|other| other.id != created.id);
        if self.live.len() == before {
            return false;
        }
        self.expired.push_back(Expired {
            id: created.id,
            name: created.name.clone(),
            owner: created.owner.clone(),
        });
        if self.expired.len() > MAX_REMEMBERED_IDS {
            self.expired.pop_front();
        }
        true
    }

    fn has_name(&self, owner: &Principal, name: &str) -> bool {
        let live = self.live.iter().filter(|created| !created.has_passed());
        let mut live = live.map(|created| (&created.owner, &created.name));
        let mut taken = self.taken.iter().map(|taken| (&taken.owner, &taken.name));
        let is_it = |(of, known): (&Principal, &Option<String>)| {
            of == owner && known.as_deref() == Some(name)
        };
        live.any(is_it) || taken.any(is_it)
    }

    /// Returns the number of slots in use: by created sessions, by named contexts of any session, and by those that are being created.
    /// Default sessions do not count: `Sessions::create_default` limits those of disconnected clients, and the number of connections limits
    /// the others.
    fn slots(&self) -> usize {
        let live = self.live.iter().filter(|created| !created.has_passed());
        let live = live.map(|created| {
            let contexts = created.session.named_contexts().0.len();
            usize::from(created.kind == Kind::Created) + contexts
        });
        live.sum::<usize>() + self.taken.len()
    }
}

/// The slot of a session or named context that is being created: released when dropped.
pub(crate) struct Slot<'a>(Arc<ReservedName>, &'a Sessions);

impl<'a> Slot<'a> {
    /// Takes a slot and the name of a session. Fails if the name is in use, or the number of sessions has reached the limit.
    pub(super) fn take(
        sessions: &'a Sessions,
        tool: &'static str,
        owner: &Principal,
        name: Option<&SessionName>,
    ) -> Result<Self> {
        let max_sessions = sessions.settings.sessions.max;
        let mut table = sessions.table();
        let name = match name {
            None => None,
            Some(SessionName::Given(name)) if table.has_name(owner, name) => {
                return Err(options::invalid_name(
                    tool,
                    format!("There is a session \"{name}\" already"),
                ));
            }
            Some(SessionName::Given(name)) => Some(name.clone()),
            Some(SessionName::Proposed(name)) => {
                let numbered = (2..).map(|number| format!("{name}-{number}"));
                let mut names = std::iter::once(name.clone()).chain(numbered);
                names.find(|name| !table.has_name(owner, name))
            }
        };
        if table.slots() + sessions.default.named_contexts().0.len() >= max_sessions {
            return Err(Error::MaxSessionsReached { max_sessions });
        }
        let taken = Arc::new(ReservedName {
            owner: owner.clone(),
            name,
        });
        table.taken.push(taken.clone());
        Ok(Self(taken, sessions))
    }

    /// Returns the name of the session.
    pub(super) fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let Self(taken, sessions) = self;
        sessions
            .table()
            .taken
            .retain(|other| !Arc::ptr_eq(other, taken));
    }
}
