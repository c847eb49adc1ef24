//! The `browser` module: the browser itself and its user contexts.

use serde::{Deserialize, Serialize};

use super::session::UserPromptHandler;
use super::{Empty, command};

/// The id of a user context. <https://w3c.github.io/webdriver-bidi/#type-browser-UserContext>
pub type UserContext = String;
/// The id of a window. <https://w3c.github.io/webdriver-bidi/#type-browser-ClientWindow>
pub type ClientWindow = String;

/// The default user context.
pub const DEFAULT: &str = "default";

/// [`browser.close`](https://w3c.github.io/webdriver-bidi/#command-browser-close)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Close {}
command!(Close, "browser.close", Empty);

/// [`browser.createUserContext`](https://w3c.github.io/webdriver-bidi/#command-browser-createUserContext)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateUserContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept_insecure_certs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unhandled_prompt_behavior: Option<UserPromptHandler>,
}
command!(
    CreateUserContext,
    "browser.createUserContext",
    CreateUserContextResult
);

/// The result of [`CreateUserContext`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CreateUserContextResult {
    pub user_context: UserContext,
}

/// [`session.ManualProxyConfiguration`](https://w3c.github.io/webdriver-bidi/#type-session-ProxyConfiguration)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proxy {
    proxy_type: &'static str,
    http_proxy: String,
    ssl_proxy: String,
}

impl Proxy {
    /// Returns the configuration of an HTTP proxy at `host:port`, for all hosts and schemes.
    pub fn http(address: &str) -> Self {
        Self {
            proxy_type: "manual",
            http_proxy: address.to_owned(),
            ssl_proxy: address.to_owned(),
        }
    }
}

/// [`browser.removeUserContext`](https://w3c.github.io/webdriver-bidi/#command-browser-removeUserContext)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoveUserContext {
    pub user_context: UserContext,
}
command!(RemoveUserContext, "browser.removeUserContext", Empty);

/// [`browser.setDownloadBehavior`](https://w3c.github.io/webdriver-bidi/#command-browser-setDownloadBehavior)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetDownloadBehavior {
    pub download_behavior: DownloadBehavior,
    pub user_contexts: Vec<UserContext>,
}
command!(SetDownloadBehavior, "browser.setDownloadBehavior", Empty);

/// [`browser.DownloadBehavior`](https://w3c.github.io/webdriver-bidi/#type-browser-DownloadBehavior)
#[derive(Debug, Clone, Serialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum DownloadBehavior {
    Allowed { destination_folder: String },
    Denied,
}
