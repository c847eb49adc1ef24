//! Local and session storage of the page.

use crate::call::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<LocalList>(),
    ToolDef::of::<LocalGet>(),
    ToolDef::of::<LocalSet>(),
    ToolDef::of::<LocalDelete>(),
    ToolDef::of::<LocalClear>(),
    ToolDef::of::<SessionList>(),
    ToolDef::of::<SessionGet>(),
    ToolDef::of::<SessionSet>(),
    ToolDef::of::<SessionDelete>(),
    ToolDef::of::<SessionClear>(),
];

/// List localStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalList {}

impl Tool for LocalList {
    const NAME: &'static str = "browser_localstorage_list";
    const TITLE: &'static str = "List localStorage";
    const EFFECT: Effect = Effect::Reads;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Show an item of localStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalGet {
    /// Its key.
    key: String,
}

impl Tool for LocalGet {
    const NAME: &'static str = "browser_localstorage_get";
    const TITLE: &'static str = "Get localStorage item";
    const EFFECT: Effect = Effect::Reads;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Set an item of localStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalSet {
    /// Its key.
    key: String,
    /// Its value.
    value: String,
}

impl Tool for LocalSet {
    const NAME: &'static str = "browser_localstorage_set";
    const TITLE: &'static str = "Set localStorage item";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Delete an item of localStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalDelete {
    /// Its key.
    key: String,
}

impl Tool for LocalDelete {
    const NAME: &'static str = "browser_localstorage_delete";
    const TITLE: &'static str = "Delete localStorage item";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Delete all of localStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalClear {}

impl Tool for LocalClear {
    const NAME: &'static str = "browser_localstorage_clear";
    const TITLE: &'static str = "Clear localStorage";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// List sessionStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionList {}

impl Tool for SessionList {
    const NAME: &'static str = "browser_sessionstorage_list";
    const TITLE: &'static str = "List sessionStorage";
    const EFFECT: Effect = Effect::Reads;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Show an item of sessionStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionGet {
    /// Its key.
    key: String,
}

impl Tool for SessionGet {
    const NAME: &'static str = "browser_sessionstorage_get";
    const TITLE: &'static str = "Get sessionStorage item";
    const EFFECT: Effect = Effect::Reads;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Set an item of sessionStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionSet {
    /// Its key.
    key: String,
    /// Its value.
    value: String,
}

impl Tool for SessionSet {
    const NAME: &'static str = "browser_sessionstorage_set";
    const TITLE: &'static str = "Set sessionStorage item";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Delete an item of sessionStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionDelete {
    /// Its key.
    key: String,
}

impl Tool for SessionDelete {
    const NAME: &'static str = "browser_sessionstorage_delete";
    const TITLE: &'static str = "Delete sessionStorage item";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}

/// Delete all of sessionStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionClear {}

impl Tool for SessionClear {
    const NAME: &'static str = "browser_sessionstorage_clear";
    const TITLE: &'static str = "Clear sessionStorage";
    const EFFECT: Effect = Effect::Acts;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
