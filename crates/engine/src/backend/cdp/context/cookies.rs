//! The cookies of a context.

use super::CdpContext;
use crate::backend::{Cookie, Cookies, SameSite};
use crate::error::Result;
use async_trait::async_trait;
use wire::cdp::{network, storage};

#[async_trait]
impl Cookies for CdpContext {
    async fn cookies(&self) -> Result<Vec<Cookie>> {
        let cookies = self
            .host
            .root
            .call(&storage::GetCookies {
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(cookies.cookies.into_iter().map(from_protocol).collect())
    }

    async fn set_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        self.host
            .root
            .call(&storage::SetCookies {
                cookies: cookies.iter().map(param).collect(),
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(())
    }

    async fn delete_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        let all = self
            .host
            .root
            .call(&storage::GetCookies {
                browser_context_id: self.id.clone(),
            })
            .await?;
        let expired = all.cookies.into_iter().filter_map(|cookie| {
            let partition_key = cookie.partition_key.clone();
            let cookie = from_protocol(cookie);
            cookies.contains(&cookie).then(|| network::CookieParam {
                // The browser deletes a cookie that is set with a time in the past.
                expires: Some(1.0),
                partition_key,
                ..param(&cookie)
            })
        });
        self.host
            .root
            .call(&storage::SetCookies {
                cookies: expired.collect(),
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(())
    }

    async fn clear_cookies(&self) -> Result<()> {
        self.host
            .root
            .call(&storage::ClearCookies {
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(())
    }
}

fn from_protocol(cookie: network::Cookie) -> Cookie {
    Cookie {
        name: cookie.name,
        value: cookie.value,
        domain: cookie.domain,
        path: cookie.path,
        expires: if cookie.session { -1.0 } else { cookie.expires },
        http_only: cookie.http_only,
        secure: cookie.secure,
        same_site: match cookie.same_site {
            Some(network::CookieSameSite::Strict) => Some(SameSite::Strict),
            Some(network::CookieSameSite::Lax) => Some(SameSite::Lax),
            Some(network::CookieSameSite::None) => Some(SameSite::None),
            // Chromium treats a cookie without the attribute as Lax.
            Some(network::CookieSameSite::Unknown) | None => Some(SameSite::Lax),
        },
    }
}

fn param(cookie: &Cookie) -> network::CookieParam {
    network::CookieParam {
        name: cookie.name.clone(),
        value: cookie.value.clone(),
        domain: Some(cookie.domain.clone()),
        path: Some(cookie.path.clone()),
        secure: Some(cookie.secure),
        http_only: Some(cookie.http_only),
        same_site: cookie.same_site.map(|rule| match rule {
            SameSite::Strict => network::CookieSameSite::Strict,
            SameSite::Lax => network::CookieSameSite::Lax,
            SameSite::None => network::CookieSameSite::None,
        }),
        expires: (cookie.expires >= 0.0).then_some(cookie.expires),
        ..Default::default()
    }
}
