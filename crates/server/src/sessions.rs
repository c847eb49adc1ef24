//! The sessions of a server: default sessions, and those that clients create, each with an expiry.

pub(crate) mod browsers;
pub(crate) mod call_log;
mod default_session;
pub(crate) mod downloads;
mod emulation;
mod expiry;
pub(crate) mod http_archive;
pub(crate) mod observers;
mod options;
mod owned;
pub(crate) mod session;
mod table;
mod visible;

use crate::access::principal::Principal;
use crate::apps::DevServers;
use crate::calls::Call;
use crate::config::{SessionExpiry, Settings};
use crate::error::Result;
use crate::files;
use browsers::Browsers;
use default_session::{DefaultScope, DefaultSession, DefaultSessions};
use expiry::Deadline;
pub(crate) use expiry::unix_ms;
use session::feature::NewFeatures;
use session::{Ended, Session};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, SystemTime};
use table::{Slot, Table};
use task::Task;
use tokio::sync::watch;
use uuid::Uuid;

pub(crate) use default_session::{Caller, Kind};
pub(crate) use emulation::EmulationOptions;
pub(crate) use options::{
    BrowserOption, ProxyOption, SessionName, SessionOptions, check_name, is_name,
};
pub(crate) use owned::{InUse, OwnedSession};
pub(crate) use visible::{Tested, Visible};

/// All sessions of a server.
pub(crate) struct Sessions {
    settings: Arc<Settings>,
    browsers: Arc<Browsers>,
    dev_servers: Arc<DevServers>,
    features: NewFeatures,
    default: Arc<Session>,
    default_sessions: Mutex<DefaultSessions>,
    table: Mutex<Table>,
}

/// A session with an expiry.
pub(crate) struct Created {
    /// The id, a UUID of version 4.
    pub(crate) id: Uuid,
    /// The name, which is unique among the sessions of the owner.
    pub(crate) name: Option<String>,
    /// The kind of the session.
    pub(crate) kind: Kind,
    owner: Principal,
    /// The client whose default session this is, while it is connected; for a created session, its creator.
    default_session: Mutex<Weak<DefaultSession>>,
    /// The session.
    pub(crate) session: Arc<Session>,
    /// When it was created.
    pub(crate) created_at: SystemTime,
    deadline: Deadline,
    /// The number of calls in progress.
    calls: watch::Sender<usize>,
    /// The task that closes the session when it expires.
    expiry: OnceLock<Task>,
}

impl Created {
    /// Returns whether the session has expired. It does not expire while a call is in progress.
    fn has_passed(&self) -> bool {
        *self.calls.borrow() == 0 && self.deadline.has_passed()
    }

    /// Returns whether no more calls are accepted. With a fixed expiry, the calls in progress are completed.
    fn is_closed_to_calls(&self) -> bool {
        self.has_passed() || (self.deadline.is_fixed() && self.deadline.has_passed())
    }

    /// Returns when the session expires if it is not used; `None`: never.
    pub(crate) fn expires_at(&self) -> Option<SystemTime> {
        self.deadline.expires_at()
    }

    /// Returns the name of the session, or otherwise its id.
    pub(crate) fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.id.to_string())
    }
}

/// The session of a call, which does not expire during the call.
pub(crate) struct SelectedSession {
    /// The session.
    pub(crate) session: Arc<Session>,
    _under_way: Option<ActiveUse>,
}

impl SelectedSession {
    fn of(created: Arc<Created>) -> Self {
        Self {
            session: created.session.clone(),
            _under_way: Some(ActiveUse::on(created)),
        }
    }

    /// Selects the session of a batch for one of its steps; the batch keeps it from expiring.
    pub(crate) fn of_batch(session: Arc<Session>) -> Self {
        Self {
            session,
            _under_way: None,
        }
    }
}

/// A call or a connected client that uses a session: its start and its end prolong the life of the session.
struct ActiveUse(Arc<Created>);

impl ActiveUse {
    fn on(created: Arc<Created>) -> Self {
        created.deadline.prolong();
        created.calls.send_modify(|calls| *calls += 1);
        Self(created)
    }
}

impl Drop for ActiveUse {
    fn drop(&mut self) {
        self.0.deadline.prolong();
        self.0.calls.send_modify(|calls| *calls -= 1);
    }
}

impl Sessions {
    pub(crate) fn new(
        settings: Arc<Settings>,
        browsers: Arc<Browsers>,
        dev_servers: Arc<DevServers>,
        features: NewFeatures,
    ) -> Self {
        Self {
            dev_servers,
            default: Arc::new(Session::new(settings.clone(), browsers.clone(), features)),
            features,
            settings,
            browsers,
            default_sessions: Mutex::default(),
            table: Mutex::default(),
        }
    }

    /// Returns the number of sessions of all callers; the server's default session counts if it has a page.
    pub(crate) fn len(&self) -> usize {
        let table = self.table();
        let live = table.live.iter().filter(|created| !created.has_passed());
        live.count() + usize::from(self.default.open_tabs().is_some())
    }

