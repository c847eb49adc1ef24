//! Default sessions: where the calls of a client go that name no session, and what becomes of the session of a client that went away.

use super::{ActiveUse, Created, Origin, Sessions};
use crate::access::principal::Principal;
use crate::calls::Client;
use crate::files;
use crate::sessions::session::{self, Session};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long a principal may be away that has no connection of its own, until its default session is one that nobody is connected to.
const ABSENCE_TIMEOUT: Duration = Duration::from_secs(3600);

/// Who calls, and which default session it has.
#[derive(Clone)]
pub(crate) struct Caller {
    /// Whom the server takes it for.
    pub(crate) principal: Principal,
    pub(super) scope: DefaultScope,
}

/// Where the calls go that name no session.
#[derive(Clone)]
pub(super) enum DefaultScope {
    /// To the server's default session.
    Server,
    /// To a default session of its own, made when it is first needed. It expires like others once nobody has this any more.
    Own(Arc<DefaultSession>),
}

/// A client, or a principal without a connection, and its default session.
#[derive(Default)]
pub(super) struct DefaultSession(Mutex<DefaultState>);

#[derive(Default)]
struct DefaultState {
    session: Option<ActiveUse>,
    /// The client that called last.
    client: Option<Arc<dyn Client>>,
}

impl DefaultSession {
    /// Its default session; `create_default` makes it where there is none, or where it is over.
    pub(super) fn session_or(&self, create_default: impl FnOnce() -> Arc<Created>) -> Arc<Created> {
        let mut state = self.state();
        if let Some(ActiveUse(created)) = &state.session
            && created.session.ensure_open().is_ok()
        {
            return created.clone();
        }
        let created = create_default();
        state.session = Some(ActiveUse::on(created.clone()));
        created
    }

    /// Its default session, if it has had one.
    pub(super) fn session(&self) -> Option<Arc<Created>> {
        let state = self.state();
        state
            .session
            .as_ref()
            .map(|ActiveUse(created)| created.clone())
    }

