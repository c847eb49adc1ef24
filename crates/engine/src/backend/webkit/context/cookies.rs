//! The cookies of a context. The browser returns only those of a document, so those of every URL that the pages requested are read.

use super::WebKitContext;
use super::utility_page::UtilityPage;
use crate::backend::webkit::parts::has_the_cookies_of;
use crate::backend::{Cookie, Cookies, SameSite};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use url::Url;

/// <https://github.com/WebKit/WebKit/blob/main/Source/WebKit/UIProcess/Automation/Automation.json>
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportedCookie {
    name: String,
    value: String,
    domain: String,
    path: String,
    /// Seconds since 1970.
    expires: f64,
    session: bool,
    http_only: bool,
    secure: bool,
    #[serde(default)]
    same_site: String,
}

#[derive(Debug, Deserialize)]
struct AllCookies {
    cookies: Vec<ReportedCookie>,
}

impl ReportedCookie {
    fn into_cookie(self) -> Cookie {
        Cookie {
            name: self.name,
            value: self.value,
            domain: self.domain,
            path: self.path,
            expires: if self.session {
                -1.0
            } else {
                self.expires.floor()
            },
            http_only: self.http_only,
            secure: self.secure,
            same_site: Some(match &*self.same_site {
                "Strict" => SameSite::Strict,
                "Lax" => SameSite::Lax,
                // A cookie without the attribute is treated as Lax elsewhere, and as None here.
                _ => SameSite::None,
            }),
        }
    }
}

#[async_trait]
impl Cookies for WebKitContext {
    async fn cookies(&self) -> Result<Vec<Cookie>> {
        let mut all: Vec<Cookie> = Vec::new();
        let mut add = |found: Vec<Cookie>| {
            for cookie in found {
                let same = |other: &Cookie| {
                    other.name == cookie.name
                        && other.domain == cookie.domain
                        && other.path == cookie.path
                };
                if !all.iter().any(same) {
                    all.push(cookie);
                }
            }
        };
        let mut sites = self.parts.folders();
        // The documents of the pages need no utility page.
        for page in self.pages.open() {
            let shown = Url::parse(&page.url()).and_then(|url| url.join("."));
            if let Ok(shown) = shown
                && shown.scheme().starts_with("http")
                && !page.has_dialog()
                && let Ok(found) = self.cookies_in(page.window()).await
            {
                add(found);
                sites.retain(|site| !has_the_cookies_of(&shown, site));
            }
        }
        if !sites.is_empty() {
            let utility = UtilityPage::open(self.itself()?).await?;
            for site in sites {
                utility.load(&site).await?;
                add(self.cookies_in(utility.window()).await?);
            }
        }
        all.sort_by(|one, other| one.domain.cmp(&other.domain));
        Ok(all)
    }

    async fn set_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        let mut windows = CookieWindows::new(self);
        for cookie in cookies {
            // The folder that the cookie is sent to, as if a document there had been requested.
            let folder = format!("{}/", cookie_url(cookie).trim_end_matches('/'));
            self.parts.record_url(&folder);
            let window = windows.window_for(cookie).await?;
            self.set_cookie(&window, cookie).await?;
        }
        Ok(())
    }

    /// An expired cookie replaces each: `Automation.deleteSingleCookie` deletes those of a name on all paths of a document.
    async fn delete_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        let mut windows = CookieWindows::new(self);
        for cookie in cookies {
            let window = windows.window_for(cookie).await?;
            let expired = Cookie {
                expires: 1.0,
                ..cookie.clone()
            };
            self.set_cookie(&window, &expired).await?;
        }
        Ok(())
    }

    async fn clear_cookies(&self) -> Result<()> {
        let all = self.cookies().await?;
        self.delete_cookies(&all).await
    }
}

impl WebKitContext {
    /// Returns the cookies of the document in a window.
    async fn cookies_in(&self, window: &str) -> Result<Vec<Cookie>> {
        let handle = json!({ "browsingContextHandle": window });
        let method = "Automation.getAllCookies";
        let found: AllCookies = self.parts.targets.automate(method, &handle).await?;
        let found = found.cookies.into_iter();
        Ok(found.map(ReportedCookie::into_cookie).collect())
    }

    /// Sets a cookie from a window. The browser has stored it when this returns.
    async fn set_cookie(&self, window: &str, cookie: &Cookie) -> Result<()> {
        let session = cookie.expires < 0.0;
        let domain = (!needs_document(cookie)).then_some(cookie.domain.as_str());
        let param = json!({
            "name": cookie.name,
            "value": cookie.value,
            "domain": domain.unwrap_or_default(),
            "path": cookie.path,
            "expires": if session { 0.0 } else { cookie.expires },
            "session": session,
            "httpOnly": cookie.http_only,
            "secure": cookie.secure,
            "sameSite": cookie.same_site.unwrap_or(SameSite::Lax).to_string(),
        });
        let params = json!({ "browsingContextHandle": window, "cookie": param });
        let method = "Automation.addSingleCookie";
        let targets = &self.parts.targets;
        targets.automate::<Value>(method, &params).await.map(drop)
    }
}

/// Whether a cookie is set from a document that it is sent to; otherwise from any window. The browser adds a dot to the domain that it is
/// given, unless that is an address. Without one, it takes the host of the window.
fn needs_document(cookie: &Cookie) -> bool {
    !cookie.domain.starts_with('.') && cookie.domain.parse::<Ipv4Addr>().is_err()
}

/// Returns a URL that a cookie is sent to.
fn cookie_url(cookie: &Cookie) -> String {
    let scheme = if cookie.secure { "https" } else { "http" };
    let host = cookie.domain.trim_start_matches('.');
    format!("{scheme}://{host}{}", cookie.path)
}

/// The windows from which cookies are set and deleted.
struct CookieWindows<'a> {
    context: &'a WebKitContext,
    /// The utility page and its URL.
    utility: Option<(UtilityPage, Url)>,
}

impl<'a> CookieWindows<'a> {
    fn new(context: &'a WebKitContext) -> Self {
        Self {
            context,
            utility: None,
        }
    }

    /// Returns a window whose document has a cookie, or any window if that suffices. It is open until the next call.
    async fn window_for(&mut self, cookie: &Cookie) -> Result<String> {
        if !needs_document(cookie) {
            return self.context.any_window().await;
        }
        let url = Url::parse(&cookie_url(cookie));
        let url = url.map_err(|error| Error::protocol("a cookie's domain", error))?;
        let (page, shown) = match self.utility.take() {
            Some((page, shown)) => (page, Some(shown)),
            None => (UtilityPage::open(self.context.itself()?).await?, None),
        };
        if shown.as_ref() != Some(&url) {
            page.load(&url).await?;
        }
        let window = page.window().to_owned();
        self.utility = Some((page, url));
        Ok(window)
    }
}
