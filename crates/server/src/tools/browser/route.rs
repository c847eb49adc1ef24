//! Routes: mock responses, replayed archives, and changed requests and responses.

use crate::access::principal::Permission;
use crate::access::restrictions::check_content;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Problem, Result};
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript::string as quote;
use engine::codegen::{Argument, Language, Receiver, Statement};
use engine::{
    FailureReason, HarReplay, Mock, RequestChanges, ResponseChanges, Route, RouteAnswer, UrlPattern,
};
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

/// The largest HAR that is replayed, in bytes.
const MAX_HAR: usize = 128 * 1024 * 1024;

/// Mock network requests, or change them on their way. With status or body they get a mock response.
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
    #[serde(flatten)]
    more: RouteAdditions,
}

/// What `@playwright/mcp` has no parameter for.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RouteAdditions {
    /// Response headers to set.
    #[schemars(extend("x-addition" = true))]
    response_headers: Option<Vec<String>>,
    /// JSON merge patch of the real response.
    #[serde(default)]
    #[schemars(extend("x-addition" = true), schema_with = "anything")]
    patch: Option<Value>,
    /// Request this URL instead.
    #[schemars(extend("x-addition" = true))]
    url: Option<String>,
    #[schemars(extend("x-addition" = true))]
    method: Option<String>,
    /// Request body.
    #[schemars(extend("x-addition" = true), length(min = 0))]
    post_data: Option<String>,
    /// In ms.
    #[schemars(extend("x-addition" = true), range(min = 0, max = 600_000))]
    delay: Option<u64>,
    /// Fail with this error, such as failed or timedout.
    #[schemars(extend("x-addition" = true))]
    abort: Option<String>,
    /// HAR file with the responses.
    #[schemars(extend("x-addition" = true))]
    har: Option<String>,
    /// For what the HAR lacks; default: abort.
    #[schemars(extend("x-addition" = true))]
    not_found: Option<NotFound>,
}

/// What becomes of a request that a HAR lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum NotFound {
    Abort,
    Fallback,
}

fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({})
}

impl Tool for AddRoute {
    const NAME: &'static str = "browser_route";
    const TITLE: &'static str = "Mock network requests";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Network);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(mut self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let url = UrlPattern::glob(&self.pattern).map_err(|reason| wrong("pattern", reason))?;
        let mut parsed = Vec::new();
        for (parameter, lines) in [
            ("headers", &self.headers),
            ("responseHeaders", &self.more.response_headers),
        ] {
            match lines.as_deref().map(headers).transpose() {
                Ok(headers) => parsed.push(headers),
                Err(header) => return Ok(invalid_header(header, parameter)),
            }
        }
        let (received, sent) = (parsed.pop().flatten(), parsed.pop().flatten());
        let remove = self.remove_headers.as_deref().map(|names| {
            let names = names.split(',').map(|name| name.trim().to_owned());
            names.collect::<Vec<_>>()
        });
        self.refuse_combinations()?;
        self.refuse_content(call)?;
        let details = self.details(sent.as_deref(), remove.as_deref(), received.as_deref());
        let (code, statement) = (self.code(), self.statement(call.language()));
        let answer = match &self.more.har {
            Some(har) => {
                let falls_back = self.more.not_found == Some(NotFound::Fallback);
                RouteAnswer::Har(Arc::new(replay(&tab, call, har, falls_back).await?))
            }
            None => self.answer(sent, remove, received)?,
        };
        if let RouteAnswer::Rewrite(changes) = &answer
            && let Some(url) = &changes.url
        {
            tab.files(call).await.refuse_address(url)?;
        }
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
        let reply = Reply::text(format!("Route added for pattern: {pattern}"));
        Ok(reply.and_statements(call.language(), code, [statement]))
    }
}

impl AddRoute {
    /// Returns an error for content of the client that pages could run, where the client runs no code.
    fn refuse_content(&self, call: &Call) -> Result<()> {
        let more = &self.more;
        let given = [
            (
                "body",
                self.body.as_ref().is_some_and(|body| !body.is_empty()),
            ),
            ("responseHeaders", more.response_headers.is_some()),
            ("patch", more.patch.is_some()),
            ("url", more.url.is_some()),
            ("har", more.har.is_some()),
        ];
        let mut given = given.into_iter().filter(|(_, is_given)| *is_given);
        given.try_for_each(|(parameter, _)| check_content(&call.settings, parameter))
    }

