//! Sessions as a caller sees them: its own, those of its principal, and the default one.

use super::{Caller, Chosen, Created, Home, Place, SessionOptions, Sessions, UnderWay};
use crate::call::{Call, Client};
use crate::devserver::DevServers;
use crate::error::{Error, Result};
use crate::principal::Permission;
use crate::session::{DEFAULT, Session};
use std::sync::Arc;

/// A session that tests an app, which lives on while a call has it.
pub(crate) struct Tested {
    /// The session.
    pub(crate) created: Arc<Created>,
    _under_way: UnderWay,
}

/// The sessions that a caller can see.
#[derive(Clone)]
pub(crate) struct Visible {
    sessions: Arc<Sessions>,
    caller: Caller,
}

impl Visible {
    pub(crate) fn new(sessions: Arc<Sessions>, caller: Caller) -> Self {
        Self { sessions, caller }
    }

    /// Whether the caller has the permission `browser:admin`.
    pub(crate) fn may_open_doors(&self) -> bool {
        self.caller.principal.permission() == Permission::Admin
    }

    /// The servers of the app under test.
    pub(crate) fn dev_servers(&self) -> &Arc<DevServers> {
        &self.sessions.dev_servers
    }

    /// The session that is being tested an app in: the one of the call, or the only one there is where the call is for the default one.
    pub(crate) fn e2e(&self, session: &Arc<Session>) -> Result<Tested> {
        let all = self.list().into_iter();
        let mut tested: Vec<_> = all
            .filter(|created| created.session.app().is_some())
            .collect();
        let named = tested
            .iter()
            .position(|created| Arc::ptr_eq(&created.session, session));
        let is_home = || Arc::ptr_eq(&self.at_home().session, session);
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
            _under_way: UnderWay::on(created.clone()),
            created,
        })
    }

    /// Ends a session, at its turn.
    pub(crate) async fn end(&self, created: &Created) {
        self.sessions.closed(created).await;
    }

    /// Ends a session that nobody has heard of yet.
    pub(crate) fn abandon(&self, created: Arc<Created>) {
        let sessions = self.sessions.clone();
        engine::spawn("abandoned session", async move {
            sessions.closed(&created).await;
        })
        .detach();
    }

    /// The session of that id or name; its life is prolonged. Where none is named, that is the one in which the caller tests an app, or else
    /// the default one.
    pub(crate) fn choose(&self, id: Option<&str>) -> Result<Chosen> {
        match id {
            Some(DEFAULT) => Ok(self.at_home()),
            Some(id) => {
                let created = self.sessions.table().find(id, &self.caller.principal)?;
                Ok(Chosen::of(created))
            }
            None => {
                let creator = self.caller.resident();
                let mut tested = self.list();
                tested.retain(|created| {
                    created.session.app().is_some() && created.resident().ptr_eq(&creator)
                });
                match tested.as_slice() {
                    [] => Ok(self.at_home()),
                    [only] => Ok(Chosen::of(only.clone())),
                    several => Err(Error::SessionUnclear {
                        sessions: several.iter().map(|created| created.label()).collect(),
                    }),
                }
            }
        }
    }

    /// Before a call of a client for its default session: where the profile is open in a session that another client of the same principal has
    /// left behind, that one becomes the default session of this client.
    pub(crate) async fn take_up(&self, client: &Arc<dyn Client>) {
        if let Home::Own(home) = &self.caller.home {
            let owner = &self.caller.principal;
            self.sessions.take_up(home, owner, client).await;
        }
    }

    /// A place for a named context, which counts as a session does.
    pub(crate) fn place_of_context(&self, call: &Call) -> Result<Place<'_>> {
        Place::take(&self.sessions, call.tool.name, &self.caller.principal, None)
    }

    /// The default session.
    pub(crate) fn at_home(&self) -> Chosen {
        match &self.caller.home {
            Home::Server => Chosen {
                session: self.sessions.default.clone(),
                _under_way: None,
            },
            Home::Own(home) => {
                let owner = &self.caller.principal;
                let settle_in = || self.sessions.settle_in(home, owner);
                Chosen::of(home.session_or(settle_in))
            }
        }
    }

    /// The server's default session, if it is the caller's too.
    pub(crate) fn everybodys(&self) -> Option<Arc<Session>> {
        matches!(self.caller.home, Home::Server).then(|| self.sessions.default.clone())
    }

    /// All that live beside the server's default one, oldest first.
    pub(crate) fn list(&self) -> Vec<Arc<Created>> {
        self.sessions.list(&self.caller.principal)
    }

    /// Makes a session with a page in a browser context of its own.
    pub(crate) async fn create(
        &self,
        call: &Call,
        options: &SessionOptions,
    ) -> Result<Arc<Created>> {
        self.sessions.create(call, &self.caller, options).await
    }

    /// Ends a session: calls on it that came before are cancelled, later ones find it gone. The default one loses all that it has, and
    /// begins anew with the next call.
    pub(crate) async fn close(&self, call: &Call, id: &str) -> Result<()> {
        let owner = &self.caller.principal;
        if id != DEFAULT {
            return self.sessions.close(call, owner, id).await;
        }
        let Home::Own(home) = &self.caller.home else {
            let default = &self.sessions.default;
            call.take_turn(default.last_turn()).await;
            default.leave().await;
            return Ok(());
        };
        let Some(own) = home.session() else {
            return Ok(());
        };
        match self.sessions.close(call, owner, &own.id.to_string()).await {
            // It was over before.
            Err(Error::SessionNotFound { .. } | Error::SessionExpired { .. }) => Ok(()),
            closed => closed,
        }
    }
}
