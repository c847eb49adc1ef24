//! The cookies of a context. WebDriver returns only the cookies of a document, so those of every URL that the pages requested are read.

use super::WebKitContext;
use super::utility_page::UtilityPage;
use crate::backend::webkit::driver::{FrameTarget, page_error};
use crate::backend::webkit::inspector::context::needs_document;
use crate::backend::{Cookie, Cookies, SameSite};
use crate::error::{Error, Result};
use async_trait::async_trait;
use url::Url;
use wire::webdriver::cookie;
use wire::webdriver::cookie::GetAllCookies;

#[async_trait]
impl Cookies for WebKitContext {
    async fn cookies(&self) -> Result<Vec<Cookie>> {
        let mut all: Vec<Cookie> = Vec::new();
        let mut add = |found: Vec<cookie::Cookie>| {
            for cookie in found.into_iter().map(from_driver) {
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
        let mut sites = self.sites();
        // The documents of the pages need no utility page.
        for page in self.pages.open() {
            let shown = Url::parse(&page.url()).and_then(|url| url.join("."));
            if let Ok(shown) = shown
                && shown.scheme().starts_with("http")
                && let Ok(found) = page.send_to_main(&GetAllCookies {}).await
            {
                add(found);
                sites.retain(|site| !has_the_cookies_of(&shown, site));
            }
        }
        if !sites.is_empty() {
            let utility = UtilityPage::open(self.itself()?).await?;
            for site in sites {
                utility.load(&site).await?;
                let driver = &self.parts.driver;
                let found = driver.at(utility.frame_target(), &GetAllCookies {}).await;
                add(found.map_err(page_error)?);
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

    async fn delete_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        let mut windows = CookieWindows::new(self);
        for cookie in cookies {
            let window = windows.window_for(cookie).await?;
            self.delete_cookie(&window, cookie).await?;
        }
        Ok(())
    }

    async fn clear_cookies(&self) -> Result<()> {
        let all = self.cookies().await?;
        self.delete_cookies(&all).await
    }
}

impl WebKitContext {
    /// Returns documents that have all cookies between them: one for each site and folder of the recorded URLs.
    fn sites(&self) -> Vec<Url> {
        let mut sites: Vec<Url> = Vec::new();
        for url in self.parts.recorded_urls() {
            let Ok(url) = Url::parse(&url) else {
                continue;
            };
            let Ok(site) = url.join(".") else { continue };
            if !sites.iter().any(|known| has_the_cookies_of(known, &site)) {
                sites.push(site);
            }
        }
        sites
    }
}

/// Whether documents at both URLs have the same cookies, which do not depend on the port. Each document that is saved may save a second on
/// a busy machine.
fn has_the_cookies_of(one: &Url, other: &Url) -> bool {
    let of = |url: &Url| (url.scheme() == "https", url.path().to_owned());
    one.host() == other.host() && of(one) == of(other)
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
        let window = page.frame_target().window.clone();
        self.utility = Some((page, url));
        Ok(window)
    }
}

fn from_driver(cookie: cookie::Cookie) -> Cookie {
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970")]
    let expires = cookie.expiry.map_or(-1.0, |expiry| seconds(expiry) as f64);
    Cookie {
        name: cookie.name,
        value: cookie.value,
        domain: cookie.domain.unwrap_or_default(),
        path: cookie.path.unwrap_or_else(|| "/".to_owned()),
        expires,
        http_only: cookie.http_only,
        secure: cookie.secure,
        same_site: Some(match cookie.same_site.as_deref() {
            Some("Strict") => SameSite::Strict,
            Some("Lax") => SameSite::Lax,
            // A cookie without the attribute is treated as Lax elsewhere, and as None here.
            _ => SameSite::None,
        }),
    }
}

/// Corrects the expiry of WebKit's driver, whose seconds have 32 bits: from 2038 on they are negative.
fn seconds(expiry: i64) -> i64 {
    if expiry < 0 {
        expiry + (1 << 32)
    } else {
        expiry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_depend_on_host_path_and_scheme_but_not_on_port() {
        let same = |one: &str, other: &str| {
            let parsed = |url: &str| Url::parse(url).expect("a URL");
            has_the_cookies_of(&parsed(one), &parsed(other))
        };
        assert!(same("http://a.test:8080/x/", "http://a.test/x/"));
        assert!(!same("http://a.test/x/", "http://b.test/x/"));
        assert!(!same("http://a.test/x/", "http://a.test/y/"));
        assert!(!same("http://a.test/x/", "https://a.test/x/"));
    }
}
