//! The cookies of a user context.

use super::BidiContext;
use crate::backend::{Cookie, Cookies, SameSite};
use crate::error::Result;
use async_trait::async_trait;
use futures_util::future::try_join_all;
use wire::bidi::{network, storage};

impl BidiContext {
    fn partition(&self) -> storage::Partition {
        storage::Partition {
            kind: "storageKey",
            user_context: self.parts.id.clone(),
        }
    }
}

#[async_trait]
impl Cookies for BidiContext {
    async fn cookies(&self) -> Result<Vec<Cookie>> {
        let partition = self.partition();
        let all = self
            .parts
            .root
            .call(&storage::GetCookies { partition })
            .await?;
        let mut cookies: Vec<_> = all.cookies.into_iter().map(from_protocol).collect();
        // Firefox returns cookies in no particular order.
        cookies.sort_by(|one, other| one.domain.cmp(&other.domain));
        Ok(cookies)
    }

    async fn set_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        let put = cookies.iter().map(|cookie| {
            self.parts.root.send(&storage::SetCookie {
                cookie: param(cookie),
                partition: self.partition(),
            })
        });
        try_join_all(put.collect::<Vec<_>>()).await?;
        Ok(())
    }

    async fn delete_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        let dropped = cookies.iter().map(|cookie| {
            self.parts.root.send(&storage::DeleteCookies {
                filter: Some(storage::CookieFilter {
                    name: cookie.name.clone(),
                    domain: cookie.domain.clone(),
                    path: cookie.path.clone(),
                }),
                partition: self.partition(),
            })
        });
        try_join_all(dropped.collect::<Vec<_>>()).await?;
        Ok(())
    }

    async fn clear_cookies(&self) -> Result<()> {
        self.parts
            .root
            .call(&storage::DeleteCookies {
                filter: None,
                partition: self.partition(),
            })
            .await?;
        Ok(())
    }
}

fn from_protocol(cookie: network::Cookie) -> Cookie {
    Cookie {
        name: cookie.name,
        value: cookie.value.into_text(),
        domain: cookie.domain,
        path: cookie.path,
        expires: cookie.expiry.unwrap_or(-1.0),
        http_only: cookie.http_only,
        secure: cookie.secure,
        same_site: Some(match cookie.same_site {
            network::SameSite::Strict => SameSite::Strict,
            network::SameSite::None => SameSite::None,
            // A cookie without the attribute is treated as Lax.
            network::SameSite::Lax | network::SameSite::Default => SameSite::Lax,
        }),
    }
}

fn param(cookie: &Cookie) -> storage::PartialCookie {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole seconds, not before 1970"
    )]
    let expiry = (cookie.expires >= 0.0).then_some(cookie.expires as u64);
    storage::PartialCookie {
        name: cookie.name.clone(),
        value: network::BytesValue::String(cookie.value.clone()),
        domain: cookie.domain.clone(),
        path: cookie.path.clone(),
        http_only: cookie.http_only,
        secure: cookie.secure,
        same_site: cookie.same_site.map(|rule| match rule {
            SameSite::Strict => network::SameSite::Strict,
            SameSite::Lax => network::SameSite::Lax,
            SameSite::None => network::SameSite::None,
        }),
        expiry,
    }
}
