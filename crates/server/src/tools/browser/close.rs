//! Closing the browser.

use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::WholeSession;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::{Receiver, Statement};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Close>()];

/// Close the browser.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Close {}

impl Tool for Close {
    const NAME: &'static str = "browser_close";
    const TITLE: &'static str = "Close browser";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    type Scope = WholeSession;
    type Output = Reply;

    async fn run(self, WholeSession(session): WholeSession, call: &Call) -> Result<Reply> {
        session.close().await;
        let statement = Statement::new(Receiver::Page, "close");
        let reply = Reply::statements(call.language(), "await page.close()", [statement]);
        Ok(reply.and(Part::Tabs(Vec::new())))
    }
}
