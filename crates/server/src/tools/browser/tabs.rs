//! Listing, opening, closing and selecting tabs.

use super::navigate::generated_url;
use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::error::{Error, Problem, Result};
use crate::sessions::session::{Session, Tab};
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
    type Scope = Arc<Session>;
    type Output = Reply;

    fn judged_page(&self, session: &Session) -> JudgedPage {
        let index = self.index.and_then(|index| number(index).ok());
        match (self.action, &self.url) {
            (Action::New, Some(url)) => JudgedPage::Url(completed_in(session, url)),
            (Action::New, None) | (Action::List, _) => JudgedPage::None,
            (Action::Close, _) if self.index.is_none() => JudgedPage::Current,
            (Action::Close | Action::Select, _) => JudgedPage::of_tab(session, index),
        }
    }

    async fn run(self, session: Arc<Session>, call: &Call) -> Result<Reply> {
        let index = self.index.map(number).transpose()?;
        let before = session.open_tabs().and_then(|tabs| tabs.current());
        match self.action {
            Action::List => {
                session.current_tab(call).await?;
            }
            Action::New => return self.open(session, call).await,
            Action::Close => {
                let tabs = session.tabs(call).await?;
                tabs.close(&call.navigation(), index).await?;
            }
            Action::Select => {
                let index = index.ok_or(Error::Arguments {
                    reason: "Tab index is required".into(),
                    parameters: &[],
                    missing: &["index"],
                    bare: false,
                })?;
                let tabs = session.tabs(call).await?;
                tabs.select(&call.action(), index).await?;
            }
        }
        let reply = Reply::default().and(Part::Tabs(session.listed_tabs(call).await));
        let after = session.open_tabs().and_then(|tabs| tabs.current());
        let is_other = |before: Arc<Tab>| after.is_none_or(|after| after.page != before.page);
        Ok(match before.is_some_and(is_other) {
            true => reply.and_changes(),
            false => reply,
        })
    }
}

impl Tabs {
    async fn open(self, session: Arc<Session>, call: &Call) -> Result<Reply> {
        let url = self.url.as_deref();
        let url = url
            .map(|given| permitted(&session, call, given))
            .transpose()?;
        let tabs = session.tabs(call).await?;
        let tab = tabs.open_another(&call.navigation()).await?;
        tab.initialized().await?;
        let mut reply = Reply::default();
        if let Some((url, given)) = url.zip(self.url) {
            open(&session, &tab, &call.navigation(), &url, Extent::Parsed).await?;
            let url = generated_url(given, url);
            reply = reply
                .and_action(call.language(), &codegen::Action::Goto { url })
                .and_snapshot();
        }
        Ok(reply.and(Part::Tabs(session.listed_tabs(call).await)))
    }
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
