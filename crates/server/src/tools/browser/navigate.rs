//! Navigating pages.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::sessions::session::Session;
use crate::tools::scope::{CurrentTab, TabInAnyState};
use crate::tools::tool::{Effect, JudgedPage, Tool, ToolDef};
use crate::tools::verbs::navigate::{Extent, completed_in, go, goto, permitted};
use engine::codegen::Action;
use engine::codegen::{Receiver, Statement};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Navigate>(), ToolDef::of::<NavigateBack>()];

/// Open a URL.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Navigate {
    /// The URL.
    url: String,
}

impl Tool for Navigate {
    const NAME: &'static str = "browser_navigate";
    const TITLE: &'static str = "Navigate to a URL";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = TabInAnyState;
    type Output = Reply;

    fn judged_page(&self, session: &Session) -> JudgedPage {
        JudgedPage::Url(completed_in(session, &self.url))
    }

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let url = permitted(&tab.session, call, &self.url)?;
        goto(&tab, call, &call.navigation(), &url, Extent::Parsed).await?;
        Ok(Reply::action(call.language(), &Action::Goto { url }).and_snapshot())
    }
}

/// Go back in the history.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NavigateBack {}

impl Tool for NavigateBack {
    const NAME: &'static str = "browser_navigate_back";
    const TITLE: &'static str = "Go back";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        match go(&tab, &call.navigation(), -1, Extent::Back).await {
            // The client handles the beforeunload dialog.
            Ok(_) | Err(Error::Engine(engine::Error::DialogOpen {})) => {}
            Err(error) => return Err(error),
        }
        let statement = Statement::new(Receiver::Page, "goBack");
        Ok(Reply::statements(call.language(), "await page.goBack();", [statement]).and_snapshot())
    }
}
