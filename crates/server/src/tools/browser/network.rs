//! The requests of the page.

use super::find::pattern;
use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::AnswerStyle;
use crate::error::{Error, Result};
use crate::tools::scope::{CurrentTab, TabInAnyState};
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{Request, RequestOutcome, ResponseFacts, StreamMessageKind, WorkerKind};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<NetworkRequests>(),
    ToolDef::of::<NetworkRequest>(),
];

/// List requests since the last navigation.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NetworkRequests {
    /// Also images, fonts, scripts and the like that succeeded.
    #[serde(default, rename = "static")]
    include_static: bool,
    /// Only URLs that match this regular expression.
    filter: Option<String>,
    /// Also those of earlier pages of the tab.
    all: Option<bool>,
    /// Save to this file instead.
    filename: Option<String>,
}

impl Tool for NetworkRequests {
    const NAME: &'static str = "browser_network_requests";
    const TITLE: &'static str = "List network requests";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let filter = match &self.filter {
            Some(filter) => Some(pattern(Self::NAME, "filter", filter)?),
            None => None,
        };
        let mut requests = match self.all == Some(true) {
            true => tab.page.sent_since(0),
            false => tab.page.requests(),
        };
        requests.retain(|request| !is_favicon(request));
        let streams = lists_streams(call);
        if !streams {
            requests.retain(|request| !is_web_socket(request));
        }
        let all = requests.len();
        requests.retain(|request| {
            self.include_static || !is_static(request) || (streams && is_stream(request))
        });
        let hidden = all - requests.len();
        let fit = match filter {
            Some(filter) => {
                let urls = requests.iter().map(|request| request.url.clone());
                filter.are_in(urls.collect()).await?
            }
            None => vec![true; requests.len()],
        };
        let fit = requests.iter().zip(fit).filter(|(_, fits)| *fits);
        let mut lines: Vec<_> = fit
            .map(|(request, _)| format!("{}. {}", number(request, streams), summary(request)))
            .collect();
        if hidden > 0 {
            let (noun, them) = match hidden {
                1 => ("request", "it"),
                _ => ("requests", "them"),
            };
            lines.push(String::new());
            lines.push(format!(
                "Note: {hidden} static {noun} not shown, run with \"static\" option to see {them}."
            ));
        }
        let text = lines.join("\n");
        tab.text_or_file(call, text, self.filename.as_deref(), "Network")
            .await
    }
}

/// Show one request: headers and bodies.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NetworkRequest {
    /// Its number in the list.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    index: u64,
    /// Only this part.
    part: Option<Portion>,
    /// Save to this file instead.
    filename: Option<String>,
}

/// Which part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Portion {
    RequestHeaders,
    RequestBody,
    ResponseHeaders,
    ResponseBody,
}

impl Portion {
    /// Returns the title of a file with this part.
    fn title(self) -> &'static str {
        match self {
            Self::RequestHeaders => "Request headers",
            Self::RequestBody => "Request body",
            Self::ResponseHeaders => "Response headers",
            Self::ResponseBody => "Response body",
        }
    }
}

impl Tool for NetworkRequest {
    const NAME: &'static str = "browser_network_request";
    const TITLE: &'static str = "Show network request details";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let streams = lists_streams(call);
        let found =
            match streams {
                true => tab.page.request(self.index),
                false => tab.page.sent_since(0).into_iter().find(|request| {
                    !is_web_socket(request) && number(request, streams) == self.index
                }),
            };
        let found = found.filter(|it| !is_favicon(it));
        let Some(request) = found else {
            return Ok(Reply::error(Error::RequestNotFound {
                index: self.index,
                list: NetworkRequests::NAME,
            }));
        };
        let file = self.filename.as_deref();
        let Some(part) = self.part else {
            let mut text = details(&request, streams);
            if streams && is_stream(&request) {
                text += &messages(&tab, &request)?;
            }
            return tab.text_or_file(call, text, file, "Network request").await;
        };
        let title = part.title();
        let progress = call.action();
        let (body, mime_type) = match part {
            Portion::RequestHeaders => {
                let text = headers(&request.headers, "");
                return tab.text_or_file(call, text, file, title).await;
            }
            Portion::ResponseHeaders => {
                let response = request.response.as_ref();
                let text = response.map(|response| headers(&response.headers, ""));
                return tab
                    .text_or_file(call, text.unwrap_or_default(), file, title)
                    .await;
            }
            Portion::RequestBody => {
                let body = tab.page.request_body(&progress, &request.id).await?;
                let Some(body) = body else {
                    return Ok(Reply::default());
                };
                (body, String::new())
            }
            // A request without a response has no response body.
            Portion::ResponseBody if request.response.is_none() => return Ok(Reply::default()),
            Portion::ResponseBody => {
                let mime_type = request
                    .response
                    .as_ref()
                    .map(|response| response.mime_type.clone())
                    .unwrap_or_default();
                let body = tab.page.response_body(&progress, &request.id).await?;
                (body, mime_type)
            }
        };
        match String::from_utf8(body) {
            Ok(text) => tab.text_or_file(call, text, file, title).await,
            Err(binary) => {
                let prefix = match part {
                    Portion::RequestBody => "request",
                    _ => "response",
                };
                let link =
                    save_body(&tab, call, binary.into_bytes(), prefix, &mime_type, file).await?;
                Ok(Reply::text(link))
            }
        }
    }
}

