//! Routes, offline mode and throttling of a session. They also apply to tabs that are opened later.

use crate::access::principal::Permission;
use crate::access::restrictions::check_content;
use crate::calls::Call;
use crate::error::{Error, Problem, Result};
use crate::tools::MAX_ROUTES;
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use engine::{BrowserContext, FailureReason, Mock, Route, RouteAnswer, UrlPattern};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<BlockResource>(),
    ToolDef::of::<MockResponse>(),
    ToolDef::of::<SetOffline>(),
    ToolDef::of::<SetThrottling>(),
];

/// The resource types that can be blocked, by Playwright's names. WebSockets are missing because they are not intercepted.
const RESOURCE_TYPES: &[&str] = &[
    "document",
    "stylesheet",
    "image",
    "media",
    "font",
    "script",
    "xhr",
    "fetch",
    "eventsource",
    "manifest",
    "ping",
    "other",
];

/// Block matching requests.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BlockResource {
    /// Such as image, font, script, stylesheet, fetch.
    resource_type: Option<String>,
    /// Glob (**/*.png), /regex/, or part of the URL.
    url: Option<String>,
    /// Remove this rule.
    remove: Option<bool>,
}

/// The rules, oldest first. The newest rule that matches decides.
#[derive(Serialize, JsonSchema)]
pub(super) struct Rules {
    rules: Vec<Rule>,
}

/// A rule.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Rule {
    action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_type: Option<String>,
    /// The status of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
}

/// The effect of a rule.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Block,
    Mock,
    Rewrite,
    Har,
}

impl From<&Route> for Rule {
    fn from(route: &Route) -> Self {
        let (action, status) = match &route.answer {
            RouteAnswer::Abort(_) => (Action::Block, None),
            RouteAnswer::Mock(mock) => (Action::Mock, Some(mock.status)),
            RouteAnswer::Rewrite(_) => (Action::Rewrite, None),
            RouteAnswer::Har(_) => (Action::Har, None),
        };
        Self {
            action,
            url: route.url.as_ref().map(ToString::to_string),
            resource_type: route.resource_type.clone(),
            status,
        }
    }
}

impl Tool for BlockResource {
    const NAME: &'static str = "block_resource";
    const TITLE: &'static str = "Block resource";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const WAITS: bool = false;
    type Scope = TabInAnyState;
    type Output = Object<Rules>;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Object<Rules>> {
        if self.resource_type.is_none() && self.url.is_none() {
            return Err(Error::Arguments {
                reason: "Give a resourceType or a url pattern".into(),
                parameters: &[],
                missing: &["resourceType", "url"],
                bare: false,
            });
        }
        if let Some(kind) = &self.resource_type
            && !RESOURCE_TYPES.contains(&kind.as_str())
        {
            let types = RESOURCE_TYPES.join(", ");
            return Err(wrong(
                call,
                "resourceType",
                format!("Expected one of {types}"),
            ));
        }
        let url = self.url.as_deref();
        let route = Route {
            url: url.map(|url| pattern(call, "url", url)).transpose()?,
            resource_type: self.resource_type,
            answer: RouteAnswer::Abort(FailureReason::BlockedByClient),
            details: None,
        };
        set_rule(&tab.context()?, call, route, self.remove == Some(true)).await
    }
}

/// Mock responses to matching requests.
#[derive(Deserialize, JsonSchema)]
pub(super) struct MockResponse {
    /// Glob (**/api/*), /regex/, or part of the URL.
    url: String,
    /// The response; without it the rule is removed.
    response: Option<Response>,
}

/// An answer.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Response {
    /// HTTP status, 200 by default.
    #[schemars(range(min = 200, max = 599))]
    status: Option<u16>,
    /// Headers.
    #[serde(default)]
    #[schemars(schema_with = "texts_by_name")]
    headers: Option<BTreeMap<String, String>>,
    /// Text, or JSON.
    #[serde(default)]
    #[schemars(schema_with = "anything")]
    body: Option<Value>,
    /// Media type.
    content_type: Option<String>,
    /// In ms.
    #[schemars(range(min = 0, max = 600_000))]
    delay: Option<u64>,
}

fn texts_by_name(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "additionalProperties": { "type": "string" } })
}

fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({})
}

impl Tool for MockResponse {
    const NAME: &'static str = "mock_response";
    const TITLE: &'static str = "Mock response";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const WAITS: bool = false;
    type Scope = TabInAnyState;
    type Output = Object<Rules>;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Object<Rules>> {
        let remove = self.response.is_none();
        if let Some(response) = &self.response
            && (response.body.is_some() || response.headers.is_some())
        {
            check_content(&call.settings, "response")?;
        }
        let response = self.response.unwrap_or(Response {
            status: None,
            headers: None,
            body: None,
            content_type: None,
            delay: None,
        });
        let route = Route {
            url: Some(pattern(call, "url", &self.url)?),
            resource_type: None,
            answer: RouteAnswer::Mock(Arc::new(response.into())),
            details: None,
        };
        set_rule(&tab.context()?, call, route, remove).await
    }
}

