//! The cookies of the browser context.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript::string as quote;
use engine::{Cookie, SameSite};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

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
    /// Only those of this domain.
    domain: Option<String>,
    /// Only those of this path.
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
            .filter(|cookie| is_match(&self.domain, &cookie.domain))
            .filter(|cookie| is_match(&self.path, &cookie.path))
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
        Ok(Reply::page(text).and_code("await page.context().cookies();"))
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
        Ok(Reply::page(text).and_code("await page.context().cookies();"))
    }
}

/// Set a cookie.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CookieSet {
    /// Its name.
    name: String,
    /// Its value.
    value: String,
    /// Its domain; the page's by default.
    domain: Option<String>,
    /// Its path; / by default.
    path: Option<String>,
    /// When it expires, in Unix seconds.
    expires: Option<f64>,
    /// Hidden from scripts.
    http_only: Option<bool>,
    /// Over HTTPS only.
    secure: Option<bool>,
    /// Cross-site rule.
    same_site: Option<SameSite>,
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
        let host = Url::parse(&tab.page.url())
            .ok()
            .and_then(|url| url.host_str().map(str::to_owned));
        let domain = self.domain.or(host).ok_or(Error::Arguments {
            reason: "The page has no domain: give the cookie one".into(),
            parameters: &[],
            missing: &["domain"],
            bare: false,
        })?;
        let path = self.path.unwrap_or_else(|| "/".to_owned());
        let mut shown = json!({
            "name": self.name,
            "value": self.value,
            "domain": domain,
            "path": path,
        });
        for (name, value) in [
            ("expires", self.expires.map(json_number)),
            ("httpOnly", self.http_only.map(Value::from)),
            ("secure", self.secure.map(Value::from)),
            ("sameSite", self.same_site.map(|rule| json!(rule))),
        ] {
            if let Some(value) = value {
                shown[name] = value;
            }
        }
        let cookie = Cookie {
            name: self.name,
            value: self.value,
            domain,
            path,
            expires: self.expires.unwrap_or(-1.0),
            http_only: self.http_only.unwrap_or(false),
            secure: self.secure.unwrap_or(false),
            same_site: self.same_site,
        };
        tab.context()?
            .set_cookies(&call.action(), &[cookie])
            .await?;
        Ok(Reply::code(format!(
            "await page.context().addCookies([{shown}]);"
        )))
    }
}

/// Delete a cookie.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CookieDelete {
    /// Its name.
    name: String,
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
        let name = &self.name;
        let progress = call.action();
        tab.context()?
            .remove_cookies(&progress, |cookie| cookie.name == *name)
            .await?;
        Ok(Reply::code(format!(
            "await page.context().clearCookies({{ name: {} }});",
            quote(name)
        )))
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
        Ok(Reply::code("await page.context().clearCookies();"))
    }
}

/// Returns whether a value contains the text of a filter. Every value matches if there is no filter.
fn is_match(filter: &Option<String>, value: &str) -> bool {
    filter
        .as_ref()
        .is_none_or(|filter| value.contains(filter.as_str()))
}

/// Returns a JSON number, without a fraction if it is a whole number.
fn json_number(number: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "only for whole numbers that fit"
    )]
    if number.fract() == 0.0 && number.abs() < 9e15 {
        (number as i64).into()
    } else {
        number.into()
    }
}
