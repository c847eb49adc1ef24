//! Offline emulation.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::{Receiver, Statement};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<NetworkStateSet>()];

/// Turn offline mode on or off.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NetworkStateSet {
    /// The state to set.
    state: NetworkState,
}

/// Whether there is a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
enum NetworkState {
    Online,
    Offline,
}

impl Tool for NetworkStateSet {
    const NAME: &'static str = "browser_network_state_set";
    const TITLE: &'static str = "Set network state";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Network);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let offline = self.state == NetworkState::Offline;
        tab.context()?.set_offline(&call.action(), offline).await?;
        let code = format!("await page.context().setOffline({offline});");
        let statement = Statement::new(Receiver::Context, "setOffline").argument(offline);
        let reply = Reply::text(format!("Network is now {}", self.state));
        Ok(reply.and_statements(call.language(), code, [statement]))
    }
}
