//! Entries of an HTTP archive. <http://www.softwareishard.com/blog/har-12-spec/#entries>

use crate::timestamp::timestamp;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::{
    Headers, Request, RequestOutcome, ResponseFacts, StreamMessage, StreamMessageKind,
    StreamMessages,
};
use serde_json::{Map, Value, json};
use std::time::{Duration, SystemTime};
use url::Url;

/// The bodies of a request and of its response.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    pub(crate) request: Body,
    pub(crate) response: Body,
    /// The frames of the WebSocket.
    pub(crate) messages: StreamMessages,
}

impl Bodies {
    /// Returns the number of bytes of both bodies.
    pub(crate) fn size(&self) -> usize {
        self.request.len() + self.response.len()
    }

    /// Leaves out the bytes of both bodies.
    pub(crate) fn leave_out(&mut self, reason: &'static str) {
        self.request.leave_out(reason);
        self.response.leave_out(reason);
    }
}

/// The body of a request or of a response.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Body {
    /// The complete body.
    Bytes(Vec<u8>),
    /// There is no body.
    #[default]
    None,
    /// The body is not in the archive, for this reason.
    LeftOut(&'static str),
}

impl Body {
    /// Returns the number of bytes.
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::None | Self::LeftOut(_) => 0,
        }
    }

    /// Leaves out the bytes, if there are any.
    fn leave_out(&mut self, reason: &'static str) {
        if matches!(self, Self::Bytes(_)) {
            *self = Self::LeftOut(reason);
        }
    }
}

/// Returns the entry of a request on a page of the archive.
pub(crate) fn entry(page: &str, request: &Request, bodies: Bodies) -> Value {
    let (total, wait) = (request.duration, request.answered);
    let total = total.or(wait).unwrap_or_default();
    let wait = wait.unwrap_or_default().min(total);
    let mut entry = json!({
        "pageref": page,
        "startedDateTime": timestamp(request.sent),
        "time": milliseconds(total),
        "request": sent(request, bodies.request),
        "response": received(request, bodies.response),
        "cache": {},
        "timings": {
            "send": 0,
            "wait": milliseconds(wait),
            "receive": milliseconds(total - wait),
        },
        "_resourceType": request.resource_type,
    });
    let address = request.response.as_ref();
    let address = address.and_then(|response| response.remote_address.as_deref());
    if let Some((address, port)) = address.and_then(|address| address.rsplit_once(':')) {
        entry["serverIPAddress"] = address.trim_matches(['[', ']']).into();
        entry["connection"] = port.into();
    }
    if request.resource_type == "websocket" {
        let StreamMessages { messages, removed } = bodies.messages;
        entry["_webSocketMessages"] = messages.iter().filter_map(frame).collect();
        if removed > 0 {
            entry["comment"] = format!("{removed} older messages are left out").into();
        }
    }
    entry
}

fn sent(request: &Request, body: Body) -> Value {
    let query = Url::parse(&request.url).ok();
    let query: Vec<Value> = query.iter().flat_map(Url::query_pairs).map(pair).collect();
    let protocol = request.response.as_ref().and_then(protocol);
    let mut sent = json!({
        "method": request.method,
        "url": request.url,
        "httpVersion": protocol.unwrap_or_default(),
        "cookies": sent_cookies(&request.headers),
        "headers": headers(&request.headers),
        "queryString": query,
        "headersSize": -1,
        "bodySize": body.len(),
    });
    match body {
        Body::Bytes(bytes) => sent["postData"] = posted(&request.headers, bytes),
        Body::None => {}
        // With `postData`, a replay would match only requests with this body.
        Body::LeftOut(reason) => sent["comment"] = reason.into(),
    }
    sent
}

fn posted(headers: &Headers, body: Vec<u8>) -> Value {
    let mime_type = header(headers, "content-type").unwrap_or_default();
    let mut data = text(body);
    data["mimeType"] = mime_type.into();
    if mime_type.starts_with("application/x-www-form-urlencoded")
        && let Some(text) = data["text"].as_str()
    {
        let pairs = url::form_urlencoded::parse(text.as_bytes());
        data["params"] = pairs.map(pair).collect();
    }
    data
}

