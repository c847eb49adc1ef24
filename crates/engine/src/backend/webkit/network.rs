//! WebKit's network events, and their conversion to the engine's types.

use crate::backend::{Headers, ResponseFacts};
use crate::error::NetError;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RequestWillBeSent {
    pub(super) request_id: String,
    pub(super) frame_id: String,
    pub(super) loader_id: String,
    pub(super) request: Request,
    pub(super) timestamp: f64,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) redirect_response: Option<Response>,
    pub(super) initiator: Initiator,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Initiator {
    #[serde(rename = "type")]
    pub(super) kind: String,
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
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) response: Response,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) status_text: String,
    pub(super) headers: Map<String, Value>,
    pub(super) mime_type: String,
    pub(super) source: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct DataReceived {
    pub(super) request_id: String,
    pub(super) data_length: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LoadingFinished {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) metrics: Metrics,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Metrics {
    pub(super) request_headers: Option<Map<String, Value>>,
    pub(super) response_body_bytes_received: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LoadingFailed {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) error_text: String,
    pub(super) canceled: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WebSocketCreated {
    pub(super) request_id: String,
    pub(super) url: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WebSocketHandshake {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) request: WebSocketHeaders,
    pub(super) response: Response,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WebSocketHeaders {
    pub(super) headers: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WebSocketTransfer {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    pub(super) response: WebSocketFrame,
    pub(super) error_message: String,
}

/// A frame whose payload is text if `opcode` is 1, and Base64 otherwise.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WebSocketFrame {
    pub(super) opcode: u8,
    pub(super) payload_data: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Body {
    pub(super) body: String,
    pub(super) base64_encoded: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Frame {
    pub(super) id: String,
    pub(super) loader_id: String,
    pub(super) parent_id: Option<String>,
    pub(super) name: String,
    pub(super) url: String,
}

/// A frame and those in it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct FrameTree {
    pub(super) frame: Frame,
    pub(super) child_frames: Vec<FrameTree>,
}

/// The execution context of a document.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ExecutionContext {
    pub(super) id: u64,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) frame_id: String,
}

impl Response {
    pub(super) fn facts(self) -> ResponseFacts {
        ResponseFacts {
            status: self.status,
            status_text: self.status_text,
            headers: headers(&self.headers),
            mime_type: self.mime_type,
            from_cache: matches!(&*self.source, "memory-cache" | "disk-cache"),
            from_service_worker: self.source == "service-worker",
            remote_address: None,
            protocol: None,
        }
    }
}

/// Whether a request is for a site's icon: WebKit sends it, and no page.
pub(super) fn is_icon(url: &str, kind: &str, initiator: &str) -> bool {
    kind == "Image" && initiator == "other" && url.ends_with("/favicon.ico")
}

pub(super) fn headers(map: &Map<String, Value>) -> Headers {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let named = map.iter().flat_map(|(name, value)| {
        let value = text(value);
        let values = match name.eq_ignore_ascii_case("set-cookie") {
            true => cookies(&value),
            false => vec![value],
        };
        values.into_iter().map(|value| (name.clone(), value))
    });
    named.collect()
}

/// Splits the values of several `Set-Cookie` headers, which WebKit joins with commas. A date contains a comma, too, but no name and `=`
/// follow it. <https://www.rfc-editor.org/rfc/rfc6265#section-4.1.1>
fn cookies(joined: &str) -> Vec<String> {
    let mut cookies: Vec<String> = Vec::new();
    for part in joined.split(", ") {
        let name = part.split(['=', ';']).next().unwrap_or_default();
        let begins = part[name.len()..].starts_with('=') && !name.contains(char::is_whitespace);
        match cookies.last_mut() {
            Some(cookie) if !begins => {
                cookie.push_str(", ");
                cookie.push_str(part);
            }
            _ => cookies.push(part.to_owned()),
        }
    }
    cookies
}

pub(super) fn as_map(headers: &Headers) -> Map<String, Value> {
    let entries = headers.iter();
    entries
        .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
        .collect()
}

pub(super) fn resource_type(kind: &str) -> &'static str {
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

/// Returns the file name in the headers of a response. <https://www.rfc-editor.org/rfc/rfc6266#section-4.3>
pub(super) fn file_name(headers: &Map<String, Value>) -> Option<String> {
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

/// Returns the net error for an error text of WebKit.
pub(super) fn net_error(text: &str) -> NetError {
    const NAMES: &[(&str, NetError)] = &[
        ("Connection refused", NetError::ConnectionRefused),
        ("Error resolving", NetError::NameNotResolved),
        ("Name or service not known", NetError::NameNotResolved),
        ("Connection reset", NetError::ConnectionReset),
        (
            "Connection terminated unexpectedly",
            NetError::EmptyResponse,
        ),
        ("timed out", NetError::ConnectionTimedOut),
        ("Too many redirects", NetError::TooManyRedirects),
        (
            "Unacceptable TLS certificate",
            NetError::CertAuthorityInvalid,
        ),
        ("Network is unreachable", NetError::InternetDisconnected),
        (
            "Not allowed to use restricted network port",
            NetError::UnsafePort,
        ),
        ("Load request cancelled", NetError::Aborted),
        ("Frame load interrupted", NetError::Aborted),
        ("No such file", NetError::FileNotFound),
        ("URL can’t be shown", NetError::UnknownUrlScheme),
        ("The URL can", NetError::UnknownUrlScheme),
    ];
    let named = NAMES.iter().find(|(part, _)| text.contains(part));
    named.map_or(NetError::Failed, |(_, error)| error.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_are_translated_to_net_errors() {
        for (text, name) in [
            (
                "Could not connect to 127.0.0.1: Connection refused",
                NetError::ConnectionRefused,
            ),
            (
                "Error resolving “nosuch.invalid”: Name or service not known",
                NetError::NameNotResolved,
            ),
            ("Something else", NetError::Failed),
        ] {
            assert_eq!(net_error(text), name);
        }
    }

    #[test]
    fn joined_cookies_are_split_but_not_in_their_dates() {
        let first = "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/";
        let joined =
            json!({ "Set-Cookie": format!("{first}, b=; HttpOnly, c=x=y"), "Vary": "a, b=c" });
        let all = headers(joined.as_object().expect("an object"));
        let values: Vec<_> = all.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, [first, "b=; HttpOnly", "c=x=y", "a, b=c"]);
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
