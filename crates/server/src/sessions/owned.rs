//! The sessions of a principal, as the dashboard shows them. Listing them prolongs no session.

use super::{ActiveUse, Created, Kind, Sessions};
use crate::access::principal::Principal;
use crate::error::{Error, Result};
use crate::sessions::session::Session;
use std::sync::Arc;

/// A session of a principal.
pub(crate) struct OwnedSession {
    /// The session.
    pub(crate) session: Arc<Session>,
    /// Its expiry; `None` for the server's default session, which has none.
    pub(crate) created: Option<Arc<Created>>,
}

/// Keeps a session from expiring until it is dropped.
pub(crate) struct InUse {
    _under_way: Option<ActiveUse>,
}

impl OwnedSession {
    /// Returns whether a client created the session, or a call has used it.
    fn is_used(&self) -> bool {
        let kind = self.created.as_ref().map(|created| created.kind);
        kind == Some(Kind::Created) || self.session.known_output().is_some()
    }

    /// Keeps the session from expiring.
    pub(crate) fn keep(&self) -> InUse {
        InUse {
            _under_way: self.created.clone().map(ActiveUse::on),
        }
    }
}

impl Sessions {
    /// Returns the sessions of a principal, oldest first. Default sessions that no call has used are left out.
    pub(crate) fn owned_by(&self, owner: &Principal) -> Vec<OwnedSession> {
        let default = owner.is_anonymous().then(|| OwnedSession {
            session: self.default.clone(),
            created: None,
        });
        let created = self.list(owner).into_iter().map(|created| OwnedSession {
            session: created.session.clone(),
            created: Some(created),
        });
        let all = default.into_iter().chain(created);
        all.filter(OwnedSession::is_used).collect()
    }

    /// Returns the session of a principal with that id.
    pub(crate) fn owned(&self, owner: &Principal, id: &str) -> Result<OwnedSession> {
        let mut all = self.owned_by(owner).into_iter();
        all.find(|owned| owned.session.id() == id)
            .ok_or_else(|| Error::SessionNotFound {
                session_id: id.to_owned(),
            })
    }

    /// Closes a session of a principal: calls that run or wait are cancelled.
    pub(crate) async fn close_owned(&self, owner: &Principal, id: &str) -> Result<()> {
        let owned = self.owned(owner, id)?;
        let _turn = owned.session.last_turn().await;
        match &owned.created {
            None => self.default.release_browser().await,
            // A call may have been faster.
            Some(created) if self.table().find(id, owner).is_ok() => self.closed(created).await,
            Some(_) => {}
        }
        Ok(())
    }
}