    /// Returns the number of these sessions that have a call in progress.
    pub(crate) fn busy(&self) -> usize {
        let table = self.table();
        let live = table.live.iter().filter(|created| !created.has_passed());
        let busy = live.filter(|created| created.session.is_busy());
        let is_default_busy = self.default.open_tabs().is_some() && self.default.is_busy();
        busy.count() + usize::from(is_default_busy)
    }

    fn list(&self, owner: &Principal) -> Vec<Arc<Created>> {
        let mut live = self.table().live.clone();
        live.retain(|created| created.owner == *owner && !created.has_passed());
        live
    }

    async fn create(
        self: &Arc<Self>,
        call: &Call,
        caller: &Caller,
        options: &SessionOptions,
    ) -> Result<Arc<Created>> {
        let place = Slot::take(
            self,
            call.tool.name,
            &caller.principal,
            options.name.as_ref(),
        )?;
        let own = files::settings_of(&self.settings, &caller.principal);
        let settings = Arc::new(options.applied_to(&own)?);
        let timeout = options.lifetime.unwrap_or(self.settings.sessions.timeout);
        let session = Arc::new(Session::new(settings, self.browsers.clone(), self.features));
        let id = Uuid::new_v4();
        // The name of the output folder contains the id.
        session.set_id(id.to_string());
        let mut unfinished = PendingSession(Some(session.clone()));
        // No other call knows the session, so this one has its turn at once.
        call.take_turn(session.turn()).await;
        let tab = session.current_tab(call).await;
        let tab = tab.map_err(|error| options.with_parameter(call.tool.name, error))?;
        if let Some(state) = browsers::first_state(session.settings()).await? {
            // A setting of a tab, not of the context.
            let progress = call.navigation();
            tab.page
                .restore_session_storage(&progress, &state, "about:blank")
                .await?;
        }
        unfinished.0 = None;
        let origin = Origin {
            kind: Kind::Created,
            owner: caller.principal.clone(),
            default_session: caller.default_session(),
            name: place.name().map(str::to_owned),
        };
        let created = self.add(id, session, origin, timeout, options.expiry);
        drop(place);
        Ok(created)
    }

    fn add(
        self: &Arc<Self>,
        id: Uuid,
        session: Arc<Session>,
        origin: Origin,
        lifetime: Duration,
        expiry: Option<SessionExpiry>,
    ) -> Arc<Created> {
        let expiry = expiry.unwrap_or(self.settings.sessions.expiry);
        let deadline = Deadline::after(lifetime, expiry);
        let created = Arc::new(Created {
            id,
            name: origin.name,
            kind: origin.kind,
            owner: origin.owner,
            default_session: Mutex::new(origin.default_session),
            session,
            created_at: deadline.started_at(),
            deadline,
            calls: watch::Sender::new(0),
            expiry: OnceLock::new(),
        });
        created.session.set_id(created.id.to_string());
        self.table().live.push(created.clone());
        self.watch(&created);
        created
    }

    async fn close(&self, call: &Call, owner: &Principal, id: &str) -> Result<()> {
        let created = self.table().find(id, owner)?;
        created.session.begin_close(call).await?;
        self.closed(&created).await;
        Ok(())
    }

    async fn closed(&self, created: &Created) {
        self.table().live.retain(|other| other.id != created.id);
        created.session.end(Ended::Closed(created.id)).await;
    }

    /// Closes all sessions.
    pub(crate) async fn close_all(&self) {
        let live = std::mem::take(&mut self.table().live);
        let ends = live.iter().map(|created| created.session.close());
        futures_util::future::join_all(ends).await;
        self.default.close().await;
    }

    /// Closes a session when it expires, after the calls in progress have ended.
    fn watch(self: &Arc<Self>, created: &Arc<Created>) {
        let (sessions, watched) = (Arc::downgrade(self), Arc::downgrade(created));
        let (deadline, mut calls) = (created.deadline.clone(), created.calls.subscribe());
        let watch = task::spawn("session expiry", async move {
            loop {
                deadline.wait().await;
                if calls.wait_for(|calls| *calls == 0).await.is_err() {
                    return;
                }
                let (Some(sessions), Some(created)) = (sessions.upgrade(), watched.upgrade())
                else {
                    return;
                };
                let _turn = created.session.turn().await;
                if sessions.expire(&created).await {
                    return;
                }
            }
        });
        // Only set here.
        let _ = created.expiry.set(watch);
    }

    /// Closes the session if it has expired; returns whether it is closed.
    async fn expire(&self, created: &Created) -> bool {
        {
            let mut table = self.table();
            if !created.has_passed() {
                return false;
            }
            if !table.expire(created) {
                return true;
            }
        }
        tracing::debug!(id = %created.id, "the session expired");
        created.session.end(Ended::Expired(created.id)).await;
        true
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kind and the name of a session.
struct Origin {
    kind: Kind,
    owner: Principal,
    default_session: Weak<DefaultSession>,
    name: Option<String>,
}

/// A session that may have a browser context and is not registered yet: closed when dropped.
struct PendingSession(Option<Arc<Session>>);

impl Drop for PendingSession {
    fn drop(&mut self) {
        if let Some(session) = self.0.take() {
            task::spawn(
                "closing session",
                async move { session.release_browser().await },
            )
            .detach();
        }
    }
}

#[cfg(test)]
mod tests;
