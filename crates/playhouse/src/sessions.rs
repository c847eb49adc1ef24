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
mod trace;
mod visible;

use crate::access::principal::Principal;
use crate::apps::DevServers;
use crate::calls::Call;
use crate::config::{SessionExpiry, Settings};
use crate::error::{Error, Result};
use crate::files;
use browsers::Browsers;
use default_session::{DefaultScope, DefaultSession, DefaultSessions};
use expiry::Deadline;
pub(crate) use expiry::unix_ms;
use session::{Ended, Session};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, SystemTime};
use task::Task;
use tokio::sync::watch;
use uuid::Uuid;

pub(crate) use default_session::{Caller, Kind};
pub(crate) use emulation::EmulationOptions;
pub(crate) use options::{BrowserOption, ProxyOption, SessionName, SessionOptions, is_name};
pub(crate) use owned::{InUse, OwnedSession};
pub(crate) use visible::{Tested, Visible};

/// The largest number of ids of ended sessions that are remembered, to distinguish them from unknown ids.
const MAX_REMEMBERED_IDS: usize = 1000;

/// All sessions of a server.
pub(crate) struct Sessions {
    settings: Arc<Settings>,
    browsers: Arc<Browsers>,
    dev_servers: Arc<DevServers>,
    default: Arc<Session>,
    default_sessions: Mutex<DefaultSessions>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// The sessions, oldest first.
    live: Vec<Arc<Created>>,
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
    fn find(&self, id: &str, owner: &Principal) -> Result<Arc<Created>> {
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

    fn has_name(&self, owner: &Principal, name: &str) -> bool {
        let live = self.live.iter().filter(|created| !created.has_passed());
        let mut live = live.map(|created| (&created.owner, &created.name));
        let mut taken = self.taken.iter().map(|taken| (&taken.owner, &taken.name));
        let is_it = |(of, known): (&Principal, &Option<String>)| {
            of == owner && known.as_deref() == Some(name)
        };
        live.any(is_it) || taken.any(is_it)
    }
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
    ) -> Self {
        Self {
            dev_servers,
            default: Arc::new(Session::new(settings.clone(), browsers.clone())),
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
        let session = Arc::new(Session::new(settings, self.browsers.clone()));
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
            name: place.0.name.clone(),
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
        let find = || self.table().find(id, owner);
        let created = find()?;
        call.take_turn(created.session.last_turn()).await;
        // Another call may have been faster.
        find()?;
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
            let before = table.live.len();
            table.live.retain(|other| other.id != created.id);
            if table.live.len() == before {
                return true;
            }
            table.expired.push_back(Expired {
                id: created.id,
                name: created.name.clone(),
                owner: created.owner.clone(),
            });
            if table.expired.len() > MAX_REMEMBERED_IDS {
                table.expired.pop_front();
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

/// The slot of a session or named context that is being created: released when dropped.
pub(crate) struct Slot<'a>(Arc<ReservedName>, &'a Sessions);

impl<'a> Slot<'a> {
    fn take(
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

impl Table {
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIFETIME: Duration = Duration::from_secs(60);

    fn sessions(flags: &[&str]) -> Arc<Sessions> {
        let settings = Arc::new(Settings::of_flags(flags));
        let browsers = Arc::new(Browsers::new(settings.clone()));
        let dev_servers = Arc::new(DevServers::new(&settings.dev_servers));
        Arc::new(Sessions::new(settings, browsers, dev_servers))
    }

    /// Creates another session, which never needed a browser.
    fn one_more(sessions: &Arc<Sessions>) -> Result<Arc<Created>> {
        let (settings, browsers) = (sessions.settings.clone(), sessions.browsers.clone());
        let owner = Principal::anonymous();
        let place = Slot::take(sessions, "create_session", &owner, None)?;
        let session = Arc::new(Session::new(settings, browsers));
        let origin = Origin {
            kind: Kind::Created,
            owner,
            default_session: Weak::new(),
            name: None,
        };
        let created = sessions.add(Uuid::new_v4(), session, origin, LIFETIME, None);
        drop(place);
        Ok(created)
    }

    fn begun() -> (Arc<Sessions>, Arc<Created>) {
        let sessions = sessions(&["--headless"]);
        let created = one_more(&sessions).unwrap();
        (sessions, created)
    }

    fn seen(sessions: &Arc<Sessions>) -> Visible {
        Visible::new(sessions.clone(), sessions.caller(Principal::anonymous()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        /// Property 10 of S1.
        #[test]
        fn the_session_limit_is_never_exceeded(most in 1_usize..60, ends in 1_usize..60) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let _guard = runtime.enter();
            let most_flag = most.to_string();
            let sessions = sessions(&["--headless", "--max-sessions", &most_flag]);
            for _ in 0..most {
                prop_assert!(one_more(&sessions).is_ok());
            }
            let refused = |sessions| {
                let refused = one_more(sessions).map(|created| created.id);
                matches!(refused, Err(Error::MaxSessionsReached { max_sessions }) if max_sessions == most)
            };
            prop_assert!(refused(&sessions));
            // Expired sessions make room for as many new ones.
            let ends = ends.min(most);
            sessions.table().live.truncate(most - ends);
            for _ in 0..ends {
                prop_assert!(one_more(&sessions).is_ok());
            }
            prop_assert!(refused(&sessions));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_does_not_expire_during_a_call() {
        let (sessions, created) = begun();
        let sessions = seen(&sessions);
        let id = created.id.to_string();
        let call = sessions.select(Some(&id)).unwrap();
        tokio::time::advance(LIFETIME * 2).await;
        assert_eq!(sessions.list().len(), 1);
        assert!(sessions.select(Some(&id)).is_ok());
        drop(call);
        tokio::time::advance(LIFETIME).await;
        assert_eq!(sessions.list().len(), 0);
        let late = sessions.select(Some(&id));
        assert!(matches!(late, Err(Error::SessionExpired { .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn no_task_waits_for_the_expiry_of_a_closed_session() {
        let tasks = || {
            tokio::runtime::Handle::current()
                .metrics()
                .num_alive_tasks()
        };
        let before = tasks();
        let (sessions, created) = begun();
        assert_eq!(tasks(), before + 1);
        sessions.table().live.clear();
        drop(created);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(tasks(), before);
    }

    #[tokio::test(start_paused = true)]
    async fn a_default_session_expires_when_its_client_has_gone_and_not_before() {
        let (sessions, _created) = begun();
        let caller = sessions.connected_caller(Principal::anonymous());
        let client = Visible::new(sessions.clone(), caller);
        let others = seen(&sessions);
        drop(client.select(None).unwrap());
        let id = |sessions: &Visible| {
            let list = sessions.list();
            let default = list.iter().find(|created| created.kind == Kind::Default);
            default.map(|created| created.id.to_string())
        };
        let reported = id(&others).unwrap();
        tokio::time::advance(LIFETIME * 100).await;
        assert_eq!(id(&others), Some(reported.clone()));
        drop(client);
        // A client that knows the id can use the session until it expires.
        assert!(others.select(Some(&reported)).is_ok());
        tokio::time::advance(LIFETIME * 100).await;
        let late = others.select(Some(&reported));
        assert!(matches!(late, Err(Error::SessionExpired { .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_of_others_do_not_exist() {
        let (sessions, created) = begun();
        let stranger = sessions.caller(Principal::named("stranger"));
        let stranger = Visible::new(sessions, stranger);
        let id = created.id.to_string();
        let found = stranger.select(Some(&id));
        assert!(matches!(found, Err(Error::SessionNotFound { .. })));
        assert!(stranger.list().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_fixed_expiry_is_not_extended_by_overlapping_calls() {
        let sessions = sessions(&["--headless", "--session-expiry=fixed"]);
        let created = one_more(&sessions).unwrap();
        let sessions = seen(&sessions);
        let id = created.id.to_string();
        let under_way = sessions.select(Some(&id)).unwrap();
        tokio::time::advance(LIFETIME * 2).await;
        let late = sessions.select(Some(&id));
        assert!(matches!(late, Err(Error::SessionExpired { .. })));
        drop(under_way);
    }

    #[tokio::test(start_paused = true)]
    async fn reconnecting_clients_do_not_exceed_the_session_limit() {
        let sessions = sessions(&["--headless", "--max-sessions=3", "--session-timeout=0"]);
        for _ in 0..20 {
            let caller = sessions.connected_caller(Principal::anonymous());
            drop(Visible::new(sessions.clone(), caller).default_session());
            tokio::task::yield_now().await;
        }
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(
            sessions.table().live.len() <= 4,
            "{}",
            sessions.table().live.len()
        );
    }
}