/// Writes a binary body to a file. Returns a link to the file.
pub(in crate::tools) async fn save_body(
    tab: &TabInAnyState,
    call: &Call,
    body: Vec<u8>,
    prefix: &str,
    mime_type: &str,
    filename: Option<&str>,
) -> Result<String> {
    let files = tab.files(call).await;
    let file = files.file(filename, prefix, extension(mime_type)).await?;
    files
        .write_as(&file, body, call.tool.is_sensitive())
        .await?;
    Ok(file.link)
}

/// Returns whether a request succeeded and was not made by `fetch` or XMLHttpRequest. The list leaves them out by default.
fn is_static(request: &Request) -> bool {
    let succeeded = request
        .response
        .as_ref()
        .is_some_and(|response| response.status < 400)
        || (request.response.is_none() && !failed(request));
    succeeded && !matches!(request.resource_type.as_str(), "fetch" | "xhr")
}

/// Returns whether a request failed, or the status of its response is an error. A request that was cancelled did not fail.
pub(crate) fn has_error(request: &Request) -> bool {
    let is_refused = request
        .response
        .as_ref()
        .is_some_and(|response| response.status >= 400);
    let is_failed = matches!(
        &request.outcome,
        Some(RequestOutcome::Failed {
            cancelled: false,
            ..
        })
    );
    is_refused || is_failed
}

fn failed(request: &Request) -> bool {
    matches!(request.outcome, Some(RequestOutcome::Failed { .. }))
}

/// Returns whether WebSockets are listed. Playwright reports no requests for them.
fn lists_streams(call: &Call) -> bool {
    call.settings.answers.style != AnswerStyle::Playwright
}

fn is_web_socket(request: &Request) -> bool {
    request.resource_type == "websocket"
}

/// Returns whether messages follow the response to a request.
fn is_stream(request: &Request) -> bool {
    is_web_socket(request) || request.resource_type == "eventsource"
}

/// Returns the number of a request in the list. Without WebSockets, later requests have lower numbers.
fn number(request: &Request, streams: bool) -> u64 {
    match streams {
        true => request.number,
        false => request.number - request.sockets_before,
    }
}

/// The longest payload of a message in an answer, in bytes.
const MAX_PAYLOAD: usize = 2_000;

/// Returns the messages of a WebSocket or of an event source, oldest first.
fn messages(tab: &TabInAnyState, request: &Request) -> Result<String> {
    let log = tab.page.stream_messages(&request.id);
    let is_socket = is_web_socket(request);
    let mut text = format!("\n\n  {}\n", if is_socket { "Frames" } else { "Events" });
    if let Err(reason) = tab.require_messages(is_socket) {
        return Ok(text + &format!("    {reason}"));
    }
    if log.removed > 0 {
        text += &format!("    ({} older ones are no longer stored)\n", log.removed);
    }
    for message in &log.messages {
        let after = message.at.duration_since(request.sent).unwrap_or_default();
        let kind = match &message.kind {
            StreamMessageKind::Sent(opcode) => format!("sent {}", opcode_name(*opcode)),
            StreamMessageKind::Received(opcode) => format!("received {}", opcode_name(*opcode)),
            StreamMessageKind::Event { name, id } if id.is_empty() => name.clone(),
            StreamMessageKind::Event { name, id } => format!("{name} (id {id})"),
        };
        let shown = message.payload.floor_char_boundary(MAX_PAYLOAD);
        let rest = match message.length - shown {
            0 => String::new(),
            rest => format!("… ({rest} more bytes)"),
        };
        text += &format!(
            "    +{}ms {kind}: {}{rest}\n",
            after.as_millis(),
            message.payload[..shown].replace('\n', "\n      ")
        );
    }
    if log.messages.is_empty() {
        text += "    none";
    }
    Ok(text.trim_end().to_owned())
}

/// <https://www.rfc-editor.org/rfc/rfc6455#section-5.2>
pub(in crate::tools) fn opcode_name(opcode: u8) -> &'static str {
    match opcode {
        0 => "continuation",
        1 => "text",
        2 => "binary",
        8 => "close",
        9 => "ping",
        10 => "pong",
        _ => "reserved",
    }
}

/// Returns whether the browser requested the icon of the page by itself.
pub(crate) fn is_favicon(request: &Request) -> bool {
    request.resource_type == "other" && request.url.ends_with("/favicon.ico")
}

