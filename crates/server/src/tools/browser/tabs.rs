//! Listing, opening, closing and selecting tabs.

use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Problem, Result};
use crate::sessions::session::{DEFAULT_CONTEXT, Session, Tab};
use crate::sessions::{SessionOptions, Visible, check_name};
use crate::tools::scope::WholeSession;
use crate::tools::tool::{Effect, JudgedPage, Tool, ToolDef};
use crate::tools::verbs::navigate::{Extent, completed_in, open, permitted};
use engine::codegen;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Tabs>()];

/// List, open, close or select tabs.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tabs {
    /// What to do.
    action: Action,
    /// Tab to close (the current one by default) or select, from 0.
    index: Option<f64>,
    /// URL to open in a new tab.
    url: Option<String>,
    /// Named context of a new tab, with cookies and storage of its own.
    isolated_context: Option<String>,
}

/// What to do with tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    New,
    Close,
    Select,
}

impl Tool for Tabs {
    const NAME: &'static str = "browser_tabs";
    const TITLE: &'static str = "Manage tabs";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = (WholeSession, Visible);
    type Output = Reply;

    fn judged_page(&self, session: &Session) -> JudgedPage {
        let index = self.index.map(number);
        match (self.action, &self.url, index) {
            (Action::New, Some(url), _) => JudgedPage::Url(completed_in(session, url)),
            (Action::New, None, _) | (Action::List, ..) => JudgedPage::None,
            (Action::Close, _, None) => JudgedPage::Current,
            (_, _, Some(Ok(index))) => JudgedPage::Tab(index),
            (..) => JudgedPage::None,
        }
    }

    async fn run(
        self,
        (WholeSession(session), sessions): (WholeSession, Visible),
        call: &Call,
    ) -> Result<Reply> {
        let index = self.index.map(number).transpose()?;
        let current = || session.part(call).ok()?.open_tabs()?.current();
        let before = current();
        match self.action {
            Action::List => {
                session.part(call)?.current_tab(call).await?;
            }
            Action::New => return self.open(&session, &sessions, call).await,
            Action::Close => close(&session, call, index).await?,
            Action::Select => {
                let index = index.ok_or(Error::Arguments {
                    reason: "Tab index is required".into(),
                    parameters: &[],
                    missing: &["index"],
                    bare: false,
                })?;
                let tab = session.tabs_of_contexts().numbered(index)?;
                tab.tab.page.activate(&call.action()).await?;
                session.tabs_of_contexts().set_current(&tab)?;
            }
        }
        let reply = Reply::default().and(Part::Tabs(session.tabs_of_contexts().listed(call).await));
        let after = current();
        let is_other = |before: Arc<Tab>| after.is_none_or(|after| after.page != before.page);
        Ok(match before.is_some_and(is_other) {
            true => reply.and_changes(),
            false => reply,
        })
    }
}

impl Tabs {
    async fn open(self, session: &Arc<Session>, sessions: &Visible, call: &Call) -> Result<Reply> {
        let url = self.url.as_deref();
        let url = url
            .map(|given| permitted(session, call, given))
            .transpose()?;
        let context = self.isolated_context.as_deref();
        let tab = open_in(session, sessions, call, context).await?;
        tab.initialized().await?;
        let part = session.part(call)?;
        let mut reply = Reply::default();
        if let Some(url) = url {
            open(&part, &tab, &call.navigation(), &url, Extent::Parsed).await?;
            reply = reply
                .and_action(call.language(), &codegen::Action::Goto { url })
                .and_snapshot();
        }
        Ok(reply.and(Part::Tabs(session.tabs_of_contexts().listed(call).await)))
    }
}

/// Opens a tab in a context, which is created if there is none of that name, and makes it the active one. Without a name: in the default
/// context, or in the active one if the client has the tools for contexts.
async fn open_in(
    session: &Arc<Session>,
    sessions: &Visible,
    call: &Call,
    context: Option<&str>,
) -> Result<Arc<Tab>> {
    let has_contexts = call
        .settings
        .tools
        .capabilities
        .contains(&Capability::Contexts);
    match context {
        None if has_contexts => {}
        None | Some(DEFAULT_CONTEXT) => session.switch_context(DEFAULT_CONTEXT)?,
        Some(name) if session.switch_context(name).is_ok() => {}
        Some(name) => {
            check_name(call.tool.name, "isolatedContext", name)?;
            let settings = SessionOptions::default().applied_to_context(session.settings())?;
            let _slot = sessions.context_slot(call)?;
            session.add_context(call, name, settings).await?;
            // The context begins with the new tab.
            return session.part(call)?.current_tab(call).await;
        }
    }
    let tabs = session.part(call)?.tabs(call).await?;
    tabs.open_another(&call.navigation()).await
}

/// Closes the tab of that index, or the current one. After the current one, the next of all contexts is current, or the last.
async fn close(session: &Arc<Session>, call: &Call, index: Option<i64>) -> Result<()> {
    let part = session.part(call)?;
    let current = part.tabs(call).await?.current();
    let all = session.tabs_of_contexts().all();
    let place = all.iter().position(|tab| {
        let is_current = |current: &Arc<Tab>| current.page == tab.tab.page;
        current.as_ref().is_some_and(is_current)
    });
    let closed = match index {
        Some(index) => Some(session.tabs_of_contexts().numbered(index)?),
        None => place.and_then(|place| all.into_iter().nth(place)),
    };
    let Some(closed) = closed else {
        return Ok(());
    };
    let tabs = closed.session.tabs(call).await?;
    tabs.close(&call.navigation(), Some(closed.index)).await?;
    let was_current = current.is_some_and(|current| current.page == closed.tab.page);
    let others = session.tabs_of_contexts().all();
    let next = place.map(|place| place.min(others.len().saturating_sub(1)));
    if let Some(next) = next
        .and_then(|next| others.get(next))
        .filter(|_| was_current)
    {
        session.tabs_of_contexts().set_current(next)?;
    }
    Ok(())
}

/// Returns a tab's number, which may be out of range. Fails if it is not a whole number.
#[expect(
    clippy::cast_possible_truncation,
    reason = "saturates, and no tab is there"
)]
fn number(index: f64) -> Result<i64> {
    if index.fract() == 0.0 {
        return Ok(index as i64);
    }
    Err(Error::InvalidArguments {
        tool: Tabs::NAME,
        problems: vec![Problem {
            parameter: "index".to_owned(),
            message: "Invalid input: expected int, received number".to_owned(),
            missing: false,
        }],
    })
}