    /// Returns an error for parameters that have no effect together.
    fn refuse_combinations(&self) -> Result<()> {
        let more = &self.more;
        let mocks = self.body.is_some() || (self.status.is_some() && more.patch.is_none());
        let changes = more.url.is_some() || more.method.is_some() || more.post_data.is_some();
        let kinds = [
            (mocks, "a mock response"),
            (more.patch.is_some(), "patch"),
            (more.abort.is_some(), "abort"),
            (more.har.is_some(), "har"),
        ];
        let used: Vec<_> = kinds.iter().filter(|(used, _)| *used).collect();
        let reason = match used[..] {
            [(_, one), (_, other), ..] => format!("A route has either {one} or {other}"),
            [(_, one)] if changes && *one != "patch" => {
                format!("A route with {one} sends no request to change")
            }
            [(_, one @ ("abort" | "har"))] if more.delay.is_some() => {
                format!("A route with {one} has no delay")
            }
            _ => return Ok(()),
        };
        Err(Error::Arguments {
            reason: reason.into(),
            parameters: &[],
            missing: &[],
            bare: false,
        })
    }

    fn code(&self) -> String {
        let pattern = quote(&self.pattern);
        let Some(har) = &self.more.har else {
            return format!(
                "await page.context().route({pattern}, async route => {{ /* route handler */ }});"
            );
        };
        let not_found = match self.more.not_found {
            Some(NotFound::Fallback) => "fallback",
            Some(NotFound::Abort) | None => "abort",
        };
        format!(
            "await page.context().routeFromHAR({}, {{ url: {pattern}, notFound: '{not_found}' }});",
            quote(har)
        )
    }

    /// Returns the code in other languages than TypeScript.
    fn statement(&self, language: Language) -> Statement {
        let Some(har) = &self.more.har else {
            return Statement::new(Receiver::Context, "route")
                .argument(self.pattern.as_str())
                .argument(Argument::RouteHandler);
        };
        let method = match language {
            Language::Python => "routeFromHar",
            _ => "routeFromHAR",
        };
        let not_found = match self.more.not_found {
            Some(NotFound::Fallback) => "fallback",
            Some(NotFound::Abort) | None => "abort",
        };
        let not_found = Argument::Choice {
            class: "HarNotFound",
            value: not_found.to_owned(),
        };
        Statement::new(Receiver::Context, method)
            .argument(Argument::Path(har.clone()))
            .option("url", Some(self.pattern.as_str()))
            .option("notFound", Some(not_found))
    }

    fn answer(
        &mut self,
        sent: Option<Headers>,
        remove: Option<Vec<String>>,
        received: Option<Headers>,
    ) -> Result<RouteAnswer> {
        let more = std::mem::take(&mut self.more);
        let delay = Duration::from_millis(more.delay.unwrap_or_default());
        if let Some(reason) = more.abort {
            let known = <FailureReason as strum::VariantNames>::VARIANTS.join(", ");
            let reason = reason
                .parse()
                .map_err(|_| wrong("abort", format!("Expected one of {known}")))?;
            return Ok(RouteAnswer::Abort(reason));
        }
        if more.patch.is_none() && (self.status.is_some() || self.body.is_some()) {
            let media_type = self.content_type.take();
            let media_type = media_type.map(|value| ("content-type".to_owned(), value));
            let mut headers = received.unwrap_or_default();
            if let Some(media_type) = media_type {
                headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
                headers.push(media_type);
            }
            return Ok(RouteAnswer::Mock(Arc::new(Mock {
                status: self.status.map_or(Ok(200), status)?,
                headers,
                body: self.body.take().unwrap_or_default().into_bytes(),
                delay,
            })));
        }
        let response = (more.patch.is_some() || received.is_some())
            .then(|| {
                Ok::<_, Error>(ResponseChanges {
                    status: self.status.map(status).transpose()?,
                    set: received.unwrap_or_default(),
                    patch: more.patch,
                })
            })
            .transpose()?;
        if let Some(url) = &more.url
            && !url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
        {
            let message = "Expected a complete URL with the scheme http or https";
            return Err(wrong("url", message.to_owned()));
        }
        if let Some(method) = &more.method
            && http::Method::from_bytes(method.as_bytes()).is_err()
        {
            return Err(wrong("method", "Expected an HTTP method".to_owned()));
        }
        Ok(RouteAnswer::Rewrite(Arc::new(RequestChanges {
            url: more.url,
            method: more.method,
            body: more.post_data.map(String::into_bytes),
            set: sent.unwrap_or_default(),
            remove: remove.unwrap_or_default(),
            delay,
            response,
        })))
    }

