//! What the page has requested.

use super::navigation::fail_if_dialog_open;
use super::network::pattern;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::tools::browser::network::{saved, values};
use crate::tools::scope::{FreeTab, TabInAnyState};
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use engine::{Page, RequestOutcome, UrlPattern};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<GetRequestLog>(),
    ToolDef::of::<GetRequest>(),
    ToolDef::of::<WaitForResponse>(),
];

/// How many requests are told when nobody says.
const DEFAULT_LIMIT: usize = 100;

/// How long the end of a response that is under way is waited for before its body is read.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);

/// List the requests of the page since the last navigation, oldest first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetRequestLog {
    /// Glob, /regex/, part of the URL, or a resource type.
    filter: Option<String>,
    /// Only so many, the newest; 100 by default.
    limit: Option<usize>,
}

/// Requests.
#[derive(Serialize, JsonSchema)]
pub(super) struct Log {
    /// All that fit.
    count: usize,
    requests: Vec<Request>,
}

/// A request; each hop of a redirect is one.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    /// For get_request; counted anew with each document.
    number: usize,
    url: String,
    method: String,
    /// HTTP status; 0 where there is no answer.
    status: u16,
    resource_type: String,
    timing: Timing,
    sizes: Sizes,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    from_cache: bool,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// In ms.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Timing {
    /// After the first request of the page.
    start_time: f64,
    /// From start to the answer's first byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<f64>,
    /// From start to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<f64>,
}

/// In bytes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Sizes {
    /// Of the body that was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<usize>,
    /// Of what was received, headers included.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<u64>,
}

impl Tool for GetRequestLog {
    const NAME: &'static str = "get_request_log";
    const TITLE: &'static str = "Get request log";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const WAITS: bool = false;
    type Scope = TabInAnyState;
    type Output = Object<Log>;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Object<Log>> {
        let filter = self.filter.as_deref().filter(|filter| !filter.is_empty());
        let pattern = filter.map(|filter| pattern(call, "filter", filter));
        let pattern = pattern.transpose()?;
        let requests = tab.page.requests();
        let matched = match pattern {
            Some(pattern) => {
                let urls = requests.iter().map(|request| request.url.clone());
                pattern.are_matched(urls.collect()).await?
            }
            None => vec![true; requests.len()],
        };
        let fit = requests.iter().zip(matched).filter(|(request, matched)| {
            *matched || filter == Some(request.resource_type.as_str())
        });
        let fit: Vec<_> = fit.map(|(request, _)| request).collect();
        let shown = self.limit.unwrap_or(DEFAULT_LIMIT).min(fit.len());
        let first = requests.first();
        let requests = fit[fit.len() - shown..].iter();
        let requests = requests.map(|request| Request::of(request, first));
        Ok(Log {
            count: fit.len(),
            requests: requests.collect(),
        }
        .into())
    }
}

/// Read the headers and bodies of a request and of its response.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetRequest {
    /// Its number in get_request_log.
    number: usize,
}

/// A request in full.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exchange {
    #[serde(flatten)]
    request: Request,
    request_headers: Headers,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_body: Option<Body>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_headers: Option<Headers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_body: Option<Body>,
}

/// Values by names in small letters; several of one name have a line each.
type Headers = BTreeMap<String, String>;

/// A body.
#[derive(Default, Serialize, JsonSchema)]
struct Body {
    /// Of one that is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Where any other lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Why the browser does not give it.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Tool for GetRequest {
    const NAME: &'static str = "get_request";
    const TITLE: &'static str = "Get request";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    type Scope = TabInAnyState;
    type Output = Object<Exchange>;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Object<Exchange>> {
        let page = &tab.page;
        let _ = tokio::time::timeout(RESPONSE_TIMEOUT, ended(page, self.number)).await;
        let request = page.request(self.number).ok_or(Error::RequestNotFound {
            index: self.number,
            list: GetRequestLog::NAME,
        })?;
        let progress = call.action();
        let sent = match request.has_body {
            true => page.request_body(&progress, &request.id).await.transpose(),
            false => None,
        };
        let request_body = match sent {
            Some(body) => Some(Body::of(body, &tab, call, "request", "").await?),
            None => None,
        };
        // What led elsewhere, or came to nothing, has no body that could be asked for.
        let came_to_nothing = matches!(
            request.outcome,
            Some(RequestOutcome::Redirected | RequestOutcome::Failed { .. })
        );
        let answered = request.response.as_ref().filter(|_| !came_to_nothing);
        let response_body = match answered {
            Some(response) => {
                let body = page.response_body(&progress, &request.id).await;
                Some(Body::of(body, &tab, call, "response", &response.mime_type).await?)
            }
            None => None,
        };
        let response = request.response.as_ref();
        Ok(Exchange {
            request_headers: headers(&request.headers),
            request_body,
            response_headers: response.map(|response| headers(&response.headers)),
            response_body,
            request: Request::of(&request, page.requests().first()),
        }
        .into())
    }
}

/// Waits until a request that was answered is over.
async fn ended(page: &Page, number: usize) {
    let mut changes = page.changes();
    loop {
        changes.mark_unchanged();
        let request = page.request(number);
        let is_coming =
            |request: engine::Request| request.response.is_some() && request.outcome.is_none();
        if !request.is_some_and(is_coming) || changes.changed().await.is_err() {
            return;
        }
    }
}

