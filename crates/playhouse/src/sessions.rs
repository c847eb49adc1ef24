//! The sessions of a server: the default one, and those that clients create, each with an end to its life.

mod expiry;
mod options;
mod visible;

use crate::browsers::{self, Browsers};
use crate::call::Call;
use crate::config::{SessionExpiry, Settings};
use crate::devserver::DevServers;
use crate::error::{Error, Result};
use crate::principal::Principal;
use crate::session::{Ended, Session};
use engine::Task;
use expiry::Deadline;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use uuid::Uuid;
use visible::Homes;

pub(crate) use options::{BrowserOption, ProxyOption, SessionOptions, ViewportOption};
pub(crate) use visible::{Caller, Kind, Tested, Visible};

/// Ids of sessions that are over, for as long as they can be told from ids that never were.
const REMEMBERED: usize = 1000;

/// All sessions of a server.
pub(crate) struct Sessions {
    settings: Arc<Settings>,
    browsers: Arc<Browsers>,
    dev_servers: Arc<DevServers>,
    default: Arc<Session>,
    homes: Mutex<Homes>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// Oldest first.
    live: Vec<Arc<Created>>,
    /// Places of sessions that are being created.
    taken: usize,
    expired: VecDeque<(Uuid, Principal)>,
}

impl Table {
    /// The session of that id, if it is one that `owner` may see.
    fn find(&self, id: &str, owner: &Principal) -> Result<Arc<Created>> {
        let session_id = id.to_owned();
        let Ok(id) = Uuid::parse_str(id) else {
            return Err(Error::SessionNotFound { session_id });
        };
        let live = self.live.iter().find(|created| created.id == id);
        match live.filter(|created| created.owner == *owner) {
            Some(created) if !created.has_passed() => Ok(created.clone()),
            Some(_) => Err(Error::SessionExpired { session_id }),
            None if self.expired.contains(&(id, owner.clone())) => {
                Err(Error::SessionExpired { session_id })
            }
            None => Err(Error::SessionNotFound { session_id }),
        }
    }
}

/// A session that lives for a time.
pub(crate) struct Created {
    /// Its id, a UUID of version 4.
    pub(crate) id: Uuid,
    /// Where it comes from.
    pub(crate) kind: Kind,
    owner: Principal,
    /// The session.
    pub(crate) session: Arc<Session>,
    /// When it was created.
    pub(crate) created_at: SystemTime,
    deadline: Deadline,
    /// How many it has under way.
    calls: watch::Sender<usize>,
    /// Ends it when its time has come.
    expiry: OnceLock<Task>,
}

impl Created {
    /// Whether it is over. It never is while a call is under way.
    fn has_passed(&self) -> bool {
        *self.calls.borrow() == 0 && self.deadline.has_passed()
    }

    /// When it will be over, if nobody uses it.
    pub(crate) fn expires_at(&self) -> SystemTime {
        self.deadline.told()
    }
}

/// The session of a call, which lives on while the call does.
pub(crate) struct Chosen {
    /// The session.
    pub(crate) session: Arc<Session>,
    _under_way: Option<UnderWay>,
}

impl Chosen {
    fn of(created: Arc<Created>) -> Self {
        Self {
            session: created.session.clone(),
            _under_way: Some(UnderWay::on(created)),
        }
    }
}

/// A call on a session, or a client that is connected to it: its life is prolonged when they come, and when they go.
struct UnderWay(Arc<Created>);

impl UnderWay {
    fn on(created: Arc<Created>) -> Self {
        created.deadline.prolong();
        created.calls.send_modify(|calls| *calls += 1);
        Self(created)
    }
}

