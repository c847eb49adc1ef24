//! The pages of a session.

use super::navigation::resolve_url;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::sessions::session::{Session, TabSummary};
use crate::tools::tool::{Effect, JudgedPage, Object, Tool, ToolDef};
use crate::tools::verbs::navigate::{Extent, completed_in, open};
use engine::LoadState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<ListPages>(),
    ToolDef::of::<NewPage>(),
    ToolDef::of::<SelectPage>(),
    ToolDef::of::<ClosePage>(),
];

/// The pages, in the order in which they were opened.
#[derive(Serialize, JsonSchema)]
pub(super) struct Pages {
    pages: Vec<Listed>,
}

/// A page.
#[derive(Serialize, JsonSchema)]
struct Listed {
    index: usize,
    url: String,
    title: String,
    /// Whether other tools work on this page.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    current: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    crashed: bool,
}

impl Pages {
    async fn of(session: &Session, call: &Call) -> Object<Self> {
        let tabs = session.listed_tabs(call).await;
        let tabs = tabs.iter().map(TabSummary::listed).enumerate();
        let pages = tabs.map(|(index, tab)| Listed {
            index,
            url: tab.url,
            title: tab.title,
            current: tab.current,
            crashed: tab.crashed,
        });
        Self {
            pages: pages.collect(),
        }
        .into()
    }
}

/// List the pages of the session.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListPages {}

impl Tool for ListPages {
    const NAME: &'static str = "list_pages";
    const TITLE: &'static str = "List pages";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    type Scope = Arc<Session>;
    type Output = Object<Pages>;

    fn judged_page(&self, _: &Session) -> JudgedPage {
        JudgedPage::None
    }

    async fn run(self, session: Arc<Session>, call: &Call) -> Result<Object<Pages>> {
        session.current_tab(call).await?;
        Ok(Pages::of(&session, call).await)
    }
}

/// Open a new page; other tools work on it from then on.
#[derive(Deserialize, JsonSchema)]
pub(super) struct NewPage {
    /// What to open there; blank without.
    url: Option<String>,
}

impl Tool for NewPage {
    const NAME: &'static str = "new_page";
    const TITLE: &'static str = "New page";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = Arc<Session>;
    type Output = Object<Pages>;

    fn judged_page(&self, session: &Session) -> JudgedPage {
        let url = self.url.as_deref();
        url.map_or(JudgedPage::None, |url| {
            JudgedPage::Url(completed_in(session, url))
        })
    }

    async fn run(self, session: Arc<Session>, call: &Call) -> Result<Object<Pages>> {
        let url = self
            .url
            .map(|url| resolve_url(&session, call, url))
            .transpose()?;
        let progress = call.navigation();
        let tab = session.tabs(call).await?.open_new(&progress).await?;
        tab.initialized().await?;
        if let Some(url) = url {
            let extent = Extent::Reached(LoadState::Loaded);
            if !open(&session, &tab, &progress, &url, extent).await? {
                return Err(engine::Error::DialogOpen {}.into());
            }
        }
        Ok(Pages::of(&session, call).await)
    }
}

/// Select the page that other tools work on.
#[derive(Deserialize, JsonSchema)]
pub(super) struct SelectPage {
    /// Its place in the list, from 0.
    index: usize,
}

impl Tool for SelectPage {
    const NAME: &'static str = "select_page";
    const TITLE: &'static str = "Select page";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const WAITS: bool = false;
    type Scope = Arc<Session>;
    type Output = Object<Pages>;

    fn judged_page(&self, session: &Session) -> JudgedPage {
        JudgedPage::of_tab(session, number(self.index).ok())
    }

    async fn run(self, session: Arc<Session>, call: &Call) -> Result<Object<Pages>> {
        let index = number(self.index)?;
        let tabs = session.tabs(call).await?;
        tabs.select(&call.action(), index).await?;
        Ok(Pages::of(&session, call).await)
    }
}

/// Close a page.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ClosePage {
    /// Its place in the list, from 0; the current one by default.
    index: Option<usize>,
}

impl Tool for ClosePage {
    const NAME: &'static str = "close_page";
    const TITLE: &'static str = "Close page";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const WAITS: bool = false;
    type Scope = Arc<Session>;
    type Output = Object<Pages>;

    fn judged_page(&self, session: &Session) -> JudgedPage {
        match self.index {
            Some(index) => JudgedPage::of_tab(session, number(index).ok()),
            None => JudgedPage::Current,
        }
    }

    async fn run(self, session: Arc<Session>, call: &Call) -> Result<Object<Pages>> {
        let index = self.index.map(number).transpose()?;
        let tabs = session.tabs(call).await?;
        tabs.close(&call.navigation(), index).await?;
        Ok(Pages::of(&session, call).await)
    }
}

fn number(index: usize) -> Result<i64> {
    let too_large = |_| Error::TabNotFound { index: i64::MAX };
    i64::try_from(index).map_err(too_large)
}
