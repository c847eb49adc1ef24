//! The dashboard: what a principal sees of its sessions, and how a user takes one over. It has no protocol: `transport` serves it.

mod annotations;
mod inputs;
mod requests;
mod sections;
mod uploads;
mod view;

use crate::access::audit::Outcome;
use crate::access::policy::Subject;
use crate::access::principal::{Permission, Principal};
use crate::error::{Error, Result};
use crate::server::Server;
use crate::server::request::not_recorded;
use crate::sessions::session::control::{Holder, UserControl};
use crate::sessions::{InUse, OwnedSession};
use crate::telemetry::RequestInfo;
use engine::{Page, Progress};
use inputs::Inputs;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use task::Task;
use tokio::sync::{mpsc, watch};
use uploads::Upload;

pub(crate) use view::{Message, View};

/// The largest number of notices that wait for the dashboard; more are dropped.
const MAX_NOTICES: usize = 16;
/// How long a page may take to release keys and buttons. The browser also releases them later, because they are sent at once.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// An open dashboard of a principal.
pub(crate) struct Dashboard {
    server: Arc<Server>,
    principal: Principal,
    /// The session and the page that are shown.
    selection: watch::Sender<Selection>,
    controlled: Mutex<Option<Controlled>>,
    /// Lets the user annotate the page.
    annotation: Mutex<Option<Task>>,
    inputs: Inputs,
    upload: Mutex<Option<Upload>>,
    /// The page of the last input.
    input_page: Mutex<Option<Page>>,
    notices: mpsc::Sender<String>,
}

/// What the dashboard shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Selection {
    session: Option<String>,
    /// The id of a page; `None`: the current one.
    page: Option<String>,
}

/// A session that the user has taken over.
struct Controlled {
    id: String,
    _control: UserControl,
    _in_use: InUse,
}

impl Dashboard {
    /// Opens the dashboard of a principal. Returns it with its stream of messages.
    pub(crate) fn open(server: Arc<Server>, principal: Principal) -> (Arc<Self>, View) {
        let (notices, received) = mpsc::channel(MAX_NOTICES);
        let selection = watch::Sender::default();
        let selected = selection.subscribe();
        let dashboard = Arc::new(Self {
            server,
            principal,
            selection,
            controlled: Mutex::default(),
            annotation: Mutex::default(),
            inputs: Inputs::default(),
            upload: Mutex::default(),
            input_page: Mutex::default(),
            notices,
        });
        let view = View::new(dashboard.clone(), selected, received);
        (dashboard, view)
    }

    /// Hands the browser back, when the dashboard is closed.
    pub(crate) async fn close(&self) {
        if let Err(error) = self.hand_back().await {
            tracing::warn!(%error, "the dashboard was closed");
        }
    }

    /// Shows a session.
    async fn select(&self, selection: Selection) {
        let is_other = self.selection.send_if_modified(|shown| {
            let is_other = *shown != selection;
            *shown = selection;
            is_other
        });
        if is_other {
            self.end_input().await;
        }
    }

    /// Takes the shown session over.
    async fn take_over(&self) -> Result<()> {
        let owned = self.selected()?;
        self.permit(self.page_of(&owned).as_ref())?;
        self.hand_back().await?;
        self.record("dashboard/takeOver", &owned).await?;
        let Some(control) = owned.session.take_control() else {
            return Err(Error::NotInProgress {
                reason: "Another dashboard has taken this session over: take it over when that dashboard has handed it back",
            });
        };
        *self.controlled() = Some(Controlled {
            id: owned.session.id().to_owned(),
            _control: control,
            _in_use: owned.keep(),
        });
        Ok(())
    }

    /// Hands the session that was taken over back to its calls.
    async fn hand_back(&self) -> Result<()> {
        self.stop_annotation();
        self.end_input().await;
        let controlled = self.controlled().take();
        let Some(controlled) = controlled else {
            return Ok(());
        };
        let owned = self.server.owned_session(&self.principal, &controlled.id);
        drop(controlled);
        match owned {
            Ok(owned) => self.record("dashboard/handBack", &owned).await,
            Err(_) => Ok(()),
        }
    }

    /// Closes the shown session.
    async fn close_session(&self) -> Result<()> {
        let owned = self.selected()?;
        self.permit(self.page_of(&owned).as_ref())?;
        let id = owned.session.id();
        if self.controlled_id().is_some_and(|it| it != id) {
            self.hand_back().await?;
        }
        self.record("dashboard/close", &owned).await?;
        self.stop_annotation();
        self.inputs.clear();
        self.controlled().take();
        self.server.close_session(&self.principal, id).await
    }

