//! The requests of the page.

use super::navigation::fail_if_dialog_open;
use super::network::pattern;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::tools::browser::network::{opcode_name, save_body, values};
use crate::tools::scope::{FreeTab, TabInAnyState};
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use engine::{Page, RequestOutcome, StreamMessage, StreamMessageKind, UrlPattern};
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

/// The default of `limit`.
const DEFAULT_LIMIT: usize = 100;

/// The longest wait for the end of a response before its body is read.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);

/// List the requests of the page since the last navigation, oldest first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GetRequestLog {
    /// Glob, /regex/, part of the URL, or a resource type.
    filter: Option<String>,
    /// Only so many, the newest; 100 by default.
    limit: Option<usize>,
}

/// The requests.
#[derive(Serialize, JsonSchema)]
pub(super) struct Log {
    /// The number of requests that match.
    count: usize,
    requests: Vec<Request>,
}

/// A request. Each hop of a redirect is a request.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    /// The number for `get_request`. Each document begins at 1.
    number: u64,
    url: String,
    method: String,
    /// HTTP status; 0 where there is no response.
    status: u16,
    resource_type: String,
    /// The URL of the worker that sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    timing: Timing,
    sizes: Sizes,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    from_cache: bool,
    /// The reason of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Times in ms.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Timing {
    /// The time between the first request of the page and the start of this one.
    start_time: f64,
    /// The time between the start and the first byte of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<f64>,
    /// The time between the start and the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<f64>,
}

/// Sizes in bytes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Sizes {
    /// The size of the request body.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<usize>,
    /// The size of the response, with its headers.
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
    number: u64,
}

/// A request and its response in full.
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
    /// The frames of the WebSocket, or the events of the event source, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Message>,
    /// Why there are no messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_error: Option<String>,
}

/// A message of a WebSocket or of an event source.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Message {
    /// ms since the request.
    time: f64,
    /// sent or received.
    direction: &'static str,
    /// text, binary, close, ping, pong; or the type of the event.
    kind: String,
    /// The id of the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Text, or Base64; at most 16 KiB.
    data: String,
    /// The length of the complete data, if it is longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<usize>,
}

impl Message {
    fn of(message: StreamMessage, request: &engine::Request) -> Self {
        let (direction, kind, id) = match message.kind {
            StreamMessageKind::Sent(opcode) => ("sent", opcode_name(opcode).to_owned(), None),
            StreamMessageKind::Received(opcode) => {
                ("received", opcode_name(opcode).to_owned(), None)
            }
            StreamMessageKind::Event { name, id } => {
                ("received", name, Some(id).filter(|id| !id.is_empty()))
            }
        };
        let after = message.at.duration_since(request.sent);
        Self {
            time: milliseconds(after.unwrap_or_default()),
            direction,
            kind,
            id,
            length: Some(message.length).filter(|length| *length > message.payload.len()),
            data: message.payload,
        }
    }
}

/// Values by lower-case names. Several values of one name have a line each.
type Headers = BTreeMap<String, String>;

/// A body.
#[derive(Default, Serialize, JsonSchema)]
struct Body {
    /// The body, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The path of the file with the body, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Why the browser does not return the body.
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
        let _ = tokio::time::timeout(RESPONSE_TIMEOUT, wait_until_ended(page, self.number)).await;
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
        // Redirected and failed requests have no response body.
        let has_no_body = matches!(
            request.outcome,
            Some(RequestOutcome::Redirected | RequestOutcome::Failed { .. })
        );
        let with_body = request.response.as_ref().filter(|_| !has_no_body);
        let is_socket = request.resource_type == "websocket";
        let is_stream = is_socket || request.resource_type == "eventsource";
        let messages_error = match is_stream {
            true => tab.require_messages(is_socket).err(),
            false => None,
        };
        let messages = page.stream_messages(&request.id).messages.into_iter();
        let messages = messages.map(|message| Message::of(message, &request));
        // The body of a stream is not complete before its end.
        let is_open = is_stream && request.outcome.is_none();
        let with_body = with_body.filter(|_| !is_socket && !is_open);
        let response_body = match with_body {
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
            messages: messages.collect(),
            messages_error: messages_error.map(|error| error.to_string()),
            request: Request::of(&request, page.requests().first()),
        }
        .into())
    }
}

/// Waits until a response that has begun is complete.
async fn wait_until_ended(page: &Page, number: u64) {
    let mut changes = page.changes();
    loop {
        changes.mark_unchanged();
        let request = page.request(number);
        let is_incomplete =
            |request: engine::Request| request.response.is_some() && request.outcome.is_none();
        if !request.is_some_and(is_incomplete) || changes.changed().await.is_err() {
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
                path: Some(
                    save_body(tab, call, binary.into_bytes(), prefix, mime_type, None).await?,
                ),
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
            .run(self.next_response(&tab.page, &pattern, since))
            .await?;
        let requests = tab.page.requests();
        Ok(Request::of(&request, requests.first()).into())
    }
}

impl WaitForResponse {
    /// Returns the first matching request that got a response after the first `since` ones. Waits until there is one.
    async fn next_response(
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
            requests.retain(|request| self.is_match(request));
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

    fn is_match(&self, request: &engine::Request) -> bool {
        let status = request.response.as_ref().map(|response| response.status);
        let method = self.method.as_deref();
        method.is_none_or(|method| request.method.eq_ignore_ascii_case(method))
            && self.status.is_none_or(|expected| status == Some(expected))
    }
}

/// Returns the requests of a page since it was opened, and the number of requests, responses and errors.
pub(crate) fn network_log(page: &Page) -> (Value, Map<String, Value>) {
    let requests = page.requests();
    let first = requests.first();
    let entries = requests.iter();
    let entries = entries.map(|request| json!(Request::of(request, first)));
    let responded = requests.iter().filter(|request| request.response.is_some());
    let failed = requests.iter().filter(|request| {
        let status = request.response.as_ref().map(|response| response.status);
        matches!(request.outcome, Some(RequestOutcome::Failed { .. }))
            || status.is_some_and(|status| status >= 400)
    });
    let counts = Map::from_iter([
        ("requestCount".to_owned(), requests.len().into()),
        ("responseCount".to_owned(), responded.count().into()),
        ("errorCount".to_owned(), failed.count().into()),
    ]);
    (entries.collect(), counts)
}

impl Request {
    /// Describes a request. `first` is the first request of the document.
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
            worker: request.worker.as_ref().map(|worker| worker.url.to_string()),
            timing: Timing {
                start_time: milliseconds(after.unwrap_or_default()),
                // The browser may report the last byte before the first one.
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

/// Returns a time in ms, rounded to a tenth.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}
