//! Cookies of the current document. <https://www.w3.org/TR/webdriver2/#cookies>

use serde::{Deserialize, Serialize};

use super::{Done, command};

/// A cookie. <https://www.w3.org/TR/webdriver2/#dfn-table-for-cookie-conversion>
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cookie {
    pub name: String,
    pub value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    pub secure: bool,
    pub http_only: bool,
    /// Unix seconds; `None` for a session cookie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<i64>,
    /// `Strict`, `Lax` or `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_site: Option<String>,
}

/// Returns the cookies that the document would send. <https://www.w3.org/TR/webdriver2/#get-all-cookies>
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetAllCookies {}
command!(GetAllCookies, "Get All Cookies", Get "cookie", Vec<Cookie>);

/// <https://www.w3.org/TR/webdriver2/#add-cookie>
#[derive(Debug, Clone, Serialize)]
pub struct AddCookie {
    pub cookie: Cookie,
}
command!(AddCookie, "Add Cookie", Post "cookie", Done);

/// <https://www.w3.org/TR/webdriver2/#delete-cookie>
#[derive(Debug, Clone, Serialize)]
pub struct DeleteCookie {
    #[serde(skip)]
    pub name: String,
}
command!(DeleteCookie, "Delete Cookie", Delete "cookie"/name/"", Done);