    /// Returns the shown page for input. Fails unless the user has control, or annotates the page.
    fn page_for_input(&self, owned: &OwnedSession) -> Result<Page> {
        let page = self.page_of(owned);
        self.permit(page.as_ref())?;
        let page = page.ok_or(Error::NoOpenPage {})?;
        if !self.has_control(owned) && !owned.session.control().is_page_annotated(&page) {
            return Err(Error::NotInProgress {
                reason: "The calls of the session control its browser: choose \"Take over\" before you use the page",
            });
        }
        Ok(page)
    }

    /// Returns whether the user of this dashboard controls a session.
    fn has_control(&self, owned: &OwnedSession) -> bool {
        let id = self.controlled_id();
        id.as_deref() == Some(owned.session.id())
            && owned.session.control().holder() == Holder::User
    }

    /// Returns the page for the next input, whose keys and buttons are released when the input goes to another page.
    async fn begin_input(&self) -> Result<Page> {
        let owned = self.selected()?;
        let page = self.page_for_input(&owned)?;
        if self.input_page().as_ref() == Some(&page) {
            return Ok(page);
        }
        if !self.has_control(&owned) {
            self.record("dashboard/annotate", &owned).await?;
        }
        let before = self.input_page().replace(page.clone());
        if let Some(before) = before {
            release(&before).await;
        }
        Ok(page)
    }

    /// Drops input that waits and an incomplete upload, and releases the keys and buttons that are pressed.
    async fn end_input(&self) {
        self.inputs.clear();
        self.stop_upload();
        let page = self.input_page().take();
        if let Some(page) = page {
            release(&page).await;
        }
    }

    /// Returns the id of the session that the user has taken over.
    fn controlled_id(&self) -> Option<String> {
        self.controlled().as_ref().map(|it| it.id.clone())
    }

    fn selected(&self) -> Result<OwnedSession> {
        let id = self.selection.borrow().session.clone();
        let id = id.unwrap_or_default();
        self.server.owned_session(&self.principal, &id)
    }

    /// Returns the page of the session that is shown: the chosen one, or otherwise the current one.
    fn page_of(&self, owned: &OwnedSession) -> Option<Page> {
        let page = self.selection.borrow().page.clone();
        shown_page(owned, page.as_deref())
    }

    /// Fails if the principal or the policy does not allow to use the page.
    fn permit(&self, page: Option<&Page>) -> Result<()> {
        if self.principal.permission() < Permission::Act {
            return Err(Error::NotPermitted {
                tool: Subject::DASHBOARD.name,
                needed: Permission::Act.scope(),
            });
        }
        let url = page.map(Page::url);
        self.server.permit(Subject::DASHBOARD, url.as_deref(), None)
    }

    /// Records in the audit log what the user does.
    async fn record(&self, method: &'static str, owned: &OwnedSession) -> Result<()> {
        let failed = |error| not_recorded(&error, false);
        let request = RequestInfo::internal();
        let entry = self
            .server
            .record(&self.principal, &request, method, None, || json!({}));
        let Some(entry) = entry.await.map_err(failed)? else {
            return Ok(());
        };
        entry.set_session(owned.session.id());
        let url = self.page_of(owned).map(|page| page.url());
        entry.set_initial_page(url.as_deref());
        entry.end(Outcome::Ok).await.map_err(failed)
    }

    /// Sends a notice to the dashboard, unless too many wait.
    fn notify(&self, notice: &Value) {
        let _ = self.notices.try_send(notice.to_string());
    }

    fn input_page(&self) -> MutexGuard<'_, Option<Page>> {
        self.input_page
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn controlled(&self) -> MutexGuard<'_, Option<Controlled>> {
        self.controlled
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Releases the keys and buttons that are pressed on a page.
async fn release(page: &Page) {
    if let Err(error) = page.release_input(&Progress::new(RELEASE_TIMEOUT)).await {
        tracing::debug!(%error, "keys and buttons were not released");
    }
}

/// Returns the page with that id of any context of a session, or otherwise the current page of the active context.
fn shown_page(owned: &OwnedSession, id: Option<&str>) -> Option<Page> {
    let session = &owned.session;
    let (named, _) = session.named_contexts();
    let contexts = std::iter::once(session.clone()).chain(named.into_iter().map(|(_, it)| it));
    let tabs = contexts.filter_map(|context| context.open_tabs());
    let mut pages = tabs.flat_map(|tabs| tabs.all()).map(|tab| tab.page.clone());
    let chosen = id.and_then(|id| pages.find(|page| *page.id().0 == *id));
    chosen.or_else(|| session.context_or_active(None).ok()?.current_page())
}