    /// Returns the details of the route for the list, without its pattern.
    fn details(
        &self,
        set: Option<&[(String, String)]>,
        remove: Option<&[String]>,
        received: Option<&[(String, String)]>,
    ) -> String {
        let mut details = Vec::new();
        if let Some(status) = self.status {
            details.push(format!("status={status}"));
        }
        if let Some(body) = &self.body {
            details.push(format!("body={}", beginning(body)));
        }
        if let Some(media_type) = &self.content_type {
            details.push(format!("contentType={media_type}"));
        }
        if let Some(set) = set {
            details.push(format!("addHeaders={}", as_json(set)));
        }
        if let Some(remove) = remove {
            details.push(format!("removeHeaders={}", remove.join(",")));
        }
        let more = &self.more;
        if let Some(received) = received {
            details.push(format!("responseHeaders={}", as_json(received)));
        }
        if let Some(patch) = &more.patch {
            details.push(format!("patch={}", beginning(&patch.to_string())));
        }
        for (name, value) in [
            ("url", &more.url),
            ("method", &more.method),
            ("postData", &more.post_data),
            ("abort", &more.abort),
            ("har", &more.har),
        ] {
            if let Some(value) = value {
                details.push(format!("{name}={}", beginning(value)));
            }
        }
        if let Some(delay) = more.delay {
            details.push(format!("delay={delay}"));
        }
        if more.not_found == Some(NotFound::Fallback) {
            details.push("notFound=fallback".to_owned());
        }
        details.join(", ")
    }
}

/// The names and values of headers.
type Headers = Vec<(String, String)>;

fn as_json(headers: &[(String, String)]) -> Value {
    let headers = headers.iter().cloned();
    let headers: Map<_, _> = headers
        .map(|(name, value)| (name, Value::from(value)))
        .collect();
    Value::from(headers)
}

/// Returns the beginning of a text for the list.
fn beginning(text: &str) -> String {
    let units: Vec<_> = text.encode_utf16().collect();
    match units.get(..MAX_SHOWN) {
        Some(start) if units.len() > MAX_SHOWN => format!("{}...", String::from_utf16_lossy(start)),
        _ => text.to_owned(),
    }
}

/// Reads a HAR of the client.
async fn replay(
    tab: &TabInAnyState,
    call: &Call,
    name: &str,
    falls_back: bool,
) -> Result<HarReplay> {
    let files = tab.files(call).await;
    let archive = files.read(name).await?;
    let invalid = |reason: String| Error::File {
        path: name.to_owned(),
        reason: format!("{name} is not a HAR: {reason}"),
    };
    if archive.len() > MAX_HAR {
        return Err(invalid(format!("it is larger than {MAX_HAR} bytes")));
    }
    let secrets = call.settings.secrets.clone();
    let mask = move |text: String| secrets.redacted(text);
    let parsed = task::compute(move || {
        // Playwright writes large bodies to files beside the archive.
        let read = |file: &str| {
            Err(format!(
                "the body in {file} is not embedded; record it with content: embed"
            ))
        };
        HarReplay::parse(&archive, falls_back, read, Arc::new(mask))
    });
    parsed.await.map_err(invalid)
}

fn invalid_header(header: &str, parameter: &'static str) -> Reply {
    let parameters: &[&str] = match parameter {
        "headers" => &["headers"],
        _ => &["responseHeaders"],
    };
    Reply::error(Error::Arguments {
        reason: format!("Invalid header \"{header}\": expected \"Name: Value\"").into(),
        parameters,
        missing: &[],
        bare: true,
    })
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
        RouteAnswer::Abort(FailureReason::BlockedByClient) => "blocked".to_owned(),
        RouteAnswer::Abort(reason) => format!("abort={reason}"),
        RouteAnswer::Mock(mock) => format!("status={}", mock.status),
        RouteAnswer::Rewrite(_) => "changed".to_owned(),
        RouteAnswer::Har(_) => "har".to_owned(),
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
