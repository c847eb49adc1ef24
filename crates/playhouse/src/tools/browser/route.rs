//! Routes: mock responses and changed request headers.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Problem, Result};
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript::string as quote;
use engine::{HeaderChanges, Mock, Route, RouteAnswer, UrlPattern};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<AddRoute>(),
    ToolDef::of::<RouteList>(),
    ToolDef::of::<Unroute>(),
];

/// The longest part of a body that the list has, in UTF-16 units.
const MAX_SHOWN: usize = 50;

/// Mock network requests, or change their headers. With status or body they get a mock response.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AddRoute {
    /// Glob for the whole URL, such as **/api/users or **/*.{png,jpg}.
    pattern: String,
    /// HTTP status, 200 by default.
    status: Option<f64>,
    /// Response body.
    #[schemars(length(min = 0))]
    body: Option<String>,
    /// Response media type.
    content_type: Option<String>,
    /// Request headers to set, each as Name: Value.
    headers: Option<Vec<String>>,
    /// Request headers to remove, separated by commas.
    remove_headers: Option<String>,
}

impl Tool for AddRoute {
    const NAME: &'static str = "browser_route";
    const TITLE: &'static str = "Mock network requests";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Network);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let url = UrlPattern::glob(&self.pattern).map_err(|reason| wrong("pattern", reason))?;
        let set = match self.headers.as_deref().map(headers).transpose() {
            Ok(set) => set,
            Err(header) => {
                return Ok(Reply::error(Error::Arguments {
                    reason: format!("Invalid header \"{header}\": expected \"Name: Value\"").into(),
                    parameters: &["headers"],
                    missing: &[],
                    bare: true,
                }));
            }
        };
        let remove = self.remove_headers.as_deref().map(|names| {
            let names = names.split(',').map(|name| name.trim().to_owned());
            names.collect::<Vec<_>>()
        });
        let details = self.details(set.as_deref(), remove.as_deref());
        let answer = if self.status.is_some() || self.body.is_some() {
            let media_type = self.content_type;
            RouteAnswer::Mock(Arc::new(Mock {
                status: self.status.map_or(Ok(200), status)?,
                headers: media_type
                    .map(|value| ("content-type".to_owned(), value))
                    .into_iter()
                    .collect(),
                body: self.body.unwrap_or_default().into_bytes(),
                delay: Duration::ZERO,
            }))
        } else {
            RouteAnswer::Rewrite(Arc::new(HeaderChanges {
                set: set.unwrap_or_default(),
                remove: remove.unwrap_or_default(),
            }))
        };
        let context = tab.context()?;
        let mut routes: Vec<_> = context.routes().iter().cloned().collect();
        if routes.len() >= crate::tools::MAX_ROUTES {
            return Err(Error::Arguments {
                reason: "There are too many routes already; remove some with browser_unroute"
                    .into(),
                parameters: &["pattern"],
                missing: &[],
                bare: false,
            });
        }
        routes.push(Route {
            url: Some(url),
            resource_type: None,
            answer,
            details: Some(details),
        });
        context.set_routes(&call.action(), routes.into()).await?;
        let pattern = &self.pattern;
        Ok(
            Reply::text(format!("Route added for pattern: {pattern}")).and_code(format!(
                "await page.context().route({}, async route => {{ /* route handler */ }});",
                quote(pattern)
            )),
        )
    }
}

impl AddRoute {
    /// Returns the details of the route for the list, without its pattern.
    fn details(&self, set: Option<&[(String, String)]>, remove: Option<&[String]>) -> String {
        let mut details = Vec::new();
        if let Some(status) = self.status {
            details.push(format!("status={status}"));
        }
        if let Some(body) = &self.body {
            let units: Vec<_> = body.encode_utf16().collect();
            let body = match units.get(..MAX_SHOWN) {
                Some(start) if units.len() > MAX_SHOWN => {
                    format!("{}...", String::from_utf16_lossy(start))
                }
                _ => body.clone(),
            };
            details.push(format!("body={body}"));
        }
        if let Some(media_type) = &self.content_type {
            details.push(format!("contentType={media_type}"));
        }
        if let Some(set) = set {
            let set = set.iter().cloned();
            let set: Map<_, _> = set
                .map(|(name, value)| (name, Value::from(value)))
                .collect();
            details.push(format!("addHeaders={}", Value::from(set)));
        }
        if let Some(remove) = remove {
            details.push(format!("removeHeaders={}", remove.join(",")));
        }
        details.join(", ")
    }
}

