//! Default sessions: where the calls of a client go that name no session, and what becomes of the session of a client that went away.

use super::{Created, Origin, Sessions, UnderWay};
use crate::call::Client;
use crate::output;
use crate::principal::Principal;
use crate::session::{self, Session};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long a principal may be away that has no connection of its own, until its default session is one that nobody is connected to.
const AWAY: Duration = Duration::from_secs(3600);

/// Who calls, and where it is at home.
#[derive(Clone)]
pub(crate) struct Caller {
    /// Whom the server takes it for.
    pub(crate) principal: Principal,
    pub(super) home: Home,
}

/// Where the calls go that name no session.
#[derive(Clone)]
pub(super) enum Home {
    /// To the server's default session.
    Server,
    /// To a default session of its own, made when it is first needed. It expires like others once nobody has this any more.
    Own(Arc<Resident>),
}

/// A client, or a principal without a connection, and its default session.
#[derive(Default)]
pub(super) struct Resident(Mutex<Residence>);

#[derive(Default)]
struct Residence {
    session: Option<UnderWay>,
    /// The client that called last.
    client: Option<Arc<dyn Client>>,
}

impl Resident {
    /// Its default session; `settle_in` makes it where there is none, or where it is over.
    pub(super) fn session_or(&self, settle_in: impl FnOnce() -> Arc<Created>) -> Arc<Created> {
        let mut residence = self.residence();
        if let Some(UnderWay(created)) = &residence.session
            && created.session.goes_on().is_ok()
        {
            return created.clone();
        }
        let created = settle_in();
        residence.session = Some(UnderWay::on(created.clone()));
        created
    }

    /// Its default session, if it has had one.
    pub(super) fn session(&self) -> Option<Arc<Created>> {
        let residence = self.residence();
        residence
            .session
            .as_ref()
            .map(|UnderWay(created)| created.clone())
    }

    /// Whether its default session has a browser.
    fn has_browser(&self) -> bool {
        let created = self.session();
        created.is_some_and(|created| created.session.open_tabs().is_some())
    }

    fn residence(&self) -> std::sync::MutexGuard<'_, Residence> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The homes of principals that come without a connection.
#[derive(Default)]
pub(super) struct Homes(HashMap<Principal, (Arc<Resident>, Instant)>);

impl Homes {
    fn of(&mut self, principal: &Principal) -> Arc<Resident> {
        let now = Instant::now();
        self.0.retain(|_, (own, used)| {
            Arc::strong_count(own) > 1 || now.saturating_duration_since(*used) < AWAY
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

    /// By what its sessions are known: callers without a home of their own are one.
    pub(super) fn resident(&self) -> Weak {
        match &self.home {
            Home::Server => Weak::new(),
            Home::Own(own) => Arc::downgrade(own),
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
    async fn is_left(&self) -> bool {
        let resident = self.resident().upgrade();
        let Some(resident) = resident else {
            return *self.calls.borrow() == 0;
        };
        let client = {
            let residence = resident.residence();
            let session = residence.session.as_ref();
            match session.is_some_and(|UnderWay(created)| created.id == self.id) {
                true => residence.client.clone(),
                false => return *self.calls.borrow() == 0,
            }
        };
        // One of them is the client itself.
        if *self.calls.borrow() > 1 {
            return false;
        }
        match client {
            Some(client) => !client.is_there().await && *self.calls.borrow() <= 1,
            None => false,
        }
    }

    /// Makes it the default session of a client instead of the one that left it; fails where that has changed meanwhile.
    fn move_to(self: &Arc<Self>, home: &Arc<Resident>, left: &Weak) -> bool {
        let mut resident = self.resident();
        if !resident.ptr_eq(left) {
            return false;
        }
        *resident = Arc::downgrade(home);
        drop(resident);
        if let Some(former) = left.upgrade() {
            former.residence().session = None;
        }
        let mut residence = home.residence();
        residence.session = Some(UnderWay::on(self.clone()));
        true
    }

    pub(super) fn resident(&self) -> std::sync::MutexGuard<'_, Weak> {
        self.resident.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Weak = std::sync::Weak<Resident>;

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
                home: Home::Own(Arc::default()),
            },
        }
    }

    /// A default session for a client that has none. Of those whose clients have gone there are as many as there may be sessions: clients that
    /// come and go leave no more behind.
    pub(super) fn settle_in(
        self: &Arc<Self>,
        home: &Arc<Resident>,
        owner: &Principal,
    ) -> Arc<Created> {
        self.end_oldest_left();
        let settings = Arc::new(output::settings_of(&self.settings, owner));
        let session = Arc::new(Session::new(settings, self.browsers.clone()));
        let lifetime = self.settings.sessions.timeout;
        let origin = Origin {
            kind: Kind::Default,
            owner: owner.clone(),
            resident: Arc::downgrade(home),
            name: None,
        };
        self.add(Uuid::new_v4(), session, origin, lifetime, None)
    }

    /// Ends the oldest default sessions whose clients have gone, where there are too many.
    fn end_oldest_left(self: &Arc<Self>) {
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
            created.deadline.pass();
            let sessions = self.clone();
            engine::spawn("surplus session", async move {
                let _turn = created.session.turn().await;
                sessions.expire(&created).await;
            })
            .detach();
        }
    }

    /// Where the profile is open in the default session of a client that has gone, that session becomes the one of `home`, which has no
    /// browser yet: a client that reconnects finds its logins and its pages. Where the two work in different folders, the session is closed
    /// instead, so that the profile is free.
    pub(super) async fn take_up(
        self: &Arc<Self>,
        home: &Arc<Resident>,
        owner: &Principal,
        client: &Arc<dyn Client>,
    ) {
        home.residence().client = Some(client.clone());
        if home.has_browser() {
            return;
        }
        let mut others = self.list(owner);
        others.retain(|created| {
            created.kind == Kind::Default && created.session.open_profile().is_some()
        });
        if others.is_empty() {
            return;
        }
        let settings = output::settings_of(&self.settings, owner);
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
        let left = other.resident().clone();
        if let Some(status) = client.status() {
            status.set("waiting for the client that has the profile to answer");
        }
        if !other.is_left().await {
            return;
        }
        let output = other.session.known_output();
        let is_same_folder = output.is_some_and(|output| output.workspace() == workspace.folder);
        if !other.move_to(home, &left) {
            return;
        }
        tracing::info!(id = %other.id, "a client takes over the session of a client that has disconnected");
        if !is_same_folder {
            let _turn = other.session.turn().await;
            self.closed(&other).await;
        }
    }
}
