//! The cookies of the browser context.

use crate::call::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<CookieList>(),
    ToolDef::of::<CookieGet>(),
    ToolDef::of::<CookieSet>(),
    ToolDef::of::<CookieDelete>(),
    ToolDef::of::<CookieClear>(),
];

/// List cookies.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CookieList {
    /// Only those of this domain.
    domain: Option<String>,
    /// Only those of this path.
    path: Option<String>,
}

impl Tool for CookieList {
    const NAME: &'static str = "browser_cookie_list";
    const TITLE: &'static str = "List cookies";
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

/// Show a cookie.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CookieGet {
    /// Its name.
    name: String,
}

impl Tool for CookieGet {
    const NAME: &'static str = "browser_cookie_get";
    const TITLE: &'static str = "Get cookie";
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

/// Set a cookie.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CookieSet {
    /// Its name.
    name: String,
    /// Its value.
    value: String,
    /// Its domain; the page's by default.
    domain: Option<String>,
    /// Its path; / by default.
    path: Option<String>,
    /// When it expires, in Unix seconds.
    expires: Option<f64>,
    /// Hidden from scripts.
    http_only: Option<bool>,
    /// Over HTTPS only.
    secure: Option<bool>,
    /// Cross-site rule.
    same_site: Option<SameSite>,
}

/// The `SameSite` attribute.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
enum SameSite {
    Strict,
    Lax,
    None,
}

impl Tool for CookieSet {
    const NAME: &'static str = "browser_cookie_set";
    const TITLE: &'static str = "Set cookie";
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

/// Delete a cookie.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CookieDelete {
    /// Its name.
    name: String,
}

impl Tool for CookieDelete {
    const NAME: &'static str = "browser_cookie_delete";
    const TITLE: &'static str = "Delete cookie";
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

/// Delete all cookies.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CookieClear {}

impl Tool for CookieClear {
    const NAME: &'static str = "browser_cookie_clear";
    const TITLE: &'static str = "Clear cookies";
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
