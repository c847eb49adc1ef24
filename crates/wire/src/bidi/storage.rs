//! The `storage` module: cookies.

use serde::{Deserialize, Serialize};

use super::browser::UserContext;
use super::network::{BytesValue, SameSite};
use super::{Empty, command};

/// The partition of cookies.
/// [`storage.StorageKeyPartitionDescriptor`](https://w3c.github.io/webdriver-bidi/#type-storage-PartitionDescriptor)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Partition {
    /// `storageKey`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub user_context: UserContext,
}

/// [`storage.getCookies`](https://w3c.github.io/webdriver-bidi/#command-storage-getCookies)
#[derive(Debug, Clone, Serialize)]
pub struct GetCookies {
    pub partition: Partition,
}
command!(GetCookies, "storage.getCookies", GetCookiesResult);

/// The result of [`GetCookies`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct GetCookiesResult {
    pub cookies: Vec<super::network::Cookie>,
}

/// [`storage.setCookie`](https://w3c.github.io/webdriver-bidi/#command-storage-setCookie)
#[derive(Debug, Clone, Serialize)]
pub struct SetCookie {
    pub cookie: PartialCookie,
    pub partition: Partition,
}
command!(SetCookie, "storage.setCookie", Empty);

/// [`storage.PartialCookie`](https://w3c.github.io/webdriver-bidi/#command-storage-setCookie)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartialCookie {
    pub name: String,
    pub value: BytesValue,
    pub domain: String,
    pub path: String,
    pub http_only: bool,
    pub secure: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_site: Option<SameSite>,
    /// The expiry, in Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<u64>,
}

/// [`storage.deleteCookies`](https://w3c.github.io/webdriver-bidi/#command-storage-deleteCookies)
#[derive(Debug, Clone, Serialize)]
pub struct DeleteCookies {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<CookieFilter>,
    pub partition: Partition,
}
command!(DeleteCookies, "storage.deleteCookies", Empty);

/// [`storage.CookieFilter`](https://w3c.github.io/webdriver-bidi/#type-storage-CookieFilter)
#[derive(Debug, Clone, Default, Serialize)]
pub struct CookieFilter {
    pub name: String,
    pub domain: String,
    pub path: String,
}
