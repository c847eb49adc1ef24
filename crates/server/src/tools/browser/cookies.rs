//! The cookies of the browser context.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Effect, Tool, ToolDef};
use crate::tools::verbs::cookies::{InvalidCookie, NewCookie};
use engine::codegen::javascript::string as quote;
use engine::codegen::{Receiver, Statement};
use engine::{Cookie, SameSite};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<CookieList>(),
    ToolDef::of::<CookieGet>(),
    ToolDef::of::<CookieSet>(),
    ToolDef::of::<CookieDelete>(),
    ToolDef::of::<CookieClear>(),
];

/// List cookies.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CookieList {
    /// Only those of this domain and the domains below it.
    domain: Option<String>,
    /// Only those of this path and the paths below it.
    path: Option<String>,
}

impl Tool for CookieList {
    const NAME: &'static str = "browser_cookie_list";
    const TITLE: &'static str = "List cookies";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let cookies = tab.context()?.cookies(&call.action()).await?;
        let lines: Vec<_> = cookies
            .iter()
            .filter(|cookie| is_of_domain(cookie, self.domain.as_deref()))
            .filter(|cookie| is_of_path(cookie, self.path.as_deref()))
            .map(|cookie| {
                format!(
                    "{}={} (domain: {}, path: {})",
                    cookie.name, cookie.value, cookie.domain, cookie.path
                )
            })
            .collect();
        let text = if lines.is_empty() {
            "No cookies found".to_owned()
        } else {
            lines.join("\n")
        };
        let statement = Statement::new(Receiver::Context, "cookies");
        let code = "await page.context().cookies();";
        Ok(Reply::page(text).and_statements(call.language(), code, [statement]))
    }
}

/// Show a cookie.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CookieGet {
    /// Its name.
    name: String,
}

impl Tool for CookieGet {
    const NAME: &'static str = "browser_cookie_get";
    const TITLE: &'static str = "Get cookie";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let cookies = tab.context()?.cookies(&call.action()).await?;
        let text = match cookies.iter().find(|cookie| cookie.name == self.name) {
            Some(cookie) => format!(
                "{}={} (domain: {}, path: {}, httpOnly: {}, secure: {}, sameSite: {})",
                cookie.name,
                cookie.value,
                cookie.domain,
                cookie.path,
                cookie.http_only,
                cookie.secure,
                cookie.same_site.unwrap_or(SameSite::Lax),
            ),
            None => format!("Cookie '{}' not found", self.name),
        };
        let statement = Statement::new(Receiver::Context, "cookies");
        let code = "await page.context().cookies();";
        Ok(Reply::page(text).and_statements(call.language(), code, [statement]))
    }
}

/// Set a cookie.
#[derive(Deserialize, JsonSchema)]
pub(super) struct CookieSet {
    #[serde(flatten)]
    cookie: NewCookie,
}

impl Tool for CookieSet {
    const NAME: &'static str = "browser_cookie_set";
    const TITLE: &'static str = "Set cookie";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let cookie = self.cookie.clone().complete(None, &tab.page.url());
        let cookie = cookie.map_err(|invalid| Error::Arguments {
            reason: invalid.to_string().into(),
            parameters: &[],
            missing: match invalid {
                InvalidCookie::NoDomain => &["domain"],
                InvalidCookie::InvalidDomain | InvalidCookie::EmptyName => &[],
            },
            bare: false,
        })?;
        let shown = self.cookie.to_playwright(&cookie);
        let argument = self.cookie.argument(&cookie);
        tab.context()?
            .set_cookies(&call.action(), &[cookie])
            .await?;
        let code = format!("await page.context().addCookies([{shown}]);");
        let statement = Statement::new(Receiver::Context, "addCookies").argument(argument);
        Ok(Reply::statements(call.language(), code, [statement]))
    }
}

/// Delete a cookie.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CookieDelete {
    /// Its name.
    name: String,
    /// Only that of this domain.
    domain: Option<String>,
    /// Only that of this path.
    path: Option<String>,
}

impl Tool for CookieDelete {
    const NAME: &'static str = "browser_cookie_delete";
    const TITLE: &'static str = "Delete cookie";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let Self { name, domain, path } = &self;
        let is_value = |wanted: &Option<String>, value: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == value)
        };
        let gone = |cookie: &Cookie| {
            cookie.name == *name && is_value(domain, &cookie.domain) && is_value(path, &cookie.path)
        };
        tab.context()?.remove_cookies(&call.action(), gone).await?;
        let options = [
            ("name", Some(name)),
            ("domain", domain.as_ref()),
            ("path", path.as_ref()),
        ];
        let options = options
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        let mut statement = Statement::new(Receiver::Context, "clearCookies");
        let mut written = Vec::new();
        for (key, value) in options {
            statement = statement.option(key, Some(value.as_str()));
            written.push(format!("{key}: {}", quote(value)));
        }
        let code = format!(
            "await page.context().clearCookies({{ {} }});",
            written.join(", ")
        );
        Ok(Reply::statements(call.language(), code, [statement]))
    }
}

/// Delete all cookies.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CookieClear {}

impl Tool for CookieClear {
    const NAME: &'static str = "browser_cookie_clear";
    const TITLE: &'static str = "Clear cookies";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        tab.context()?
            .remove_cookies(&call.action(), |_| true)
            .await?;
        let statement = Statement::new(Receiver::Context, "clearCookies");
        let code = "await page.context().clearCookies();";
        Ok(Reply::statements(call.language(), code, [statement]))
    }
}

/// Returns whether a cookie is one of a domain or of a domain below it.
fn is_of_domain(cookie: &Cookie, domain: Option<&str>) -> bool {
    let normal = |domain: &str| domain.trim_start_matches('.').to_lowercase();
    let Some(domain) = domain.map(normal) else {
        return true;
    };
    let own = normal(&cookie.domain);
    let rest = own.strip_suffix(&domain);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Returns whether a cookie is one of a path or of a path below it.
fn is_of_path(cookie: &Cookie, path: Option<&str>) -> bool {
    let Some(path) = path else {
        return true;
    };
    let rest = cookie.path.strip_prefix(path);
    rest.is_some_and(|rest| rest.is_empty() || path.ends_with('/') || rest.starts_with('/'))
}
