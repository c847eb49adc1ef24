//! Cookies of a session.

use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::{Error, Problem, Result};
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use crate::tools::verbs::cookies::NewCookie;
use engine::SameSite;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<GetCookies>(), ToolDef::of::<SetCookies>()];

/// List cookies.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetCookies {
    /// Only those that would be sent to these URLs.
    urls: Option<Vec<String>>,
}

/// The cookies.
#[derive(Serialize, JsonSchema)]
pub(super) struct Cookies {
    cookies: Vec<Cookie>,
}

/// A cookie.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Cookie {
    name: String,
    value: String,
    domain: String,
    path: String,
    /// When the cookie expires, in Unix seconds; -1 for the end of the browser session.
    expires: i64,
    http_only: bool,
    secure: bool,
    same_site: SameSite,
}

impl From<engine::Cookie> for Cookie {
    fn from(cookie: engine::Cookie) -> Self {
        Self {
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            path: cookie.path,
            expires: whole_seconds(cookie.expires),
            http_only: cookie.http_only,
            secure: cookie.secure,
            // The default of browsers.
            same_site: cookie.same_site.unwrap_or(SameSite::Lax),
        }
    }
}

fn whole_seconds(seconds: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a cookie that lives longer than that lives for ever"
    )]
    let seconds = seconds.floor() as i64;
    seconds
}

impl Tool for GetCookies {
    const NAME: &'static str = "get_cookies";
    const TITLE: &'static str = "Get cookies";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const WAITS: bool = false;
    type Scope = TabInAnyState;
    type Output = Object<Cookies>;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Object<Cookies>> {
        let urls = match &self.urls {
            Some(urls) => Some(
                urls.iter()
                    .map(|url| absolute(url))
                    .collect::<Result<Vec<_>>>()?,
            ),
            None => None,
        };
        let cookies = tab.context()?.cookies(&call.action()).await?;
        let matches = |cookie: &engine::Cookie| {
            let urls = urls.as_ref();
            urls.is_none_or(|urls| urls.iter().any(|url| is_sent(cookie, url)))
        };
        let cookies = cookies.into_iter().filter(matches).map(Into::into);
        Ok(Cookies {
            cookies: cookies.collect(),
        }
        .into())
    }
}

/// Set cookies.
#[derive(Deserialize, JsonSchema)]
pub(super) struct SetCookies {
    /// Without url and domain: of the page.
    cookies: Vec<CookieOfUrl>,
}

/// A cookie to set.
#[derive(Deserialize, JsonSchema)]
struct CookieOfUrl {
    #[serde(flatten)]
    cookie: NewCookie,
    /// Gives domain, path and secure.
    url: Option<String>,
}

/// The number of cookies that were set.
#[derive(Serialize, JsonSchema)]
pub(super) struct Count {
    count: usize,
}

impl Tool for SetCookies {
    const NAME: &'static str = "set_cookies";
    const TITLE: &'static str = "Set cookies";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const WAITS: bool = false;
    type Scope = TabInAnyState;
    type Output = Object<Count>;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Object<Count>> {
        let page_url = tab.page.url();
        let mut cookies = Vec::with_capacity(self.cookies.len());
        for (index, CookieOfUrl { url, cookie }) in self.cookies.into_iter().enumerate() {
            let url = url.as_deref().map(absolute).transpose()?;
            let cookie = cookie.complete(url.as_ref(), &page_url);
            cookies.push(cookie.map_err(|invalid| Error::InvalidArguments {
                tool: call.tool.name,
                problems: vec![Problem {
                    parameter: format!("cookies[{index}].{}", invalid.parameter()),
                    message: invalid.to_string(),
                    missing: false,
                }],
            })?);
        }
        let context = tab.context()?;
        context.set_cookies(&call.action(), &cookies).await?;
        Ok(Count {
            count: cookies.len(),
        }
        .into())
    }
}

fn absolute(url: &str) -> Result<Url> {
    Url::parse(url).map_err(|_| {
        engine::Error::InvalidUrl {
            url: url.to_owned(),
        }
        .into()
    })
}

/// Returns whether a request for the URL would have the cookie.
fn is_sent(cookie: &engine::Cookie, url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let of_host = match cookie.domain.strip_prefix('.') {
        Some(domain) => {
            host == domain
                || host
                    .strip_suffix(domain)
                    .is_some_and(|rest| rest.ends_with('.'))
        }
        None => host == cookie.domain,
    };
    let path = cookie.path.as_str();
    let below = url.path().strip_prefix(path);
    let of_path =
        below.is_some_and(|rest| rest.is_empty() || path.ends_with('/') || rest.starts_with('/'));
    let local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    of_host && of_path && (!cookie.secure || url.scheme() == "https" || local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_sent_to_its_domain_and_path() {
        let cookie = |domain: &str, path: &str, secure| engine::Cookie {
            name: "a".into(),
            value: "b".into(),
            domain: domain.into(),
            path: path.into(),
            expires: -1.0,
            http_only: false,
            secure,
            same_site: None,
        };
        let sent = |cookie: &engine::Cookie, url: &str| is_sent(cookie, &url.parse().unwrap());
        let wide = cookie(".example.com", "/", false);
        assert!(sent(&wide, "http://example.com/x") && sent(&wide, "https://a.example.com/"));
        assert!(!sent(&wide, "http://badexample.com/"));
        let narrow = cookie("example.com", "/docs", true);
        assert!(sent(&narrow, "https://example.com/docs/a"));
        for url in [
            "https://a.example.com/docs",
            "https://example.com/docsx",
            "http://example.com/docs",
        ] {
            assert!(!sent(&narrow, url), "{url}");
        }
    }
}
