//! WebKit's network events in the engine's words.

use super::page::{RequestRecord, WebDriverPage};
use crate::backend::{
    Feature, FrameId, Headers, LoaderId, PageEvent, RequestEvent, RequestId, ResponseFacts,
};
use crate::error::Result;
use base64::Engine as _;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Requests whose facts are kept for whoever asks later.
const MAX_REQUESTS: usize = 2_000;
/// Bodies of requests that are told with them.
const MAX_INLINE_BODY: usize = 64 * 1024;
/// What Chromium calls a request that was given up, and so do we.
pub(super) const ABORTED: &str = "net::ERR_ABORTED";

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RequestWillBeSent {
    request_id: String,
    frame_id: String,
    loader_id: String,
    request: Request,
    timestamp: f64,
    #[serde(rename = "type")]
    kind: String,
    redirect_response: Option<Response>,
    initiator: Initiator,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Initiator {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Request {
    pub(super) url: String,
    pub(super) method: String,
    pub(super) headers: Map<String, Value>,
    pub(super) post_data: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ResponseReceived {
    request_id: String,
    timestamp: f64,
    response: Response,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Response {
    status: u16,
    status_text: String,
    headers: Map<String, Value>,
    mime_type: String,
    source: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct DataReceived {
    request_id: String,
    data_length: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LoadingFinished {
    request_id: String,
    timestamp: f64,
    metrics: Metrics,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metrics {
    request_headers: Option<Map<String, Value>>,
    response_body_bytes_received: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LoadingFailed {
    request_id: String,
    timestamp: f64,
    error_text: String,
    canceled: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Body {
    body: String,
    base64_encoded: bool,
}

impl WebDriverPage {
    pub(super) fn on_request_will_be_sent(&self, event: RequestWillBeSent) {
        let id = event.request_id;
        let is_main = event.frame_id == self.state().main_native;
        let is_document = event.kind == "Document";
        if is_icon(&event.request.url, &event.kind, &event.initiator.kind) {
            return;
        }
        if let Some(redirect) = event.redirect_response {
            self.report(PageEvent::Request(RequestEvent::Responded {
                id: RequestId::from(&id),
                response: redirect.facts(),
                has_raw_headers: false,
                at: event.timestamp,
            }));
        }
        let is_navigation = is_document && is_main;
        if is_navigation {
            self.on_navigation_started(Some(&id), Some(&event.loader_id), &event.request.url);
        }
        let own = matches!(
            event.request.url.split(':').next(),
            Some("data" | "about" | "blob")
        );
        if own && is_document {
            return;
        }
        let frame: Option<FrameId> = is_main.then(|| self.main().clone());
        let kind = resource_type(&event.kind);
        let headers = headers(&event.request.headers);
        let body = event.request.post_data;
        {
            let mut state = self.state();
            if state.sent.len() >= MAX_REQUESTS {
                state.sent.clear();
            }
            state.sent.insert(
                id.clone(),
                RequestRecord {
                    url: event.request.url.clone(),
                    method: event.request.method.clone(),
                    kind,
                    frame: frame.clone(),
                    is_navigation: is_document,
                    body: body.clone(),
                    received: 0,
                    refused: None,
                    file_name: None,
                    brings_nothing: false,
                },
            );
        }
        if let Ok(context) = self.context() {
            context.record_url(&event.request.url);
        }
        self.report(PageEvent::Request(RequestEvent::Started {
            id: id.into(),
            frame,
            loader: is_main.then(|| LoaderId::from(event.loader_id)),
            url: event.request.url,
            method: event.request.method,
            resource_type: kind.to_owned(),
            headers,
            has_body: body.is_some(),
            body: body.filter(|body| body.len() <= MAX_INLINE_BODY),
            is_navigation,
            at: event.timestamp,
        }));
    }

    pub(super) fn on_response_received(&self, event: ResponseReceived) {
        let file_name = file_name(&event.response.headers);
        {
            let mut state = self.state();
            let Some(sent) = state.sent.get_mut(&event.request_id) else {
                return;
            };
            sent.file_name = file_name;
            sent.brings_nothing = matches!(event.response.status, 204 | 205 | 304);
        }
        self.report(PageEvent::Request(RequestEvent::Responded {
            id: event.request_id.into(),
            response: event.response.facts(),
            has_raw_headers: false,
            at: event.timestamp,
        }));
    }

    pub(super) fn on_data_received(&self, event: &DataReceived) {
        if let Some(sent) = self.state().sent.get_mut(&event.request_id) {
            sent.received += event.data_length;
        }
    }

    pub(super) fn on_loading_finished(&self, event: LoadingFinished) {
        let Some(received) = self.received(&event.request_id) else {
            return;
        };
        if let Some(sent) = &event.metrics.request_headers {
            self.report(PageEvent::Request(RequestEvent::HeadersSent {
                id: RequestId::from(&event.request_id),
                headers: headers(sent),
            }));
        }
        self.report(PageEvent::Request(RequestEvent::Finished {
            id: event.request_id.into(),
            size: event
                .metrics
                .response_body_bytes_received
                .unwrap_or(received),
            at: event.timestamp,
        }));
    }

    pub(super) fn on_loading_failed(&self, event: LoadingFailed) {
        let pending = self.is_pending(&event.request_id);
        let sent = self.state().sent.get(&event.request_id).cloned();
        let interrupted = event.error_text == "Frame load interrupted";
        let reason = match sent.as_ref().and_then(|sent| sent.refused) {
            Some(reason) => reason.to_owned(),
            None if event.canceled => ABORTED.to_owned(),
            None => reason(&event.error_text),
        };
        if let Some(sent) = &sent
            && interrupted
            && !sent.brings_nothing
            && let Ok(context) = self.context()
        {
            context.download_expected(self, &sent.url, sent.file_name.clone());
        }
        if sent.is_some() {
            self.report(PageEvent::Request(RequestEvent::Failed {
                id: RequestId::from(&event.request_id),
                reason: reason.clone(),
                cancelled: event.canceled,
                at: event.timestamp,
            }));
        }
        if pending {
            // A document that is saved, or that there is none of, is no failure.
            let told = if interrupted { "" } else { &*reason };
            self.on_navigation_ended(told);
        }
    }

    fn received(&self, request: &str) -> Option<u64> {
        self.state().sent.get(request).map(|sent| sent.received)
    }

    /// What is known of a request that was sent.
    pub(super) fn sent(&self, request: &str) -> Option<RequestRecord> {
        self.state().sent.get(request).cloned()
    }

    /// Remembers why a request is refused.
    pub(super) fn set_abort_reason(&self, request: &str, reason: &'static str) {
        if let Some(sent) = self.state().sent.get_mut(request) {
            sent.refused = Some(reason);
        }
    }

    pub(super) async fn body_of_response(&self, request: &RequestId) -> Result<Vec<u8>> {
        self.require(Feature::Bodies)?;
        let asked = json!({ "requestId": request.as_str() });
        let body: Body = self
            .call_inspector("Network.getResponseBody", &asked)
            .await?;
        if !body.base64_encoded {
            return Ok(body.body.into_bytes());
        }
        let bytes = base64::engine::general_purpose::STANDARD.decode(body.body);
        bytes.map_err(|error| crate::error::Error::Protocol {
            method: "Network.getResponseBody".to_owned(),
            message: error.to_string(),
        })
    }
}

impl Response {
    fn facts(self) -> ResponseFacts {
        ResponseFacts {
            status: self.status,
            status_text: self.status_text,
            headers: headers(&self.headers),
            mime_type: self.mime_type,
            from_cache: matches!(&*self.source, "memory-cache" | "disk-cache"),
            from_service_worker: self.source == "service-worker",
            remote_address: None,
        }
    }
}

/// WebKit looks for a site's icon whoever asks; no page has.
fn is_icon(url: &str, kind: &str, initiator: &str) -> bool {
    kind == "Image" && initiator == "other" && url.ends_with("/favicon.ico")
}

pub(super) fn headers(map: &Map<String, Value>) -> Headers {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    map.iter()
        .map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

pub(super) fn as_map(headers: &Headers) -> Map<String, Value> {
    let entries = headers.iter();
    entries
        .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
        .collect()
}

fn resource_type(kind: &str) -> &'static str {
    match kind {
        "Document" => "document",
        "StyleSheet" => "stylesheet",
        "Image" => "image",
        "Font" => "font",
        "Script" => "script",
        "XHR" => "xhr",
        "Fetch" => "fetch",
        "Ping" | "Beacon" => "ping",
        "WebSocket" => "websocket",
        "EventSource" => "eventsource",
        "Media" => "media",
        _ => "other",
    }
}

/// The name of the file that an answer wants to be saved as. <https://www.rfc-editor.org/rfc/rfc6266#section-4.3>
fn file_name(headers: &Map<String, Value>) -> Option<String> {
    let mut all = headers.iter();
    let (_, value) = all.find(|(name, _)| name.eq_ignore_ascii_case("content-disposition"))?;
    let parameters = || {
        let mut quoted = false;
        let parameters = value.as_str().unwrap_or_default().split(move |char| {
            quoted ^= char == '"';
            char == ';' && !quoted
        });
        parameters.filter_map(|parameter| parameter.split_once('='))
    };
    let is = |wanted: &'static str| {
        move |(name, _): &(&str, &str)| name.trim().eq_ignore_ascii_case(wanted)
    };
    if let Some((_, value)) = parameters().find(is("filename*"))
        && let Some((_, name)) = value.trim().split_once("''")
        && let Ok(name) = percent_encoding::percent_decode_str(name).decode_utf8()
    {
        return Some(name.into_owned());
    }
    let (_, name) = parameters().find(is("filename"))?;
    Some(name.trim().trim_matches('"').to_owned())
}

/// What Chromium calls an error of WebKit's network.
pub(super) fn reason(text: &str) -> String {
    const NAMES: &[(&str, &str)] = &[
        ("Connection refused", "net::ERR_CONNECTION_REFUSED"),
        ("Error resolving", "net::ERR_NAME_NOT_RESOLVED"),
        ("Name or service not known", "net::ERR_NAME_NOT_RESOLVED"),
        ("Connection reset", "net::ERR_CONNECTION_RESET"),
        (
            "Connection terminated unexpectedly",
            "net::ERR_EMPTY_RESPONSE",
        ),
        ("timed out", "net::ERR_CONNECTION_TIMED_OUT"),
        ("Too many redirects", "net::ERR_TOO_MANY_REDIRECTS"),
        (
            "Unacceptable TLS certificate",
            "net::ERR_CERT_AUTHORITY_INVALID",
        ),
        ("Network is unreachable", "net::ERR_INTERNET_DISCONNECTED"),
        (
            "Not allowed to use restricted network port",
            "net::ERR_UNSAFE_PORT",
        ),
        ("Load request cancelled", ABORTED),
        ("Frame load interrupted", ABORTED),
        ("No such file", "net::ERR_FILE_NOT_FOUND"),
        ("URL can’t be shown", "net::ERR_UNKNOWN_URL_SCHEME"),
        ("The URL can", "net::ERR_UNKNOWN_URL_SCHEME"),
    ];
    let named = NAMES.iter().find(|(part, _)| text.contains(part));
    named.map_or("net::ERR_FAILED", |(_, name)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_names_of_chromium() {
        for (text, name) in [
            (
                "Could not connect to 127.0.0.1: Connection refused",
                "net::ERR_CONNECTION_REFUSED",
            ),
            (
                "Error resolving “nosuch.invalid”: Name or service not known",
                "net::ERR_NAME_NOT_RESOLVED",
            ),
            ("Something else", "net::ERR_FAILED"),
        ] {
            assert_eq!(reason(text), name);
        }
    }

    #[test]
    fn attachments_are_named_by_content_disposition() {
        for (value, name) in [
            ("attachment; filename=\"a b.txt\"; size=1", Some("a b.txt")),
            (
                "attachment; filename=rates.csv; FileName*=UTF-8''%e2%82%ac%20rates.csv",
                Some("€ rates.csv"),
            ),
            ("attachment; FILENAME=plain.txt", Some("plain.txt")),
            ("attachment; filename=\"a; b.txt\"", Some("a; b.txt")),
            ("attachment", None),
        ] {
            let headers = json!({ "content-disposition": value });
            let found = file_name(headers.as_object().expect("an object"));
            assert_eq!(found.as_deref(), name, "{value}");
        }
    }
}
