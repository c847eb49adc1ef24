//! The cookies of a context: of every address that its pages have asked, as a browser tells only those of a document.

use super::WebDriverContext;
use super::utility_page::UtilityPage;
use crate::backend::webdriver::driver::page_error;
use crate::backend::{Cookie, Cookies, SameSite};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use url::Url;
use wire::webdriver::cookie::{AddCookie, DeleteCookie, GetAllCookies};
use wire::webdriver::{cookie, error};

#[async_trait]
impl Cookies for WebDriverContext {
    async fn cookies(&self) -> Result<Vec<Cookie>> {
        let mut all: Vec<Cookie> = Vec::new();
        let mut known = |found: Vec<cookie::Cookie>| {
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
        // What a page shows needs no visit.
        for page in self.pages.open() {
            let shown = Url::parse(&page.url()).and_then(|url| url.join("."));
            if let Ok(shown) = shown
                && shown.scheme().starts_with("http")
                && let Ok(found) = page.send_to_main(&GetAllCookies {}).await
            {
                known(found);
                sites.retain(|site| !has_the_cookies_of(&shown, site));
            }
        }
        if !sites.is_empty() {
            let visitor = UtilityPage::open(self.itself()?).await?;
            for site in sites {
                visitor.go_to(site.as_str()).await?;
                let origin = site.origin().ascii_serialization();
                visitor.run_at(&origin, "''").await?;
                let found = self
                    .parts
                    .driver
                    .at(visitor.frame_target(), &GetAllCookies {})
                    .await;
                known(found.map_err(page_error)?);
            }
        }
        all.sort_by(|one, other| one.domain.cmp(&other.domain));
        Ok(all)
    }

    async fn set_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        for cookie in cookies {
            // The folder that it is for, as if a document of it had been asked for.
            self.parts
                .record_url(&format!("{}/", address(cookie).trim_end_matches('/')));
            if let Some(inspector) = &self.parts.inspector {
                let target = self.any_inspector_target().await?;
                let asked = json!({ "cookie": param(cookie), "shouldPartition": false });
                let _: Value = inspector.call(&target, "Page.setCookie", &asked).await?;
            } else {
                self.at(
                    cookie,
                    &AddCookie {
                        cookie: classic(cookie),
                    },
                )
                .await?;
            }
        }
        Ok(())
    }

    async fn delete_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        for cookie in cookies {
            if let Some(inspector) = &self.parts.inspector {
                let target = self.any_inspector_target().await?;
                let asked = json!({ "cookieName": cookie.name, "url": address(cookie) });
                let _: Value = inspector.call(&target, "Page.deleteCookie", &asked).await?;
            } else {
                self.at(
                    cookie,
                    &DeleteCookie {
                        name: cookie.name.clone(),
                    },
                )
                .await?;
            }
        }
        Ok(())
    }

    async fn clear_cookies(&self) -> Result<()> {
        let all = self.cookies().await?;
        self.delete_cookies(&all).await
    }
}

impl WebDriverContext {
    /// The documents whose cookies are all there are: one for each site and folder that was asked.
    fn sites(&self) -> Vec<Url> {
        let mut sites: Vec<Url> = Vec::new();
        for address in self.parts.recorded_urls() {
            let Ok(url) = Url::parse(&address) else {
                continue;
            };
            let Ok(site) = url.join(".") else { continue };
            if !sites.iter().any(|known| has_the_cookies_of(known, &site)) {
                sites.push(site);
            }
        }
        sites
    }

    /// Sends a command to a document that a cookie belongs to.
    async fn at<C: wire::webdriver::WebDriverCommand>(
        &self,
        cookie: &Cookie,
        command: &C,
    ) -> Result<()> {
        let visitor = UtilityPage::open(self.itself()?).await?;
        visitor.go_to(&address(cookie)).await?;
        match self.parts.driver.at(visitor.frame_target(), command).await {
            Err(wire::Error::Refused {
                error: name,
                message,
                ..
            }) if name != error::NO_SUCH_WINDOW => Err(Error::protocol(C::NAME, message)),
            done => done.map(drop).map_err(page_error),
        }
    }
}

/// Whether documents of both have the same cookies: those know no ports. A visit may take a second where there is much else to do.
fn has_the_cookies_of(one: &Url, other: &Url) -> bool {
    let of = |url: &Url| (url.scheme() == "https", url.path().to_owned());
    one.host() == other.host() && of(one) == of(other)
}

/// A document that a cookie would be sent for.
fn address(cookie: &Cookie) -> String {
    let scheme = if cookie.secure { "https" } else { "http" };
    let host = cookie.domain.trim_start_matches('.');
    format!("{scheme}://{host}{}", cookie.path)
}

fn from_driver(cookie: cookie::Cookie) -> Cookie {
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970")]
    let expires = cookie.expiry.map_or(-1.0, |expiry| moment(expiry) as f64);
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

fn param(cookie: &Cookie) -> Value {
    let session = cookie.expires < 0.0;
    json!({
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "expires": if session { 0.0 } else { cookie.expires * 1000.0 },
        "session": session,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
        "sameSite": cookie.same_site.unwrap_or(SameSite::Lax).to_string(),
    })
}

fn classic(cookie: &Cookie) -> cookie::Cookie {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole seconds, not before 1970"
    )]
    let expiry = (cookie.expires >= 0.0).then_some(cookie.expires as i64);
    cookie::Cookie {
        name: cookie.name.clone(),
        value: cookie.value.clone(),
        path: Some(cookie.path.clone()),
        domain: Some(cookie.domain.clone()),
        secure: cookie.secure,
        http_only: cookie.http_only,
        expiry,
        same_site: cookie.same_site.map(|rule| rule.to_string()),
    }
}

/// WebKit's driver counts seconds in 32 bits: from 2038 on they come back negative.
fn moment(expiry: i64) -> i64 {
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
