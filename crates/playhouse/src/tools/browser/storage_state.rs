//! Cookies and storage as a file.

use crate::call::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::CurrentTab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<SaveStorageState>(),
    ToolDef::of::<SetStorageState>(),
];

/// Save cookies and local storage to a file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SaveStorageState {
    /// File to write.
    filename: Option<String>,
}

impl Tool for SaveStorageState {
    const NAME: &'static str = "browser_storage_state";
    const TITLE: &'static str = "Save storage state";
    const EFFECT: Effect = Effect::Reads;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;

    async fn run(self, _on: CurrentTab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Replace cookies and local storage by those of a file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetStorageState {
    /// File to read.
    filename: String,
}

impl Tool for SetStorageState {
    const NAME: &'static str = "browser_set_storage_state";
    const TITLE: &'static str = "Restore storage state";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;

    async fn run(self, _on: CurrentTab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