/// Returns number, method, URL and outcome of a request.
pub(crate) fn summary(request: &Request) -> String {
    let facts: Vec<_> = status(request)
        .into_iter()
        .chain(failure(request).map(|reason| format!("[FAILED] {reason}")))
        .collect();
    let line = request_line(request);
    let mut summary = match facts.as_slice() {
        [] => line,
        facts => format!("{line} => {}", facts.join(" ")),
    };
    // A dedicated worker belongs to the page.
    if let Some(worker) = &request.worker
        && worker.kind != WorkerKind::Dedicated
    {
        summary += &format!(" ({} worker {})", worker.kind, worker.url);
    }
    summary
}

/// Returns the status of the response, as code and text.
fn status(request: &Request) -> Option<String> {
    let response = request.response.as_ref()?;
    let status = format!("[{}] {}", response.status, response.status_text);
    Some(status.trim_end().to_owned())
}

/// Returns the reason why a request failed, unless the status of its response is an error. A browser aborts the loading of a script whose
/// status is an error.
fn failure(request: &Request) -> Option<String> {
    let is_refused = |response: &ResponseFacts| response.status >= 400;
    match &request.outcome {
        Some(RequestOutcome::Failed { reason, .. })
            if !request.response.as_ref().is_some_and(is_refused) =>
        {
            Some(reason.to_string())
        }
        _ => None,
    }
}

/// Returns method and URL of a request. The content of a `data:` URL is left out.
fn request_line(request: &Request) -> String {
    let url = match request.url.split_once(',') {
        Some((start, _)) if start.starts_with("data:") => format!("{start},…"),
        _ => request.url.clone(),
    };
    format!("[{}] {url}", request.method)
}

fn details(request: &Request, streams: bool) -> String {
    let mut text = format!(
        "#{} [{}] {}\n\n  General\n",
        number(request, streams),
        request.method,
        request.url
    );
    let mut general = |name: &str, value: &str| {
        if !value.is_empty() {
            let name = format!("{name}:");
            text += &format!("    {name:<10} {value}\n");
        }
    };
    match (status(request), failure(request)) {
        (None, Some(reason)) => general("status", &format!("[FAILED] {reason}")),
        (status, failure) => {
            general("status", &status.unwrap_or_default());
            general("failure", &failure.unwrap_or_default());
        }
    }
    if let Some(duration) = request.duration {
        general("duration", &format!("{}ms", duration.as_millis()));
    }
    general("type", &request.resource_type);
    if let Some(worker) = &request.worker
        && (streams || worker.kind != WorkerKind::Dedicated)
    {
        general("worker", &format!("{} {}", worker.kind, worker.url));
    }
    if let Some(response) = &request.response {
        general("mimeType", &response.mime_type);
    }
    if !request.headers.is_empty() {
        text += &format!(
            "\n  Request headers\n{}\n",
            headers(&request.headers, "    ")
        );
    }
    if let Some(response) = &request.response
        && !response.headers.is_empty()
    {
        text += &format!(
            "\n  Response headers\n{}\n",
            headers(&response.headers, "    ")
        );
    }
    for (there, part, noun) in [
        (request.has_body, "request-body", "request body"),
        (
            request.response.is_some() && !failed(request) && !is_web_socket(request),
            "response-body",
            "response body",
        ),
    ] {
        if there {
            text +=
                &format!("\nCall browser_network_request with part=\"{part}\" to read the {noun}.");
        }
    }
    text.trim_end().to_owned()
}

fn headers(headers: &[(String, String)], indent: &str) -> String {
    let lines: Vec<_> = headers
        .iter()
        .flat_map(|(name, value)| {
            let (name, values) = values(name, value);
            let line = move |value| format!("{indent}{name}: {value}");
            values.into_iter().map(line)
        })
        .collect();
    lines.join("\n")
}

/// Returns the lower-case name of a header and its values, each of which needs a line. Values of headers with the same name are separated
/// by line breaks; all but those of cookies are joined.
pub(in crate::tools) fn values(name: &str, value: &str) -> (String, Vec<String>) {
    let name = name.to_lowercase();
    let values = match name.as_str() {
        "set-cookie" => value.lines().map(str::to_owned).collect(),
        _ => vec![value.lines().collect::<Vec<_>>().join(", ")],
    };
    (name, values)
}

/// Returns the file extension for a media type.
fn extension(mime_type: &str) -> &str {
    match mime_type.split_once('/') {
        Some((_, "jpeg")) => "jpeg",
        Some((_, "svg+xml")) => "svg",
        Some((_, kind)) if kind.chars().all(|char| char.is_ascii_alphanumeric()) => kind,
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::headers;

    #[test]
    fn a_header_has_one_line_and_each_cookie_its_own() {
        let given = [("Vary", "Origin\nAccept"), ("set-cookie", "a=1\nb=2")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let lines = "  vary: Origin, Accept\n  set-cookie: a=1\n  set-cookie: b=2";
        assert_eq!(headers(&given, "  "), lines);
    }
}