impl Body {
    async fn of(
        body: engine::Result<Vec<u8>>,
        tab: &TabInAnyState,
        call: &Call,
        prefix: &str,
        mime_type: &str,
    ) -> Result<Self> {
        Ok(match body.map(String::from_utf8) {
            Ok(Ok(text)) => Self {
                text: Some(text),
                ..Self::default()
            },
            Ok(Err(binary)) => Self {
                path: Some(saved(tab, call, binary.into_bytes(), prefix, mime_type, None).await?),
                ..Self::default()
            },
            Err(error) => Self {
                error: Some(error.to_string()),
                ..Self::default()
            },
        })
    }
}

fn headers(headers: &[(String, String)]) -> Headers {
    let mut all = Headers::new();
    for (name, value) in headers {
        let (name, values) = values(name, value);
        let lines = all.entry(name).or_default();
        for value in values {
            if !lines.is_empty() {
                lines.push('\n');
            }
            lines.push_str(&value);
        }
    }
    all
}

/// Wait for a response to a request of the page: one that came since the last action began, or comes.
#[derive(Deserialize, JsonSchema)]
pub(super) struct WaitForResponse {
    /// Glob (**/api/*), /regex/, or part of the URL.
    url: String,
    /// HTTP method.
    method: Option<String>,
    /// HTTP status.
    #[schemars(range(min = 100, max = 599))]
    status: Option<u16>,
}

impl Tool for WaitForResponse {
    const NAME: &'static str = "wait_for_response";
    const TITLE: &'static str = "Wait for response";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = FreeTab;
    type Output = Object<Request>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Request>> {
        let pattern = pattern(call, "url", &self.url)?;
        let progress = call.navigation();
        progress.log(format!("waiting for a response from {pattern}"));
        let since = tab.tab.responses_before_action();
        let request = progress
            .run(self.answered(&tab.page, &pattern, since))
            .await?;
        let requests = tab.page.requests();
        Ok(Request::of(&request, requests.first()).into())
    }
}

impl WaitForResponse {
    /// The first request that fits and was answered after so many others, once there is one.
    async fn answered(
        &self,
        page: &Page,
        pattern: &UrlPattern,
        mut since: u64,
    ) -> engine::Result<engine::Request> {
        let mut changes = page.changes();
        loop {
            changes.mark_unchanged();
            let now = page.response_count();
            let mut requests = page.responded_since(since);
            since = now;
            requests.retain(|request| self.is_wanted(request));
            let urls = requests.iter().map(|request| request.url.clone());
            let matched = pattern.are_matched(urls.collect()).await?;
            let mut found = requests.into_iter().zip(matched);
            if let Some((request, _)) = found.find(|(_, matched)| *matched) {
                return Ok(request);
            }
            fail_if_dialog_open(page)?;
            if changes.changed().await.is_err() {
                return Err(engine::Error::PageClosed {});
            }
        }
    }

    fn is_wanted(&self, request: &engine::Request) -> bool {
        let status = request.response.as_ref().map(|response| response.status);
        let method = self.method.as_deref();
        method.is_none_or(|method| request.method.eq_ignore_ascii_case(method))
            && self.status.is_none_or(|wanted| status == Some(wanted))
    }
}

/// What a page has requested since it was opened, and how many of each kind that were.
pub(crate) fn network_log(page: &Page) -> (Value, Map<String, Value>) {
    let requests = page.requests();
    let first = requests.first();
    let entries = requests.iter();
    let entries = entries.map(|request| json!(Request::of(request, first)));
    let answered = requests.iter().filter(|request| request.response.is_some());
    let failed = requests.iter().filter(|request| {
        let status = request.response.as_ref().map(|response| response.status);
        matches!(request.outcome, Some(RequestOutcome::Failed { .. }))
            || status.is_some_and(|status| status >= 400)
    });
    let counts = Map::from_iter([
        ("requestCount".to_owned(), requests.len().into()),
        ("responseCount".to_owned(), answered.count().into()),
        ("errorCount".to_owned(), failed.count().into()),
    ]);
    (entries.collect(), counts)
}

impl Request {
    /// `first`: the first one of the document.
    fn of(request: &engine::Request, first: Option<&engine::Request>) -> Self {
        let after = first.and_then(|first| request.since(first));
        let response = request.response.as_ref();
        let (size, error) = match &request.outcome {
            Some(RequestOutcome::Finished { size }) => (Some(*size), None),
            Some(RequestOutcome::Failed { reason, .. }) => (None, Some(reason.to_string())),
            Some(RequestOutcome::Redirected) | None => (None, None),
        };
        Self {
            number: request.number,
            url: request.url.clone(),
            method: request.method.clone(),
            status: response.map_or(0, |response| response.status),
            resource_type: request.resource_type.clone(),
            timing: Timing {
                start_time: milliseconds(after.unwrap_or_default()),
                // The browser may tell of the last byte before the first.
                response: request
                    .answered
                    .map(|answered| answered.min(request.duration.unwrap_or(answered)))
                    .map(milliseconds),
                duration: request.duration.map(milliseconds),
            },
            sizes: Sizes {
                request: request.body.as_ref().map(|body| body.len()),
                response: size,
            },
            from_cache: response.is_some_and(|response| response.from_cache),
            error,
        }
    }
}

/// To a tenth.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}