impl Drop for UnderWay {
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
            homes: Mutex::default(),
            table: Mutex::default(),
        }
    }

    /// How many live, of all callers; the server's default one counts once it has a page.
    pub(crate) fn len(&self) -> usize {
        let table = self.table();
        let live = table.live.iter().filter(|created| !created.has_passed());
        live.count() + usize::from(self.default.open_tabs().is_some())
    }

    fn list(&self, owner: &Principal) -> Vec<Arc<Created>> {
        let mut live = self.table().live.clone();
        live.retain(|created| created.owner == *owner && !created.has_passed());
        live
    }

    async fn create(
        self: &Arc<Self>,
        call: &Call,
        owner: &Principal,
        options: &SessionOptions,
    ) -> Result<Arc<Created>> {
        let place = Place::take(self)?;
        let settings = Arc::new(options.applied_to(&self.settings)?.apart());
        let timeout = options.lifetime().unwrap_or(self.settings.sessions.timeout);
        let session = Arc::new(Session::new(settings, self.browsers.clone()));
        let mut unfinished = Unfinished(Some(session.clone()));
        // Nobody else knows it; its turn is for what it is asked to do.
        call.take_turn(session.turn()).await;
        let tab = session.current_tab(call).await;
        let tab = tab.map_err(|error| options.blamed(call.tool, error))?;
        if let Some(state) = browsers::first_state(session.settings()).await? {
            // That is a tab's, not the context's.
            let progress = call.navigation();
            tab.page
                .restore_session_storage(&progress, &state, "about:blank")
                .await?;
        }
        unfinished.0 = None;
        let created = self.add(session, owner, Kind::Created, timeout, options.expiry);
        drop(place);
        Ok(created)
    }

    fn add(
        self: &Arc<Self>,
        session: Arc<Session>,
        owner: &Principal,
        kind: Kind,
        lifetime: Duration,
        expiry: Option<SessionExpiry>,
    ) -> Arc<Created> {
        let expiry = expiry.unwrap_or(self.settings.sessions.expiry);
        let deadline = Deadline::after(lifetime, expiry);
        let created = Arc::new(Created {
            id: Uuid::new_v4(),
            kind,
            owner: owner.clone(),
            session,
            created_at: deadline.began(),
            deadline,
            calls: watch::Sender::new(0),
            expiry: OnceLock::new(),
        });
        created.session.is_called(created.id.to_string());
        self.table().live.push(created.clone());
        self.watch(&created);
        created
    }

    async fn close(&self, call: &Call, owner: &Principal, id: &str) -> Result<()> {
        let find = || self.table().find(id, owner);
        let created = find()?;
        call.take_turn(created.session.turn()).await;
        // Somebody may have been quicker.
        find()?;
        self.closed(&created).await;
        Ok(())
    }

    async fn closed(&self, created: &Created) {
        self.table().live.retain(|other| other.id != created.id);
        created.session.end(Ended::Closed(created.id)).await;
    }

    /// Ends all of them.
    pub(crate) async fn close_all(&self) {
        let live = std::mem::take(&mut self.table().live);
        let ends = live.iter().map(|created| created.session.close());
        futures_util::future::join_all(ends).await;
        self.default.close().await;
    }

    /// Ends a session when its time has come; calls that are under way are finished first.
    fn watch(self: &Arc<Self>, created: &Arc<Created>) {
        let (sessions, watched) = (Arc::downgrade(self), Arc::downgrade(created));
        let (deadline, mut calls) = (created.deadline.clone(), created.calls.subscribe());
        let watch = engine::spawn("session expiry", async move {
            loop {
                deadline.passed().await;
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
        // Set once, here.
        let _ = created.expiry.set(watch);
    }

    /// Ends it if its time has come; whether it is over.
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
            let id = (created.id, created.owner.clone());
            table.expired.push_back(id);
            if table.expired.len() > REMEMBERED {
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

/// The place of a session that is being created: given back when dropped.
struct Place<'a>(&'a Sessions);

impl<'a> Place<'a> {
    fn take(sessions: &'a Sessions) -> Result<Self> {
        let max_sessions = sessions.settings.sessions.max;
        let mut table = sessions.table();
        // A default session is nobody's choice; how many there are the number of connections bounds.
        let counts =
            |created: &&Arc<Created>| created.kind == Kind::Created && !created.has_passed();
        if table.live.iter().filter(counts).count() + table.taken >= max_sessions {
            return Err(Error::MaxSessionsReached { max_sessions });
        }
        table.taken += 1;
        Ok(Self(sessions))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.table().taken -= 1;
    }
}

/// A session that may have a browser context, and that nobody knows yet: closed when dropped.
struct Unfinished(Option<Arc<Session>>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(session) = self.0.take() {
            engine::spawn("closing session", async move { session.leave().await }).detach();
        }
    }
}

/// Unix time in milliseconds.
pub(crate) fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or(Duration::ZERO).as_millis()).unwrap_or(u64::MAX)
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

    /// One more session, that never needed a browser.
    fn one_more(sessions: &Arc<Sessions>) -> Result<Arc<Created>> {
        let (settings, browsers) = (sessions.settings.clone(), sessions.browsers.clone());
        let place = Place::take(sessions)?;
        let session = Arc::new(Session::new(settings, browsers));
        let owner = Principal::anybody();
        let created = sessions.add(session, &owner, Kind::Created, LIFETIME, None);
        drop(place);
        Ok(created)
    }

    fn begun() -> (Arc<Sessions>, Arc<Created>) {
        let sessions = sessions(&["--headless"]);
        let created = one_more(&sessions).unwrap();
        (sessions, created)
    }

    fn seen(sessions: &Arc<Sessions>) -> Visible {
        Visible::new(sessions.clone(), sessions.caller(Principal::anybody()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        /// Property 10 of S1.
        #[test]
        fn there_are_never_more_than_was_said(most in 1_usize..60, ends in 1_usize..60) {
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
            // As many as are over make room, and no more.
            let ends = ends.min(most);
            sessions.table().live.truncate(most - ends);
            for _ in 0..ends {
                prop_assert!(one_more(&sessions).is_ok());
            }
            prop_assert!(refused(&sessions));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_is_not_over_while_a_call_is_under_way() {
        let (sessions, created) = begun();
        let sessions = seen(&sessions);
        let id = created.id.to_string();
        let call = sessions.choose(Some(&id)).unwrap();
        tokio::time::advance(LIFETIME * 2).await;
        assert_eq!(sessions.list().len(), 1);
        assert!(sessions.choose(Some(&id)).is_ok());
        drop(call);
        tokio::time::advance(LIFETIME).await;
        assert_eq!(sessions.list().len(), 0);
        let late = sessions.choose(Some(&id));
        assert!(matches!(late, Err(Error::SessionExpired { .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_waits_for_the_end_of_a_session_that_is_closed() {
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
        let caller = sessions.connected_caller(Principal::anybody());
        let client = Visible::new(sessions.clone(), caller);
        let others = seen(&sessions);
        drop(client.choose(None).unwrap());
        let id = |sessions: &Visible| {
            let list = sessions.list();
            let default = list.iter().find(|created| created.kind == Kind::Default);
            default.map(|created| created.id.to_string())
        };
        let told = id(&others).unwrap();
        tokio::time::advance(LIFETIME * 100).await;
        assert_eq!(id(&others), Some(told.clone()));
        drop(client);
        // Who knows its id can take it up again, until it expires.
        assert!(others.choose(Some(&told)).is_ok());
        tokio::time::advance(LIFETIME * 100).await;
        let late = others.choose(Some(&told));
        assert!(matches!(late, Err(Error::SessionExpired { .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_of_others_do_not_exist() {
        let (sessions, created) = begun();
        let stranger = sessions.caller(Principal::named("stranger"));
        let stranger = Visible::new(sessions, stranger);
        let id = created.id.to_string();
        let found = stranger.choose(Some(&id));
        assert!(matches!(found, Err(Error::SessionNotFound { .. })));
        assert!(stranger.list().is_empty());
    }
}
