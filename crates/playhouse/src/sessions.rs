//! The sessions of a server: the default one, and those that clients create, each with an end to its life.

mod expiry;
mod options;

use crate::browsers::{self, Browsers};
use crate::call::Call;
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::session::{Ended, Session};
use expiry::Deadline;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use uuid::Uuid;

pub(crate) use options::{ProxyOption, SessionOptions, ViewportOption};

/// Ids of sessions that are over, for as long as they can be told from ids that never were.
const REMEMBERED: usize = 1000;

/// What the default session is called.
pub(crate) const DEFAULT: &str = "default";

/// All sessions of a server.
pub(crate) struct Sessions {
    settings: Arc<Settings>,
    browsers: Arc<Browsers>,
    default: Arc<Session>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// Oldest first.
    live: Vec<Arc<Created>>,
    /// Places of sessions that are being created.
    taken: usize,
    expired: VecDeque<Uuid>,
}

/// A session that a client created.
pub(crate) struct Created {
    /// Its id, a UUID of version 4.
    pub(crate) id: Uuid,
    /// The session.
    pub(crate) session: Arc<Session>,
    /// When it was created.
    pub(crate) created_at: SystemTime,
    deadline: Deadline,
}

impl Created {
    /// When it will be over, if nobody uses it.
    pub(crate) fn expires_at(&self) -> SystemTime {
        self.deadline.told()
    }
}

/// The session of a call, which lives on while the call does.
pub(crate) struct Chosen {
    /// The session.
    pub(crate) session: Arc<Session>,
    created: Option<Arc<Created>>,
}

impl Drop for Chosen {
    fn drop(&mut self) {
        if let Some(created) = &self.created {
            created.deadline.prolong();
        }
    }
}

impl Sessions {
    pub(crate) fn new(settings: Arc<Settings>, browsers: Arc<Browsers>) -> Self {
        Self {
            default: Arc::new(Session::new(settings.clone(), browsers.clone())),
            settings,
            browsers,
            table: Mutex::default(),
        }
    }

    /// The session that calls have which name none.
    pub(crate) fn default_session(&self) -> &Arc<Session> {
        &self.default
    }

    /// The session of that id, or the default one; its life is prolonged.
    pub(crate) fn choose(&self, id: Option<&str>) -> Result<Chosen> {
        let Some(id) = id.filter(|id| *id != DEFAULT) else {
            return Ok(Chosen {
                session: self.default.clone(),
                created: None,
            });
        };
        let created = self.find(id)?;
        created.deadline.prolong();
        Ok(Chosen {
            session: created.session.clone(),
            created: Some(created),
        })
    }

    fn find(&self, id: &str) -> Result<Arc<Created>> {
        let session_id = id.to_owned();
        let Ok(id) = Uuid::parse_str(id) else {
            return Err(Error::SessionNotFound { session_id });
        };
        let table = self.table();
        match table.live.iter().find(|created| created.id == id) {
            Some(created) if !created.deadline.has_passed() => Ok(created.clone()),
            Some(_) => Err(Error::SessionExpired { session_id }),
            None if table.expired.contains(&id) => Err(Error::SessionExpired { session_id }),
            None => Err(Error::SessionNotFound { session_id }),
        }
    }

    /// All that were created and live, oldest first.
    pub(crate) fn list(&self) -> Vec<Arc<Created>> {
        let mut live = self.table().live.clone();
        live.retain(|created| !created.deadline.has_passed());
        live
    }

    /// Makes a session with a page in a browser context of its own.
    pub(crate) async fn create(
        self: &Arc<Self>,
        call: &Call,
        options: &SessionOptions,
    ) -> Result<Arc<Created>> {
        let place = Place::take(self)?;
        let settings = Arc::new(options.applied_to(&self.settings)?);
        let timeout = options.lifetime().unwrap_or(self.settings.sessions.timeout);
        let session = Arc::new(Session::new(settings, self.browsers.clone()));
        let mut unfinished = Unfinished(Some(session.clone()));
        // Nobody else knows it; its turn is for what it is asked to do.
        call.take_turn(session.turn()).await;
        let tab = session.current_tab(call).await?;
        if let Some(state) = browsers::first_state(session.settings()).await? {
            // That is a tab's, not the context's.
            let progress = call.navigation();
            tab.page
                .restore_session_storage(&progress, &state, "about:blank")
                .await?;
        }
        let deadline = Deadline::after(timeout, self.settings.sessions.expiry);
        let created = Arc::new(Created {
            id: Uuid::new_v4(),
            session,
            created_at: deadline.began(),
            deadline,
        });
        unfinished.0 = None;
        place.fill(created.clone());
        self.watch(&created);
        Ok(created)
    }

    /// Ends a session: calls on it that came before are finished first, later ones find it gone.
    pub(crate) async fn close(&self, call: &Call, id: &str) -> Result<()> {
        let created = self.find(id)?;
        call.take_turn(created.session.turn()).await;
        // Somebody may have been quicker.
        self.find(id)?;
        self.table().live.retain(|other| other.id != created.id);
        created.session.end(Ended::Closed(created.id)).await;
        Ok(())
    }

    /// Ends all of them.
    pub(crate) async fn close_all(&self) {
        let live = std::mem::take(&mut self.table().live);
        let ends = live.iter().map(|created| created.session.close());
        futures_util::future::join_all(ends).await;
        self.default.close().await;
    }

    /// Ends a session when its time has come; a call that is under way is finished first.
    fn watch(self: &Arc<Self>, created: &Arc<Created>) {
        let (sessions, watched) = (Arc::downgrade(self), Arc::downgrade(created));
        engine::spawn("session expiry", async move {
            loop {
                let Some(deadline) = watched.upgrade().map(|created| created.deadline.clone())
                else {
                    return;
                };
                deadline.passed().await;
                let (Some(sessions), Some(created)) = (sessions.upgrade(), watched.upgrade())
                else {
                    return;
                };
                let _turn = created.session.turn().await;
                if created.deadline.has_passed() {
                    sessions.expire(&created).await;
                    return;
                }
            }
        })
        .detach();
    }

    async fn expire(&self, created: &Created) {
        {
            let mut table = self.table();
            let before = table.live.len();
            table.live.retain(|other| other.id != created.id);
            if table.live.len() == before {
                return;
            }
            table.expired.push_back(created.id);
            if table.expired.len() > REMEMBERED {
                table.expired.pop_front();
            }
        }
        tracing::debug!(id = %created.id, "the session expired");
        created.session.end(Ended::Expired(created.id)).await;
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
        let live = table
            .live
            .iter()
            .filter(|created| !created.deadline.has_passed());
        if live.count() + table.taken >= max_sessions {
            return Err(Error::MaxSessionsReached { max_sessions });
        }
        table.taken += 1;
        Ok(Self(sessions))
    }

    fn fill(self, created: Arc<Created>) {
        self.0.table().live.push(created);
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
            engine::spawn("closing session", async move { session.close().await }).detach();
        }
    }
}

/// Unix time in milliseconds.
pub(crate) fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or(Duration::ZERO).as_millis()).unwrap_or(u64::MAX)
}
