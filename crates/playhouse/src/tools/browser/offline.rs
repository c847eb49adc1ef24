//! Cutting the network.

use crate::call::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<NetworkStateSet>()];

/// Cut the network, or join it again.
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
    const CAPABILITY: Option<Capability> = Some(Capability::Network);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
