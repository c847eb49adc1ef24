//! Default sessions, which calls without `sessionId` use, and their adoption or end after the client disconnected.

use super::{ActiveUse, Created, Origin, Sessions};
use crate::access::principal::Principal;
use crate::calls::Client;
use crate::files;
use crate::sessions::session::{self, Session};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long a principal without a connection may be inactive before its default session counts as abandoned.
const ABSENCE_TIMEOUT: Duration = Duration::from_secs(3600);

/// A caller: a principal and its default session.
#[derive(Clone)]
pub(crate) struct Caller {
    /// The principal.
    pub(crate) principal: Principal,
    pub(super) scope: DefaultScope,
}

/// The default session of a caller.
#[derive(Clone)]
pub(super) enum DefaultScope {
    /// The server's default session.
    Server,
    /// A default session of its own, created when it is first needed. It can expire after the last clone of this was dropped.
    Own(Arc<DefaultSession>),
}

/// A client, or a principal without a connection, and its default session.
#[derive(Default)]
pub(super) struct DefaultSession {
    state: Mutex<DefaultState>,
    /// Closes the default session when the client is gone for good; `None`: it expires.
    end: Option<ClientEnd>,
}

/// The end of a client with an isolated default session.
struct ClientEnd {
    sessions: std::sync::Weak<Sessions>,
    /// Whether the client has ended its MCP session itself.
    has_ended: Arc<AtomicBool>,
}

impl ClientEnd {
    /// Closes the default session unless a client can return to it by its id.
    fn close(&self, created: Arc<Created>) {
        let Some(sessions) = self.sessions.upgrade() else {
            return;
        };
        if self.has_ended.load(Ordering::Relaxed) || !sessions.settings.tools.can_list_sessions() {
            sessions.close_unused(created);
        }
    }
}

impl Drop for DefaultSession {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (Some(end), Some(in_use)) = (&self.end, state.session.take()) {
            end.close(in_use.0.clone());
        }
    }
}

#[derive(Default)]
struct DefaultState {
    session: Option<ActiveUse>,
    /// The client of the last call.
    client: Option<Arc<dyn Client>>,
}

impl DefaultSession {
    /// Returns the default session; `create_default` creates it if there is none or it has ended.
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

    /// Returns the default session, if there is one.
    pub(super) fn session(&self) -> Option<Arc<Created>> {
        let state = self.state();
        state
            .session
            .as_ref()
            .map(|ActiveUse(created)| created.clone())
    }

    /// Returns whether the default session has a browser.
    fn has_browser(&self) -> bool {
        let created = self.session();
        created.is_some_and(|created| created.session.open_tabs().is_some())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, DefaultState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The default sessions of principals without a connection.
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
    /// Returns the caller with the current permissions of its principal.
    pub(crate) fn now(self, principal: Principal) -> Self {
        Self { principal, ..self }
    }

    /// Returns the key of the caller's sessions: callers without a default session of their own share one.
    pub(super) fn default_session(&self) -> Weak {
        match &self.scope {
            DefaultScope::Server => Weak::new(),
            DefaultScope::Own(own) => Arc::downgrade(own),
        }
    }
}

/// The kind of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Created by a call without `sessionId`.
    Default,
    /// Created by a client.
    Created,
}

impl Created {
    /// Returns whether the client has disconnected, and no call is in progress.
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

    /// Makes the session the default session of another client; fails if `left` is no longer its client.
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
    /// Creates a caller that is identified by its principal alone.
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

    /// Creates a caller for a connected client, which disconnects when the last clone is dropped. `has_ended` is set before that if the
    /// client ends its MCP session itself.
    pub(crate) fn connected_caller(
        self: &Arc<Self>,
        principal: Principal,
        has_ended: Arc<AtomicBool>,
    ) -> Caller {
        if self.settings.sessions.shared {
            return self.caller(principal);
        }
        let end = ClientEnd {
            sessions: Arc::downgrade(self),
            has_ended,
        };
        let own = DefaultSession {
            state: Mutex::default(),
            // A profile stays open for a client that reconnects.
            end: self.settings.browser.isolated.then_some(end),
        };
        Caller {
            principal,
            scope: DefaultScope::Own(Arc::new(own)),
        }
    }

    /// Creates a default session for a client that has none. The number of abandoned default sessions is limited to the number of sessions,
    /// so clients that connect and disconnect do not accumulate sessions.
    pub(super) fn create_default(
        self: &Arc<Self>,
        scope: &Arc<DefaultSession>,
        owner: &Principal,
    ) -> Arc<Created> {
        self.end_oldest_abandoned();
        let settings = Arc::new(files::settings_of(&self.settings, owner));
        let session = Arc::new(Session::new(settings, self.browsers.clone(), self.features));
        let lifetime = self.settings.sessions.timeout;
        let origin = Origin {
            kind: Kind::Default,
            owner: owner.clone(),
            default_session: Arc::downgrade(scope),
            name: None,
        };
        self.add(Uuid::new_v4(), session, origin, lifetime, None)
    }

    /// Closes the oldest abandoned default sessions if there are too many.
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
            self.close_unused(created);
        }
    }

    /// Closes a session after its calls in progress.
    fn close_unused(self: &Arc<Self>, created: Arc<Created>) {
        let sessions = self.clone();
        task::spawn("unused session", async move {
            // The end of a call prolongs the life of its session.
            let _ = created
                .calls
                .subscribe()
                .wait_for(|calls| *calls == 0)
                .await;
            created.deadline.expire_now();
            let _turn = created.session.turn().await;
            sessions.expire(&created).await;
        })
        .detach();
    }

    /// If the profile is open in the default session of a disconnected client, that session becomes the default session of `scope`, which
    /// has no browser yet: a client that reconnects keeps its logins and pages. If the two have different workspaces, the session is closed
    /// instead, which frees the profile.
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
            created.kind == Kind::Default && open_profile(&created.session).is_some()
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
            others.find(|other| open_profile(&other.session).as_ref() == Some(&profile))
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

/// Returns the persistent profile that is open in the browser of a session, if any.
fn open_profile(session: &Session) -> Option<PathBuf> {
    let tabs = session.open_tabs()?;
    if !tabs.open().has_profile() || tabs.closed_reason().is_some() {
        return None;
    }
    let project = session.known_output()?.project();
    Some(session.settings().profile_dir(project))
}
