//! The `Storage` domain: cookies and other data of a browser context.

use serde::{Deserialize, Serialize};

use super::{Empty, browser, command, network, page};

/// [`Storage.getCookies`](https://chromedevtools.github.io/devtools-protocol/tot/Storage/#method-getCookies)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetCookies {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_context_id: Option<browser::BrowserContextId>,
}
command!(GetCookies, "Storage.getCookies", GetCookiesResponse);

/// The answer to [`GetCookies`].
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

/// [`Storage.clearDataForOrigin`](https://chromedevtools.github.io/devtools-protocol/tot/Storage/#method-clearDataForOrigin)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClearDataForOrigin {
    pub origin: String,
    pub storage_types: String,
}
command!(ClearDataForOrigin, "Storage.clearDataForOrigin", Empty);

/// [`Storage.clearDataForStorageKey`](https://chromedevtools.github.io/devtools-protocol/tot/Storage/#method-clearDataForStorageKey)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClearDataForStorageKey {
    pub storage_key: String,
    pub storage_types: String,
}
command!(
    ClearDataForStorageKey,
    "Storage.clearDataForStorageKey",
    Empty
);

/// [`Storage.getStorageKey`](https://chromedevtools.github.io/devtools-protocol/tot/Storage/#method-getStorageKey)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetStorageKey {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<page::FrameId>,
}
command!(
    GetStorageKey,
    "Storage.getStorageKey",
    GetStorageKeyResponse
);

/// The answer to [`GetStorageKey`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetStorageKeyResponse {
    pub storage_key: SerializedStorageKey,
}

/// [`Storage.SerializedStorageKey`](https://chromedevtools.github.io/devtools-protocol/tot/Storage/#type-SerializedStorageKey)
pub type SerializedStorageKey = String;