impl From<Response> for Mock {
    fn from(response: Response) -> Self {
        let (body, media_type) = match response.body {
            None => (String::new(), "text/plain; charset=utf-8"),
            Some(Value::String(text)) => (text, "text/plain; charset=utf-8"),
            Some(json) => (json.to_string(), "application/json"),
        };
        let mut headers: Vec<_> = response.headers.unwrap_or_default().into_iter().collect();
        let named = headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some(media_type) = response.content_type {
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            headers.push(("content-type".to_owned(), media_type));
        } else if !named {
            headers.push(("content-type".to_owned(), media_type.to_owned()));
        }
        Self {
            status: response.status.unwrap_or(200),
            headers,
            body: body.into_bytes(),
            delay: Duration::from_millis(response.delay.unwrap_or(0)),
        }
    }
}

/// Adds a rule, in place of the one about the same requests, or removes that one. Returns all rules.
async fn set_rule(
    context: &BrowserContext,
    call: &Call,
    route: Route,
    remove: bool,
) -> Result<Object<Rules>> {
    let same = |other: &Route| {
        let same_kind =
            std::mem::discriminant(&other.answer) == std::mem::discriminant(&route.answer);
        same_kind && other.url == route.url && other.resource_type == route.resource_type
    };
    let mut routes: Vec<_> = context.routes().iter().cloned().collect();
    let before = routes.len();
    routes.retain(|other| !same(other));
    if remove && routes.len() == before {
        return Err(Error::Arguments {
            reason: "No such rule".into(),
            parameters: &["url"],
            missing: &[],
            bare: false,
        });
    }
    if !remove {
        if routes.len() >= MAX_ROUTES {
            return Err(Error::Arguments {
                reason: "There are too many rules already".into(),
                parameters: &["url"],
                missing: &[],
                bare: false,
            });
        }
        routes.push(route);
    }
    let rules = routes.iter().map(Rule::from).collect();
    context.set_routes(&call.action(), routes.into()).await?;
    Ok(Rules { rules }.into())
}

/// Parses the URL pattern of a parameter.
pub(super) fn pattern(call: &Call, parameter: &str, source: &str) -> Result<UrlPattern> {
    UrlPattern::new(source).map_err(|reason| wrong(call, parameter, reason))
}

fn wrong(call: &Call, parameter: &str, message: String) -> Error {
    Error::InvalidArguments {
        tool: call.tool.name,
        problems: vec![Problem {
            parameter: parameter.to_owned(),
            message,
            missing: false,
        }],
    }
}

/// Turn offline mode on or off.
#[derive(Deserialize, JsonSchema)]
pub(super) struct SetOffline {
    /// Offline?
    offline: bool,
}

/// Whether offline mode is on.
#[derive(Serialize, JsonSchema)]
pub(super) struct Offline {
    offline: bool,
}

impl Tool for SetOffline {
    const NAME: &'static str = "set_offline";
    const TITLE: &'static str = "Set offline";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const WAITS: bool = false;
    type Scope = TabInAnyState;
    type Output = Object<Offline>;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Object<Offline>> {
        let Self { offline } = self;
        tab.context()?.set_offline(&call.action(), offline).await?;
        Ok(Offline { offline }.into())
    }
}

/// Throttle the network. 0 or no value means no limit.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetThrottling {
    /// Bytes per second.
    #[schemars(range(min = 0))]
    download_speed: Option<f64>,
    /// Bytes per second.
    #[schemars(range(min = 0))]
    upload_speed: Option<f64>,
    /// More ms for each request.
    #[schemars(range(min = 0, max = 600_000))]
    latency: Option<f64>,
}

/// The limits of the network; null means no limit.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Throttling {
    download_speed: Option<u64>,
    upload_speed: Option<u64>,
    latency: u64,
}

impl From<engine::Throttling> for Throttling {
    fn from(throttling: engine::Throttling) -> Self {
        Self {
            download_speed: throttling.download.map(rounded),
            upload_speed: throttling.upload.map(rounded),
            latency: rounded(throttling.latency),
        }
    }
}

fn rounded(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the values are not negative"
    )]
    let number = number.round() as u64;
    number
}

impl Tool for SetThrottling {
    const NAME: &'static str = "set_throttling";
    const TITLE: &'static str = "Set throttling";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const WAITS: bool = false;
    type Scope = TabInAnyState;
    type Output = Object<Throttling>;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Object<Throttling>> {
        let throttling = engine::Throttling {
            download: self.download_speed.filter(|speed| *speed > 0.0),
            upload: self.upload_speed.filter(|speed| *speed > 0.0),
            latency: self.latency.unwrap_or(0.0),
        };
        let context = tab.context()?;
        context.set_throttling(&call.action(), throttling).await?;
        Ok(Throttling::from(throttling).into())
    }
}
