//! The named contexts of a session in addition to its default one: each with its own browser context, and one of them active.

use super::folders::Folders;
use super::tab::Tab;
use super::tabs::TabSummary;
use super::{Ended, Session};
use crate::answers::reply::TabFacts;
use crate::calls::Call;
use crate::config::Settings;
use crate::error::{Error, Problem, Result};
use std::sync::{Arc, MutexGuard, PoisonError};

/// The name of the default context.
pub(crate) const DEFAULT_NAME: &str = "default";

/// The largest number of contexts in a session.
const MAX_CONTEXTS: usize = 50;

/// The contexts of a session.
#[derive(Default)]
pub(super) struct Contexts {
    /// The named contexts, oldest first. Each is a session that uses the turns of this one.
    named: Vec<(String, Arc<Session>)>,
    /// The name of the active context; `None`: the default one.
    active: Option<String>,
}

/// A tab among those of all contexts.
pub(crate) struct TabInContext {
    /// The session of its context.
    pub(crate) session: Arc<Session>,
    /// Its index among the tabs of the context.
    pub(crate) index: i64,
    /// The tab.
    pub(crate) tab: Arc<Tab>,
}

impl Session {
    /// Returns the context that a call is for: the named one, or otherwise the active one. The call has the session's turn.
    pub(crate) fn part(self: &Arc<Self>, call: &Call) -> Result<Arc<Session>> {
        self.context_or_active(call.context())
    }

    /// Returns the context that a call is for, or the session itself if there is no such context any more.
    pub(crate) fn part_or_whole(self: &Arc<Self>, call: &Call) -> Arc<Session> {
        self.part(call).unwrap_or_else(|_| self.clone())
    }

    /// Returns the context of that name, or the active one.
    pub(crate) fn context_or_active(self: &Arc<Self>, name: Option<&str>) -> Result<Arc<Session>> {
        let contexts = self.contexts();
        let Some(name) = name.or(contexts.active.as_deref()) else {
            return Ok(self.clone());
        };
        contexts.find(self, name)
    }

    /// Returns the tabs of all contexts.
    pub(crate) fn tabs_of_contexts(self: &Arc<Self>) -> TabsOfContexts {
        TabsOfContexts(self.clone())
    }

    /// Returns the sessions of all contexts, the default one first.
    fn sessions_of_contexts(self: &Arc<Self>) -> Vec<Arc<Session>> {
        let contexts = self.contexts();
        let named = contexts.named.iter().map(|(_, session)| session.clone());
        std::iter::once(self.clone()).chain(named).collect()
    }

    /// Opens a context and makes it the active one. The settings are those of the session with changes.
    pub(crate) async fn add_context(
        self: &Arc<Self>,
        call: &Call,
        name: &str,
        mut settings: Settings,
    ) -> Result<()> {
        let wrong = |message: String| Error::InvalidArguments {
            tool: call.tool.name,
            problems: vec![Problem {
                parameter: "name".to_owned(),
                message,
                missing: false,
            }],
        };
        {
            let contexts = self.contexts();
            if contexts.names().any(|known| known == name) {
                return Err(wrong(format!("There is a context \"{name}\" already")));
            }
            if contexts.named.len() >= MAX_CONTEXTS {
                return Err(wrong(format!("There are {MAX_CONTEXTS} contexts already")));
            }
        }
        settings.context.name = Some(name.to_owned());
        let fresh = self.open_context(call, settings).await?.keep();
        let mut contexts = self.contexts();
        contexts.named.extend(fresh.map(|it| (name.to_owned(), it)));
        contexts.active = Some(name.to_owned());
        Ok(())
    }

    /// Opens a browser context that is not one of the named ones.
    pub(crate) async fn open_context(
        &self,
        call: &Call,
        settings: Settings,
    ) -> Result<PendingContext> {
        let mut fresh = Session::new(Arc::new(settings), self.browsers.clone(), self.features.new);
        fresh.observers = self.observers.clone();
        fresh.control = self.control.clone();
        let output = self.output(call).await.clone();
        fresh.folders = Folders::known(output);
        fresh.set_id(self.id().to_owned());
        if let Some(app) = self.app.get() {
            let _ = fresh.app.set(app.clone());
        }
        let fresh = Arc::new(fresh);
        let pending = PendingContext(Some(fresh.clone()));
        fresh.current_tab(call).await?;
        Ok(pending)
    }

    /// Makes the context of that name the active one.
    pub(crate) fn switch_context(self: &Arc<Self>, name: &str) -> Result<()> {
        let mut contexts = self.contexts();
        contexts.find(self, name)?;
        contexts.active = (name != DEFAULT_NAME).then(|| name.to_owned());
        Ok(())
    }

