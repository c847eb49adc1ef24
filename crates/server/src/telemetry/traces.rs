//! Export of spans to an OpenTelemetry collector: OTLP over HTTP with Protocol Buffers, in batches, on a thread of its own.

use super::metrics::{METRICS, SpanOutcome};
use super::request::{RequestInfo, TraceHeaders};
use crate::config::TraceSettings;
use async_trait::async_trait;
use engine::{COMMAND_SPAN, TELEMETRY};
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry::{Context, Key, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, Span, SpanData, SpanExporter,
    SpanProcessor,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tracing::subscriber::Subscriber;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::dynamic_filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// The largest number of spans that wait for their export. A click has about twenty.
const MAX_QUEUED_SPANS: usize = 8_192;

/// The longest time that the last export may delay the end of the process.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The largest response of a collector that is read, in bytes.
const MAX_RESPONSE: u64 = 64 * 1024;

/// The name of the service without `OTEL_SERVICE_NAME`.
const SERVICE: &str = "playhouse";

/// The running export. Dropping it exports the last spans.
pub(crate) struct Traces(SdkTracerProvider);

impl Traces {
    /// Begins the export. Fails if an `OTEL_*` variable is invalid.
    pub(crate) fn begin(settings: &TraceSettings) -> Result<Self, String> {
        let client = ureq::Agent::config_builder()
            .timeout_global(Some(settings.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("playhouse/", env!("CARGO_PKG_VERSION")))
            .build();
        let mut exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(Collector(client.into()))
            .with_protocol(Protocol::HttpBinary);
        if let Some(url) = &settings.url {
            exporter = exporter.with_endpoint(url);
        }
        let exporter = exporter.build().map_err(|error| error.to_string())?;
        let queued = Arc::new(AtomicUsize::new(0));
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(MAX_QUEUED_SPANS)
            .build();
        let exporter = ReportingExporter {
            exporter,
            queued: queued.clone(),
            is_failing: AtomicBool::new(false),
        };
        let batches = BatchSpanProcessor::builder(exporter)
            .with_batch_config(batches)
            .build();
        let provider = SdkTracerProvider::builder()
            .with_resource(resource())
            .with_span_processor(BoundedProcessor { batches, queued })
            .build();
        Ok(Self(provider))
    }

    /// Returns the layer that exports spans. Commands outside a call, such as those that answer events of pages, are left out.
    pub(crate) fn layer<S>(&self) -> Box<dyn Layer<S> + Send + Sync>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        let is_exported = dynamic_filter_fn(|metadata, context| {
            metadata.is_span()
                && metadata.target() == TELEMETRY
                && (metadata.name() != COMMAND_SPAN || context.lookup_current().is_some())
        });
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_level(false)
            .with_tracked_inactivity(false)
            .with_filter(is_exported)
            .boxed()
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        // The exporter has reported failures.
        let _ = self.0.shutdown_with_timeout(FLUSH_TIMEOUT);
    }
}

/// Makes the span of a call a child of the span of its client: of the one in `_meta`, else of the one of the HTTP request. If there are
/// both, the latter is a link, as the semantic conventions of MCP demand.
pub(super) fn set_parent(span: &tracing::Span, request: &RequestInfo) {
    let context_of = |headers: &TraceHeaders| {
        headers.parent.as_ref()?;
        let context = TraceContextPropagator::new().extract_with_context(&Context::new(), headers);
        let is_valid = context.span().span_context().is_valid();
        is_valid.then_some(context)
    };
    if span.is_disabled() {
        return;
    }
    let message = context_of(&request.message_trace);
    let http = context_of(&request.http_trace);
    if let (Some(_), Some(http)) = (&message, &http) {
        span.add_link(http.span().span_context().clone());
    }
    if let Some(parent) = message.or(http) {
        // Fails without the layer that exports spans.
        let _ = span.set_parent(parent);
    }
}

/// Ends the span of a call now. Otherwise it would end with its last part, such as a command that a dialog holds up.
pub(super) fn end(span: &tracing::Span) {
    if !span.is_disabled() {
        span.context().span().end();
    }
}

/// Describes this process.
fn resource() -> Resource {
    let detected = Resource::builder();
    let name = Key::from_static_str("service.name");
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let detected = detected.with_attribute(version).build();
    let has_name = detected
        .get(&name)
        .is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    match has_name {
        true => detected,
        false => Resource::builder_empty()
            .with_attributes(
                detected
                    .iter()
                    .map(|(key, value)| KeyValue::new(key.clone(), value.clone())),
            )
            .with_service_name(SERVICE)
            .build(),
    }
}

/// The HTTP client of the exporter. It blocks, because the exporter has its own thread.
#[derive(Debug)]
struct Collector(ureq::Agent);

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let request = Request::from_parts(parts, &body[..]);
        let (parts, mut body) = self.0.run(request)?.into_parts();
        let body = body.with_config().limit(MAX_RESPONSE).read_to_vec()?;
        Ok(Response::from_parts(parts, body.into()))
    }
}

/// Drops and counts the spans for which the queue has no room.
#[derive(Debug)]
struct BoundedProcessor {
    batches: BatchSpanProcessor,
    /// The number of spans that wait for their export.
    queued: Arc<AtomicUsize>,
}

impl SpanProcessor for BoundedProcessor {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.batches.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.queued.fetch_add(1, Ordering::Relaxed) < MAX_QUEUED_SPANS {
            return self.batches.on_end(span);
        }
        self.queued.fetch_sub(1, Ordering::Relaxed);
        METRICS.spans_ended(SpanOutcome::Dropped, 1);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

/// Counts exported spans, and logs the first of several failures.
#[derive(Debug)]
struct ReportingExporter {
    exporter: opentelemetry_otlp::SpanExporter,
    queued: Arc<AtomicUsize>,
    is_failing: AtomicBool,
}

impl SpanExporter for ReportingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let exported = self.exporter.export(batch).await;
        self.queued.fetch_sub(count, Ordering::Relaxed);
        let was_failing = self.is_failing.swap(exported.is_err(), Ordering::Relaxed);
        match &exported {
            Ok(()) => {
                METRICS.spans_ended(SpanOutcome::Exported, count);
                if was_failing {
                    tracing::warn!("the OpenTelemetry collector accepts spans again");
                }
            }
            Err(error) => {
                METRICS.spans_ended(SpanOutcome::Failed, count);
                if !was_failing {
                    tracing::warn!(
                        %error,
                        "the OpenTelemetry collector does not accept spans (--otlp-endpoint); they are lost until it does"
                    );
                }
            }
        }
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
