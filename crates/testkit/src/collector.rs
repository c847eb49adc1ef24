//! A stand-in for an OpenTelemetry collector, which receives traces with OTLP over HTTP.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::{Span, status::StatusCode as SpanStatus};
use prost::Message as _;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::eventually;

/// A running collector, which stops when this is dropped.
pub struct Collector {
    url: String,
    received: Arc<Mutex<Received>>,
    /// The tasks, which end when this is dropped.
    _server: JoinSet<()>,
}

#[derive(Default)]
struct Received {
    spans: Vec<ExportedSpan>,
    headers: Vec<HeaderMap>,
    bytes: Vec<u8>,
}

/// A span that was exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedSpan {
    /// The trace id, in hexadecimal digits.
    pub trace: String,
    /// The id.
    pub id: String,
    /// The id of the parent; empty without one.
    pub parent: String,
    /// The name.
    pub name: String,
    /// The kind as in OTLP: 1 is internal, 2 server, 3 client.
    pub kind: i32,
    /// The attributes, as text.
    pub attributes: BTreeMap<String, String>,
    /// The attributes of the process.
    pub resource: BTreeMap<String, String>,
    /// The ids of linked spans.
    pub links: Vec<String>,
    /// Whether the status is an error.
    pub is_error: bool,
    /// The number of span events.
    pub events: usize,
    /// The duration in nanoseconds.
    pub duration: u64,
}

impl ExportedSpan {
    /// Returns an attribute; empty if there is none of that name.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    fn new(span: Span, resource: &BTreeMap<String, String>) -> Self {
        let status = span.status.map(|status| status.code());
        Self {
            trace: hex(&span.trace_id),
            id: hex(&span.span_id),
            parent: hex(&span.parent_span_id),
            name: span.name,
            kind: span.kind,
            attributes: texts(&span.attributes),
            resource: resource.clone(),
            links: span.links.iter().map(|link| hex(&link.span_id)).collect(),
            is_error: status == Some(SpanStatus::Error),
            events: span.events.len(),
            duration: span
                .end_time_unix_nano
                .saturating_sub(span.start_time_unix_nano),
        }
    }
}

impl Collector {
    /// Starts a collector on a free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let received = Arc::<Mutex<Received>>::default();
        let router = Router::new()
            .route("/v1/traces", post(receive))
            .with_state(received.clone());
        let mut server = JoinSet::new();
        server.spawn(async move {
            axum::serve(listener, router).await.expect("it serves");
        });
        Self {
            url: format!("http://{address}"),
            received,
            _server: server,
        }
    }

    /// Returns the endpoint, without the path of traces.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns all spans so far.
    pub fn spans(&self) -> Vec<ExportedSpan> {
        self.lock().spans.clone()
    }

    /// Waits for a span with this name, and returns all spans of its trace, whose other spans end before it.
    pub async fn trace(&self, name: &str) -> Vec<ExportedSpan> {
        eventually(async || {
            let spans = self.spans();
            let root = spans.iter().find(|span| span.name == name);
            let root = root.ok_or_else(|| format!("no span {name}"))?;
            let all = spans.iter().filter(|span| span.trace == root.trace);
            Ok::<_, String>(all.cloned().collect())
        })
        .await
    }

    /// Returns the headers of each request.
    pub fn headers(&self) -> Vec<HeaderMap> {
        self.lock().headers.clone()
    }

    /// Returns whether any request contained the text.
    pub fn contains(&self, text: &str) -> bool {
        let received = self.lock();
        let mut windows = received.bytes.windows(text.len());
        windows.any(|window| window == text.as_bytes())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn receive(
    State(received): State<Arc<Mutex<Received>>>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let kind = headers.get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| kind != "application/x-protobuf") {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE;
    }
    let Ok(request) = ExportTraceServiceRequest::decode(&body[..]) else {
        return StatusCode::BAD_REQUEST;
    };
    let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
    received.headers.push(headers);
    received.bytes.extend_from_slice(&body);
    for group in request.resource_spans {
        let resource = group.resource.unwrap_or_default();
        let resource = texts(&resource.attributes);
        let spans = group.scope_spans.into_iter().flat_map(|scope| scope.spans);
        let spans = spans.map(|span| ExportedSpan::new(span, &resource));
        received.spans.extend(spans);
    }
    StatusCode::OK
}

fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |attribute: &KeyValue| {
        let value = attribute.value.clone().and_then(|value| value.value);
        let value = match value {
            Some(any_value::Value::StringValue(text)) => text,
            Some(any_value::Value::IntValue(number)) => number.to_string(),
            Some(any_value::Value::BoolValue(value)) => value.to_string(),
            other => format!("{other:?}"),
        };
        (attribute.key.clone(), value)
    };
    attributes.iter().map(text).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
