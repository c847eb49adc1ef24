//! What identifies a request in the log, in the audit log, in traces and in answers.

use http::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::propagation::Extractor;
use std::fmt;
use std::sync::Arc;

/// The HTTP header with the identifier of a request and of its response.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The HTTP headers and members of `_meta` with the trace context. <https://www.w3.org/TR/trace-context/>
const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";

/// The longest identifier that is accepted from a client.
const MAX_LENGTH: usize = 128;

/// The identifier of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    /// Returns a new identifier.
    pub(crate) fn generate() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string().into())
    }

    /// Returns the identifier of an HTTP request: its `X-Request-Id`, else the trace id of its `traceparent`, else a new one.
    pub(crate) fn of_headers(headers: &HeaderMap) -> Self {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let own = header(REQUEST_ID.as_str()).filter(|id| is_valid(id));
        let id = own.or_else(|| trace_id(header(TRACEPARENT)?));
        id.map_or_else(Self::generate, |id| Self(id.into()))
    }

    /// Returns the identifier as the value of a header.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&self.0).ok()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns whether an identifier of a client can be logged as it is.
fn is_valid(id: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:=+/@".contains(&byte);
    (1..=MAX_LENGTH).contains(&id.len()) && id.bytes().all(is_allowed)
}

/// Returns the trace id of a `traceparent`.
fn trace_id(traceparent: &str) -> Option<&str> {
    let id = traceparent.split('-').nth(1)?;
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id && id.bytes().any(|byte| byte != b'0')).then_some(id)
}

/// The trace context of a client, as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TraceHeaders {
    /// `traceparent`.
    pub(crate) parent: Option<String>,
    /// `tracestate`.
    pub(crate) state: Option<String>,
}

impl TraceHeaders {
    /// Returns the trace context of an HTTP request.
    pub(crate) fn of_headers(headers: &HeaderMap) -> Self {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            parent: header(TRACEPARENT).map(str::to_owned),
            state: header(TRACESTATE).map(str::to_owned),
        }
    }
}

impl Extractor for TraceHeaders {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            TRACEPARENT => self.parent.as_deref(),
            TRACESTATE => self.state.as_deref(),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT, TRACESTATE]
    }
}

/// What identifies a request.
#[derive(Debug, Clone)]
pub(crate) struct RequestInfo {
    /// The identifier of the request.
    pub(crate) id: RequestId,
    /// The JSON-RPC id.
    pub(crate) json_rpc_id: Option<String>,
    /// The id of the MCP session over HTTP.
    pub(crate) mcp_session: Option<String>,
    /// The revision of MCP that the request names.
    pub(crate) mcp_version: Option<String>,
    /// The trace context in `_meta`.
    pub(crate) message_trace: TraceHeaders,
    /// The trace context of the HTTP request.
    pub(crate) http_trace: TraceHeaders,
}

impl RequestInfo {
    /// Returns a request that begins in this process.
    pub(crate) fn internal() -> Self {
        Self {
            id: RequestId::generate(),
            json_rpc_id: None,
            mcp_session: None,
            mcp_version: None,
            message_trace: TraceHeaders::default(),
            http_trace: TraceHeaders::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "00-0123456789012345678901234567890a-0011223344556677-01";

    fn id(headers: &[(&'static str, &'static str)]) -> String {
        let headers = headers.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        RequestId::of_headers(&headers.collect()).to_string()
    }

    #[test]
    fn a_request_has_the_id_of_its_client_or_of_its_trace() {
        let own = ("x-request-id", "a/B-1:2");
        assert_eq!(id(&[own, ("traceparent", TRACE)]), "a/B-1:2");
        assert_eq!(
            id(&[("traceparent", TRACE)]),
            "0123456789012345678901234567890a"
        );
    }

    #[test]
    fn an_unusable_id_is_replaced() {
        let no_trace = "00-00000000000000000000000000000000-0011223344556677-01";
        for headers in [
            ("x-request-id", ""),
            ("x-request-id", "a b"),
            ("x-request-id", "a\"b"),
            ("traceparent", "00-4bf9-00f0-01"),
            ("traceparent", no_trace),
        ] {
            let made = id(&[headers]);
            assert_eq!(made.len(), 32, "{headers:?} {made}");
            assert_ne!(made, id(&[headers]));
        }
    }
}
