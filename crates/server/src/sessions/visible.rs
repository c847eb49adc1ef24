//! The sessions that a caller can use: its own, those of its principal, and the default one.

use super::table::Slot;
use super::{ActiveUse, Caller, Created, DefaultScope, SelectedSession, SessionOptions, Sessions};
use crate::access::principal::Permission;
use crate::apps::DevServers;
use crate::calls::{Call, Client};
use crate::error::{Error, Result};
use crate::sessions::session::{DEFAULT_NAME, Session};
use std::sync::Arc;

/// A session that tests an app, which does not expire while a call uses it.
pub(crate) struct Tested {
    /// The session.
    pub(crate) created: Arc<Created>,
    _under_way: ActiveUse,
}

/// The sessions that a caller can use.
#[derive(Clone)]
pub(crate) struct Visible {
    sessions: Arc<Sessions>,
    caller: Caller,
}

impl Visible {
    pub(crate) fn new(sessions: Arc<Sessions>, caller: Caller) -> Self {
        Self { sessions, caller }
    }

    /// Returns whether the caller has the permission `browser:admin`.
    pub(crate) fn has_sensitive_access(&self) -> bool {
        self.caller.principal.permission() == Permission::Admin
    }

    /// Returns the servers of the app under test.
    pub(crate) fn dev_servers(&self) -> &Arc<DevServers> {
        &self.sessions.dev_servers
    }

    /// Returns the session that tests an app: the session of the call, or the only one that tests an app if the call is for the default
    /// session.
    pub(crate) fn e2e(&self, session: &Arc<Session>) -> Result<Tested> {
        let all = self.list().into_iter();
        let mut tested: Vec<_> = all
            .filter(|created| created.session.app().is_some())
            .collect();
        let named = tested
            .iter()
            .position(|created| Arc::ptr_eq(&created.session, session));
        let is_home = || Arc::ptr_eq(&self.default_session().session, session);
        let index = match (named, tested.len()) {
            (Some(index), _) => index,
            (None, 1) if is_home() => 0,
            _ => {
                return Err(Error::NoE2eSession {
                    sessions: tested.iter().map(|created| created.label()).collect(),
                });
            }
        };
        let created = tested.swap_remove(index);
        Ok(Tested {
            _under_way: ActiveUse::on(created.clone()),
            created,
        })
    }

    /// Ends a session when it has its turn.
    pub(crate) async fn end(&self, created: &Created) {
        self.sessions.closed(created).await;
    }

    /// Ends a session whose id was not reported yet.
    pub(crate) fn discard(&self, created: Arc<Created>) {
        let sessions = self.sessions.clone();
        // The next call must not find it.
        let is_other = |other: &Arc<Created>| other.id != created.id;
        sessions.table().live.retain(is_other);
        task::spawn("abandoned session", async move {
            sessions.closed(&created).await;
        })
        .detach();
    }

    /// Returns the session of that id or name and prolongs its life. Without an id, the session in which the caller tests an app, or
    /// otherwise the default one.
    pub(crate) fn select(&self, id: Option<&str>) -> Result<SelectedSession> {
        match id {
            Some(DEFAULT_NAME) => Ok(self.default_session()),
            Some(id) => {
                let created = self.sessions.table().find(id, &self.caller.principal)?;
                Ok(SelectedSession::of(created))
            }
            None => {
                let creator = self.caller.default_session();
                let mut tested = self.list();
                tested.retain(|created| {
                    created.session.app().is_some() && created.default_session().ptr_eq(&creator)
                });
                match tested.as_slice() {
                    [] => Ok(self.default_session()),
                    [only] => Ok(SelectedSession::of(only.clone())),
                    several => Err(Error::SessionUnclear {
                        sessions: several.iter().map(|created| created.label()).collect(),
                    }),
                }
            }
        }
    }

    /// Called before a call of a client for its default session: if the profile is open in an abandoned session of another client of the
    /// same principal, that session becomes the default session of this client.
    pub(crate) async fn adopt_profile_session(&self, client: &Arc<dyn Client>) {
        if let DefaultScope::Own(scope) = &self.caller.scope {
            let owner = &self.caller.principal;
            self.sessions
                .adopt_profile_session(scope, owner, client)
                .await;
        }
    }

    /// Returns the session for calls that name none, if it exists. It is not prolonged.
    pub(crate) fn existing_session(&self) -> Option<Arc<Session>> {
        let creator = self.caller.default_session();
        let tested = self.list().into_iter().find(|created| {
            created.session.app().is_some() && created.default_session().ptr_eq(&creator)
        });
        match (tested, &self.caller.scope) {
            (Some(tested), _) => Some(tested.session.clone()),
            (None, DefaultScope::Server) => Some(self.sessions.default.clone()),
            (None, DefaultScope::Own(scope)) => Some(scope.session()?.session.clone()),
        }
    }

    /// Reserves a slot for a named context, which counts like a session.
    pub(crate) fn context_slot(&self, call: &Call) -> Result<Slot<'_>> {
        Slot::take(&self.sessions, call.tool.name, &self.caller.principal, None)
    }

    /// Returns the default session.
    pub(crate) fn default_session(&self) -> SelectedSession {
        match &self.caller.scope {
            DefaultScope::Server => SelectedSession {
                session: self.sessions.default.clone(),
                _under_way: None,
            },
            DefaultScope::Own(scope) => {
                let owner = &self.caller.principal;
                let create_default = || self.sessions.create_default(scope, owner);
                SelectedSession::of(scope.session_or(create_default))
            }
        }
    }

    /// Returns the server's default session, if the caller uses it.
    pub(crate) fn shared_default(&self) -> Option<Arc<Session>> {
        matches!(self.caller.scope, DefaultScope::Server).then(|| self.sessions.default.clone())
    }

    /// Returns all sessions except the server's default one, oldest first.
    pub(crate) fn list(&self) -> Vec<Arc<Created>> {
        self.sessions.list(&self.caller.principal)
    }

    /// Creates a session with a page in its own browser context.
    pub(crate) async fn create(
        &self,
        call: &Call,
        options: &SessionOptions,
    ) -> Result<Arc<Created>> {
        self.sessions.create(call, &self.caller, options).await
    }

    /// Closes a session: earlier calls on it are cancelled, later ones get an error. The default session loses its state and starts again
    /// with the next call.
    pub(crate) async fn close(&self, call: &Call, id: &str) -> Result<()> {
        let owner = &self.caller.principal;
        if id != DEFAULT_NAME {
            return self.sessions.close(call, owner, id).await;
        }
        let DefaultScope::Own(scope) = &self.caller.scope else {
            let default = &self.sessions.default;
            default.begin_close(call).await?;
            default.release_browser().await;
            return Ok(());
        };
        let Some(own) = scope.session() else {
            return Ok(());
        };
        match self.sessions.close(call, owner, &own.id.to_string()).await {
            // Another call has closed it.
            Err(Error::SessionNotFound { .. } | Error::SessionExpired { .. }) => Ok(()),
            closed => closed,
        }
    }
}