    /// Whether its default session has a browser.
    fn has_browser(&self) -> bool {
        let created = self.session();
        created.is_some_and(|created| created.session.open_tabs().is_some())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, DefaultState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The default sessions of principals that come without a connection.
#[derive(Default)]
pub(super) struct DefaultSessions(HashMap<Principal, (Arc<DefaultSession>, Instant)>);

impl DefaultSessions {
    fn of(&mut self, principal: &Principal) -> Arc<DefaultSession> {
        let now = Instant::now();
        self.0.retain(|_, (own, used)| {
            Arc::strong_count(own) > 1 || now.saturating_duration_since(*used) < ABSENCE_TIMEOUT
        });
        let (own, used) = self
            .0
            .entry(principal.clone())
            .or_insert_with(|| (Arc::default(), now));
        *used = now;
        own.clone()
    }
}

impl Caller {
    /// The same caller, with what its principal may do by now.
    pub(crate) fn now(self, principal: Principal) -> Self {
        Self { principal, ..self }
    }

    /// By what its sessions are known: callers without a default session of their own are one.
    pub(super) fn default_session(&self) -> Weak {
        match &self.scope {
            DefaultScope::Server => Weak::new(),
            DefaultScope::Own(own) => Arc::downgrade(own),
        }
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

impl Created {
    /// Whether its client has gone, and nothing is under way on it.
    async fn is_abandoned(&self) -> bool {
        let default_session = self.default_session().upgrade();
        let Some(default_session) = default_session else {
            return *self.calls.borrow() == 0;
        };
        let client = {
            let state = default_session.state();
            let session = state.session.as_ref();
            match session.is_some_and(|ActiveUse(created)| created.id == self.id) {
                true => state.client.clone(),
                false => return *self.calls.borrow() == 0,
            }
        };
        // One of them is the client itself.
        if *self.calls.borrow() > 1 {
            return false;
        }
        match client {
            Some(client) => !client.is_connected().await && *self.calls.borrow() <= 1,
            None => false,
        }
    }

    /// Makes it the default session of a client instead of the one that left it; fails where that has changed meanwhile.
    fn reassign_to(self: &Arc<Self>, scope: &Arc<DefaultSession>, left: &Weak) -> bool {
        let mut default_session = self.default_session();
        if !default_session.ptr_eq(left) {
            return false;
        }
        *default_session = Arc::downgrade(scope);
        drop(default_session);
        if let Some(former) = left.upgrade() {
            former.state().session = None;
        }
        let mut state = scope.state();
        state.session = Some(ActiveUse::on(self.clone()));
        true
    }

    pub(super) fn default_session(&self) -> std::sync::MutexGuard<'_, Weak> {
        self.default_session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

type Weak = std::sync::Weak<DefaultSession>;

impl Sessions {
    /// A client that is known by its principal alone.
    pub(crate) fn caller(&self, principal: Principal) -> Caller {
        let scope = match principal.is_anonymous() {
            true => DefaultScope::Server,
            false => {
                let mut default_sessions = self
                    .default_sessions
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                DefaultScope::Own(default_sessions.of(&principal))
            }
        };
        Caller { principal, scope }
    }

    /// A client that has connected, and will be gone when the last clone of this is dropped.
    pub(crate) fn connected_caller(&self, principal: Principal) -> Caller {
        match self.settings.sessions.shared {
            true => self.caller(principal),
            false => Caller {
                principal,
                scope: DefaultScope::Own(Arc::default()),
            },
        }
    }

    /// A default session for a client that has none. Of those whose clients have gone there are as many as there may be sessions: clients that
    /// come and go leave no more behind.
    pub(super) fn create_default(
        self: &Arc<Self>,
        scope: &Arc<DefaultSession>,
        owner: &Principal,
    ) -> Arc<Created> {
        self.end_oldest_abandoned();
        let settings = Arc::new(files::settings_of(&self.settings, owner));
        let session = Arc::new(Session::new(settings, self.browsers.clone()));
        let lifetime = self.settings.sessions.timeout;
        let origin = Origin {
            kind: Kind::Default,
            owner: owner.clone(),
            default_session: Arc::downgrade(scope),
            name: None,
        };
        self.add(Uuid::new_v4(), session, origin, lifetime, None)
    }

    /// Ends the oldest default sessions whose clients have gone, where there are too many.
    fn end_oldest_abandoned(self: &Arc<Self>) {
        let left: Vec<_> = {
            let table = self.table();
            let left = table
                .live
                .iter()
                .filter(|created| created.kind == Kind::Default && *created.calls.borrow() == 0);
            left.cloned().collect()
        };
        let surplus = left.len().saturating_sub(self.settings.sessions.max);
        for created in left.into_iter().take(surplus) {
            created.deadline.expire_now();
            let sessions = self.clone();
            task::spawn("surplus session", async move {
                let _turn = created.session.turn().await;
                sessions.expire(&created).await;
            })
            .detach();
        }
    }

    /// Where the profile is open in the default session of a client that has gone, that session becomes the one of `scope`, which has no
    /// browser yet: a client that reconnects finds its logins and its pages. Where the two work in different folders, the session is closed
    /// instead, so that the profile is free.
    pub(super) async fn adopt_profile_session(
        self: &Arc<Self>,
        scope: &Arc<DefaultSession>,
        owner: &Principal,
        client: &Arc<dyn Client>,
    ) {
        scope.state().client = Some(client.clone());
        if scope.has_browser() {
            return;
        }
        let mut others = self.list(owner);
        others.retain(|created| {
            created.kind == Kind::Default && created.session.open_profile().is_some()
        });
        if others.is_empty() {
            return;
        }
        let settings = files::settings_of(&self.settings, owner);
        let Some(workspace) = session::workspace(&**client, &settings).await else {
            return;
        };
        let profile = settings.profile_dir(&workspace.project);
        let mut others = others.into_iter();
        let Some(other) =
            others.find(|other| other.session.open_profile().as_ref() == Some(&profile))
        else {
            return;
        };
        let left = other.default_session().clone();
        if let Some(status) = client.status() {
            status.set("waiting for the client that has the profile to answer");
        }
        if !other.is_abandoned().await {
            return;
        }
        let output = other.session.known_output();
        let is_same_folder = output.is_some_and(|output| output.workspace() == workspace.folder);
        if !other.reassign_to(scope, &left) {
            return;
        }
        tracing::info!(id = %other.id, "a client takes over the session of a client that has disconnected");
        if !is_same_folder {
            let _turn = other.session.turn().await;
            self.closed(&other).await;
        }
    }
}
