//! Sessions as a caller sees them: its own, those of its principal, and the default one.

use super::{Chosen, Created, SessionOptions, Sessions, UnderWay};
use crate::call::Call;
use crate::devserver::DevServers;
use crate::error::{Error, Result};
use crate::principal::{Permission, Principal};
use crate::session::{DEFAULT, Session};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a principal may be away that has no connection of its own, until its default session is one that nobody is connected to.
const AWAY: Duration = Duration::from_secs(3600);

/// Who calls, and where it is at home.
#[derive(Clone)]
pub(crate) struct Caller {
    /// Whom the server takes it for.
    pub(crate) principal: Principal,
    home: Home,
}

/// Where the calls go that name no session.
#[derive(Clone)]
enum Home {
    /// To the server's default session.
    Server,
    /// To a default session of its own, made when it is first needed. It expires like others once nobody has this any more.
    Own(Own),
}

type Own = Arc<Mutex<Option<UnderWay>>>;

/// The homes of principals that come without a connection.
#[derive(Default)]
pub(super) struct Homes(HashMap<Principal, (Own, Instant)>);

impl Homes {
    fn of(&mut self, principal: &Principal) -> Own {
        let now = Instant::now();
        self.0.retain(|_, (own, used)| {
            Arc::strong_count(own) > 1 || now.saturating_duration_since(*used) < AWAY
        });
        let (own, used) = self
            .0
            .entry(principal.clone())
            .or_insert_with(|| (Own::default(), now));
        *used = now;
        own.clone()
    }
}

impl Caller {
    /// The same caller, with what its principal may do by now.
    pub(crate) fn now(self, principal: Principal) -> Self {
        Self { principal, ..self }
    }
}

impl Sessions {
    /// A client that is known by its principal alone.
    pub(crate) fn caller(&self, principal: Principal) -> Caller {
        let home = match principal.is_anybody() {
            true => Home::Server,
            false => {
                let mut homes = self.homes.lock().unwrap_or_else(PoisonError::into_inner);
                Home::Own(homes.of(&principal))
            }
        };
        Caller { principal, home }
    }

    /// A client that has connected, and will be gone when the last clone of this is dropped.
    pub(crate) fn connected_caller(&self, principal: Principal) -> Caller {
        match self.settings.sessions.shared {
            true => self.caller(principal),
            false => Caller {
                principal,
                home: Home::Own(Own::default()),
            },
        }
    }
}

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

    /// Whether the caller may have what opens other doors.
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
                let ids = tested.iter().map(|created| created.id.to_string());
                return Err(Error::NoE2eSession {
                    sessions: ids.collect(),
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

    /// The session of that id, or the default one; its life is prolonged.
    pub(crate) fn choose(&self, id: Option<&str>) -> Result<Chosen> {
        match id.filter(|id| *id != DEFAULT) {
            Some(id) => {
                let created = self.sessions.table().find(id, &self.caller.principal)?;
                Ok(Chosen::of(created))
            }
            None => Ok(self.at_home()),
        }
    }

    /// The default session.
    pub(crate) fn at_home(&self) -> Chosen {
        let Home::Own(home) = &self.caller.home else {
            return Chosen {
                session: self.sessions.default.clone(),
                _under_way: None,
            };
        };
        let mut home = home.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(UnderWay(created)) = &*home
            && created.session.goes_on().is_ok()
        {
            return Chosen::of(created.clone());
        }
        let created = self.sessions.settle_in(&self.caller.principal);
        *home = Some(UnderWay::on(created.clone()));
        Chosen::of(created)
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
        let owner = &self.caller.principal;
        self.sessions.create(call, owner, options).await
    }

    /// Ends a session: calls on it that came before are finished first, later ones find it gone. The default one loses all that it has, and
    /// begins anew with the next call.
    pub(crate) async fn close(&self, call: &Call, id: &str) -> Result<()> {
        let owner = &self.caller.principal;
        if id != DEFAULT {
            return self.sessions.close(call, owner, id).await;
        }
        let Home::Own(home) = &self.caller.home else {
            let default = &self.sessions.default;
            call.take_turn(default.turn()).await;
            default.leave().await;
            return Ok(());
        };
        let own = {
            let home = home.lock().unwrap_or_else(PoisonError::into_inner);
            home.as_ref().map(|UnderWay(created)| created.id)
        };
        let Some(own) = own else { return Ok(()) };
        match self.sessions.close(call, owner, &own.to_string()).await {
            // It was over before.
            Err(Error::SessionNotFound { .. } | Error::SessionExpired { .. }) => Ok(()),
            closed => closed,
        }
    }
}

impl Sessions {
    /// A default session for somebody who has none.
    fn settle_in(self: &Arc<Self>, owner: &Principal) -> Arc<Created> {
        let settings = Arc::new(self.settings.apart());
        let session = Arc::new(Session::new(settings, self.browsers.clone()));
        let lifetime = self.settings.sessions.timeout;
        self.add(session, owner, Kind::Default, lifetime, None)
    }
}

/// Where a session comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A call came that named none.
    Default,
    /// Somebody created it.
    Created,
}