    /// Closes the context of that name with its pages; if it was active, the default one becomes active.
    pub(crate) async fn close_context(self: &Arc<Self>, name: &str) -> Result<()> {
        let gone = {
            let mut contexts = self.contexts();
            let gone = contexts.find(self, name)?;
            contexts.named.retain(|(known, _)| known != name);
            contexts.active.take_if(|active| active == name);
            gone
        };
        gone.close_own_context().await;
        Ok(())
    }

    /// Returns the named contexts, oldest first, and the active one.
    pub(crate) fn named_contexts(&self) -> (Vec<(String, Arc<Session>)>, Option<String>) {
        let contexts = self.contexts();
        (contexts.named.clone(), contexts.active.clone())
    }

    /// Closes the named contexts; with `ended`, permanently.
    pub(super) async fn close_contexts(&self, ended: Option<Ended>) {
        let Contexts { named, .. } = std::mem::take(&mut *self.contexts());
        let closing = named.iter().map(async |(_, session)| {
            if let Some(ended) = ended {
                session.end.reach(ended);
            }
            session.close_own_context().await;
        });
        futures_util::future::join_all(closing).await;
    }

    fn contexts(&self) -> MutexGuard<'_, Contexts> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tabs of all contexts of a session.
pub(crate) struct TabsOfContexts(Arc<Session>);

impl TabsOfContexts {
    /// Returns the tabs of all contexts in the order in which they were opened.
    pub(crate) fn all(&self) -> Vec<TabInContext> {
        let mut all: Vec<_> = self
            .0
            .sessions_of_contexts()
            .into_iter()
            .flat_map(|session| {
                let tabs = session.open_tabs().map(|tabs| tabs.all());
                let tabs = (0..).zip(tabs.unwrap_or_default());
                tabs.map(move |(index, tab)| TabInContext {
                    session: session.clone(),
                    index,
                    tab,
                })
            })
            .collect();
        all.sort_by_key(|tab| tab.tab.opened);
        all
    }

    /// Returns the tab of that index among those of all contexts.
    pub(crate) fn numbered(&self, index: i64) -> Result<TabInContext> {
        let number = usize::try_from(index).ok();
        let tab = number.and_then(|number| self.all().into_iter().nth(number));
        tab.ok_or(Error::TabNotFound { index })
    }

    /// Makes the context of a tab the active one, and the tab its current one, without activating it.
    pub(crate) fn set_current(&self, tab: &TabInContext) -> Result<()> {
        self.0
            .switch_context(tab.tab.context.as_deref().unwrap_or(DEFAULT_NAME))?;
        if let Some(tabs) = tab.session.open_tabs() {
            tabs.make_current(&tab.tab.page);
        }
        Ok(())
    }

    /// Returns the tabs of all contexts for an answer that lists them, and marks them as reported.
    pub(crate) async fn listed(&self, call: &Call) -> Vec<TabFacts> {
        let active = self.0.context_or_active(None);
        let mut listed = Vec::new();
        for session in self.0.sessions_of_contexts() {
            let is_active = active
                .as_ref()
                .is_ok_and(|active| Arc::ptr_eq(active, &session));
            let tabs = session.listed_tabs(call).await.into_iter();
            listed.extend(tabs.map(|tab| TabSummary {
                current: tab.current && is_active,
                ..tab
            }));
        }
        listed.sort_by_key(|summary| summary.tab.opened);
        listed.iter().map(TabSummary::listed).collect()
    }
}

impl Contexts {
    fn names(&self) -> impl Iterator<Item = &str> {
        let named = self.named.iter().map(|(name, _)| name.as_str());
        std::iter::once(DEFAULT_NAME).chain(named)
    }

    fn find(&self, default: &Arc<Session>, name: &str) -> Result<Arc<Session>> {
        if name == DEFAULT_NAME {
            return Ok(default.clone());
        }
        let found = self.named.iter().find(|(known, _)| known == name);
        let found = found.map(|(_, session)| session.clone());
        found.ok_or_else(|| Error::ContextNotFound {
            name: name.to_owned(),
            contexts: self.names().map(str::to_owned).collect(),
        })
    }
}

/// A context that is not registered: closed when dropped.
pub(crate) struct PendingContext(Option<Arc<Session>>);

impl PendingContext {
    /// Returns the context.
    pub(crate) fn session(&self) -> Option<&Arc<Session>> {
        self.0.as_ref()
    }

    /// Returns the context, which is not closed.
    fn keep(mut self) -> Option<Arc<Session>> {
        self.0.take()
    }

    /// Closes the context.
    pub(crate) async fn close(self) {
        if let Some(session) = self.keep() {
            session.close_own_context().await;
        }
    }
}

impl Drop for PendingContext {
    fn drop(&mut self) {
        if let Some(session) = self.0.take() {
            task::spawn("closing context", async move {
                session.close_own_context().await
            })
            .detach();
        }
    }
}
