//! The configuration of the server.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::OfServer;
use crate::tools::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<GetConfig>()];

/// Show the configuration the server runs with.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetConfig {}

impl Tool for GetConfig {
    const NAME: &'static str = "browser_get_config";
    const TITLE: &'static str = "Get config";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Config);
    type Scope = OfServer;
    type Output = Reply;

    async fn run(self, _: OfServer, call: &Call) -> Result<Reply> {
        let merged = &call.settings.merged;
        let text = serde_json::to_string_pretty(merged).unwrap_or_default();
        Ok(Reply::text(text))
    }
}
