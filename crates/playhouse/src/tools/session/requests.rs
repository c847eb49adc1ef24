//! What the page has requested.

use crate::call::Call;
use crate::error::{Error, Problem, Result};
use crate::scope::TabInAnyState;
use crate::tool::{Effect, ObjectTool, Outcome, ToolDef};
use engine::{Page, RequestOutcome, UrlPattern};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::object::<GetRequestLog>()];

/// How many requests are told when nobody says.
const LIMIT: usize = 100;

/// List the requests of the page since it was opened, oldest first.
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
struct Request {
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

impl ObjectTool for GetRequestLog {
    const NAME: &'static str = "get_request_log";
    const TITLE: &'static str = "Get request log";
    const EFFECT: Effect = Effect::Reads;
    const WAITS: bool = false;
    type Scope = TabInAnyState;
    type Output = Log;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Outcome<Log>> {
        let filter = self.filter.as_deref().filter(|filter| !filter.is_empty());
        let pattern = filter.map(UrlPattern::new).transpose();
        let pattern = pattern.map_err(|message| Error::InvalidArguments {
            tool: call.tool,
            problems: vec![Problem {
                parameter: "filter".to_owned(),
                message,
                missing: false,
            }],
        })?;
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
        let shown = self.limit.unwrap_or(LIMIT).min(fit.len());
        let first = requests.first();
        let requests = fit[fit.len() - shown..].iter().map(|request| {
            let after = first.and_then(|first| request.since(first));
            Request::of(request, after.unwrap_or_default())
        });
        Ok(Log {
            count: fit.len(),
            requests: requests.collect(),
        }
        .into())
    }
}

/// What a page has requested since it was opened, and how many of each kind that were.
pub(crate) fn network_log(page: &Page) -> (Value, Map<String, Value>) {
    let requests = page.requests();
    let first = requests.first();
    let entries = requests.iter().map(|request| {
        let after = first.and_then(|first| request.since(first));
        json!(Request::of(request, after.unwrap_or_default()))
    });
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
    fn of(request: &engine::Request, after: Duration) -> Self {
        let response = request.response.as_ref();
        let (size, error) = match &request.outcome {
            Some(RequestOutcome::Finished { size }) => (Some(*size), None),
            Some(RequestOutcome::Failed { reason, .. }) => (None, Some(reason.clone())),
            Some(RequestOutcome::Redirected) | None => (None, None),
        };
        Self {
            url: request.url.clone(),
            method: request.method.clone(),
            status: response.map_or(0, |response| response.status),
            resource_type: request.resource_type.clone(),
            timing: Timing {
                start_time: milliseconds(after),
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