/// Parses headers into names and values. Fails with the first header that has no name.
fn headers(lines: &[String]) -> Result<Vec<(String, String)>, &String> {
    let mut headers = Vec::<(String, String)>::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(line)?;
        if name.is_empty() {
            return Err(line);
        }
        let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
        if http::HeaderName::try_from(&name).is_err()
            || http::HeaderValue::try_from(&value).is_err()
        {
            return Err(line);
        }
        match headers.iter_mut().find(|(other, _)| *other == name) {
            Some(header) => header.1 = value,
            None => headers.push((name, value)),
        }
    }
    Ok(headers)
}

fn status(status: f64) -> Result<u16> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number in a small range"
    )]
    if status.fract() == 0.0 && (200.0..=599.0).contains(&status) {
        return Ok(status as u16);
    }
    let message = "Invalid HTTP status: expected a whole number from 200 to 599";
    Err(wrong("status", message.to_owned()))
}

fn wrong(parameter: &str, message: String) -> Error {
    Error::InvalidArguments {
        tool: AddRoute::NAME,
        problems: vec![Problem {
            parameter: parameter.to_owned(),
            message,
            missing: false,
        }],
    }
}

/// List active network routes, oldest first; the newest that matches decides.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RouteList {}

impl Tool for RouteList {
    const NAME: &'static str = "browser_route_list";
    const TITLE: &'static str = "List network routes";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Network);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, _: &Call) -> Result<Reply> {
        let routes = tab.context()?.routes();
        if routes.is_empty() {
            return Ok(Reply::text("No active routes"));
        }
        let lines = routes.iter().zip(1..).map(|(route, number)| {
            let pattern = match &route.url {
                Some(url) => url.to_string(),
                None => "**".to_owned(),
            };
            match details(route) {
                details if details.is_empty() => format!("{number}. {pattern}"),
                details => format!("{number}. {pattern} ({details})"),
            }
        });
        Ok(Reply::text(lines.collect::<Vec<_>>().join("\n")))
    }
}

/// Returns the details of a route for the list, without its pattern. Rules of `block_resource` and `mock_response` are in the list too.
fn details(route: &Route) -> String {
    if let Some(details) = &route.details {
        return details.clone();
    }
    let answer = match &route.answer {
        RouteAnswer::Block => "blocked".to_owned(),
        RouteAnswer::Mock(mock) => format!("status={}", mock.status),
        RouteAnswer::Rewrite(_) => "other headers".to_owned(),
    };
    match &route.resource_type {
        Some(kind) => format!("{answer}, resourceType={kind}"),
        None => answer,
    }
}

/// Remove the network routes of a pattern, or all.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Unroute {
    /// The pattern; all routes by default.
    pattern: Option<String>,
}

impl Tool for Unroute {
    const NAME: &'static str = "browser_unroute";
    const TITLE: &'static str = "Remove network routes";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Network);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let context = tab.context()?;
        let is_kept = |route: &&Route| {
            let url = route.url.as_ref().map(ToString::to_string);
            self.pattern.is_some() && url != self.pattern
        };
        let before = context.routes();
        let kept: Vec<_> = before.iter().filter(is_kept).cloned().collect();
        let removed = before.iter().count() - kept.len();
        if removed > 0 {
            context.set_routes(&call.action(), kept.into()).await?;
        }
        Ok(Reply::text(match &self.pattern {
            Some(pattern) => format!("Removed {removed} route(s) for pattern: {pattern}"),
            None => format!("Removed all {removed} route(s)"),
        }))
    }
}