fn received(request: &Request, body: Body) -> Value {
    let none = ResponseFacts::default();
    let response = request.response.as_ref();
    let facts = response.unwrap_or(&none);
    let (mut content, size) = match body {
        Body::Bytes(bytes) => {
            let size = bytes.len();
            (text(bytes), size)
        }
        Body::None => (json!({}), 0),
        Body::LeftOut(reason) => (json!({ "comment": reason }), 0),
    };
    content["size"] = size.into();
    content["mimeType"] = match &*facts.mime_type {
        "" => "x-unknown",
        known => header(&facts.headers, "content-type").unwrap_or(known),
    }
    .into();
    let transferred = match &request.outcome {
        Some(RequestOutcome::Finished { size }) => i64::try_from(*size).unwrap_or(-1),
        _ => -1,
    };
    let mut received = json!({
        // Playwright's value for a request without a response.
        "status": response.map_or(-1, |facts| i64::from(facts.status)),
        "statusText": facts.status_text,
        "httpVersion": protocol(facts).unwrap_or_default(),
        "cookies": received_cookies(&facts.headers),
        "headers": headers(&facts.headers),
        "content": content,
        "redirectURL": request.redirected_to.as_deref().unwrap_or_default(),
        "headersSize": -1,
        "bodySize": -1,
        "_transferSize": transferred,
    });
    if let Some(RequestOutcome::Failed { reason, .. }) = &request.outcome {
        received["_failureText"] = reason.to_string().into();
    }
    received
}

/// Returns `text`, and `encoding` if the bytes are not UTF-8.
fn text(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(binary) => json!({
            "text": BASE64_STANDARD.encode(binary.as_bytes()),
            "encoding": "base64",
        }),
    }
}

fn frame(message: &StreamMessage) -> Option<Value> {
    let (direction, opcode) = match message.kind {
        StreamMessageKind::Sent(opcode) => ("send", opcode),
        StreamMessageKind::Received(opcode) => ("receive", opcode),
        StreamMessageKind::Event { .. } => return None,
    };
    let time = message.at.duration_since(SystemTime::UNIX_EPOCH);
    Some(json!({
        "type": direction,
        "time": time.unwrap_or_default().as_secs_f64(),
        "opcode": opcode,
        "data": message.payload,
    }))
}

fn protocol(response: &ResponseFacts) -> Option<String> {
    let protocol = response.protocol.as_deref()?;
    Some(match protocol {
        "h2" => "HTTP/2.0".to_owned(),
        "h3" => "HTTP/3.0".to_owned(),
        other => other.to_ascii_uppercase(),
    })
}

/// Headers of the same name are one header whose values are separated by line breaks.
fn headers(headers: &Headers) -> Vec<Value> {
    let each = headers.iter().flat_map(|(name, value)| {
        let name = name.as_str();
        value.split('\n').map(move |value| pair((name, value)))
    });
    each.collect()
}

pub(crate) fn header<'a>(headers: &'a Headers, wanted: &str) -> Option<&'a str> {
    let mut headers = headers.iter();
    let found = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    found.map(|(_, value)| value.as_str())
}

fn sent_cookies(headers: &Headers) -> Vec<Value> {
    let all = header(headers, "cookie").unwrap_or_default();
    let each = all
        .split([';', '\n'])
        .filter_map(|cookie| cookie.split_once('='));
    each.map(|(name, value)| pair((name.trim(), value.trim())))
        .collect()
}

/// <https://www.rfc-editor.org/rfc/rfc6265#section-5.2>
fn received_cookies(headers: &Headers) -> Vec<Value> {
    let is_cookie = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("set-cookie");
    // Browsers report several as one header with several lines, or as several headers.
    let all = headers.iter().filter(is_cookie);
    let cookie = |line: &str| {
        let mut parts = line.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        let mut cookie = Map::from_iter([
            ("name".to_owned(), name.into()),
            ("value".to_owned(), value.into()),
        ]);
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            match &*name.to_ascii_lowercase() {
                "path" => drop(cookie.insert("path".to_owned(), value.into())),
                "domain" => drop(cookie.insert("domain".to_owned(), value.into())),
                "samesite" => drop(cookie.insert("sameSite".to_owned(), value.into())),
                "httponly" => drop(cookie.insert("httpOnly".to_owned(), true.into())),
                "secure" => drop(cookie.insert("secure".to_owned(), true.into())),
                _ => {}
            }
        }
        Some(Value::Object(cookie))
    };
    all.flat_map(|(_, value)| value.lines())
        .filter_map(cookie)
        .collect()
}

fn pair<N: AsRef<str>, V: AsRef<str>>((name, value): (N, V)) -> Value {
    json!({ "name": name.as_ref(), "value": value.as_ref() })
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_those_of_all_headers_and_of_all_their_lines() {
        let header = |value: &str| ("Set-Cookie".to_owned(), value.to_owned());
        for headers in [
            vec![header("a=1\nb=2; Path=/")],
            vec![header("a=1"), header("b=2; Path=/")],
        ] {
            let cookies = json!([
                { "name": "a", "value": "1" },
                { "name": "b", "value": "2", "path": "/" },
            ]);
            assert_eq!(Value::from(received_cookies(&headers)), cookies);
        }
    }
}
