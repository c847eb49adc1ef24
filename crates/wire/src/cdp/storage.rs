//! The `Storage` domain: cookies and other data of a browser context.

use serde::{Deserialize, Serialize};

use super::{Empty, browser, command, network};

/// [`Storage.getCookies`](https://chromedevtools.github.io/devtools-protocol/tot/Storage/#method-getCookies)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetCookies {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<browser::BrowserContextId>,
}
command!(GetCookies, "Storage.getCookies", GetCookiesResponse);

/// The result of [`GetCookies`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetCookiesResponse {
    pub cookies: Vec<network::Cookie>,
}

/// [`Storage.setCookies`](https://chromedevtools.github.io/devtools-protocol/tot/Storage/#method-setCookies)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetCookies {
    pub cookies: Vec<network::CookieParam>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<browser::BrowserContextId>,
}
command!(SetCookies, "Storage.setCookies", Empty);

/// [`Storage.clearCookies`](https://chromedevtools.github.io/devtools-protocol/tot/Storage/#method-clearCookies)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClearCookies {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<browser::BrowserContextId>,
}
command!(ClearCookies, "Storage.clearCookies", Empty);
