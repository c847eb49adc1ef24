//! Telemetry: request ids, metrics, and traces in the format of OpenTelemetry. docs/operation.md describes it.
//!
//! Spans have the target [`engine::TELEMETRY`]. [`span_metrics`] measures them for `/metrics`, [`traces`] exports them; without either, no
//! span is created.

mod call_span;
pub(crate) mod metrics;
mod request;
mod span_metrics;
mod traces;

pub(crate) use call_span::{CallResult, CallSpan};
pub(crate) use metrics::METRICS;
pub(crate) use request::{REQUEST_ID, RequestId, RequestInfo, TraceHeaders};
pub(crate) use span_metrics::SpanMetrics;
pub(crate) use traces::Traces;

use engine::{BrowserKind, TELEMETRY};
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

/// The name of the span of a wait for the turn on a session.
const TURN: &str = "wait for turn";

/// The name of the span of a browser's start.
const BROWSER_START: &str = "browser start";

/// Begins the span of a wait for the turn on a session.
pub(crate) fn turn_span() -> Span {
    tracing::info_span!(target: TELEMETRY, TURN)
}

/// The span of the start of a browser, or of connecting to one. Without a result, the start has failed as `cancelled`.
pub(crate) struct BrowserSpan {
    span: Span,
    /// The error code; `None` after a success.
    failure: Option<&'static str>,
}

impl BrowserSpan {
    /// Awaits the start of a browser in its span, and records the outcome.
    pub(crate) async fn measure<T, E>(
        kind: BrowserKind,
        start: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let span = tracing::info_span!(
            target: TELEMETRY,
            BROWSER_START,
            playhouse.browser = <&str>::from(kind),
            otel.status_code = Empty,
            "error.type" = Empty,
        );
        let mut own = Self {
            span,
            failure: Some("cancelled"),
        };
        let started = start.instrument(own.span.clone()).await;
        own.failure = started.is_err().then_some("browser_start_failed");
        started
    }
}

impl Drop for BrowserSpan {
    fn drop(&mut self) {
        if let Some(code) = self.failure {
            self.span.record("otel.status_code", "ERROR");
            self.span.record("error.type", code);
        }
    }
}

/// Begins the span of a part of a call, such as the action or the snapshot.
macro_rules! part_span {
    ($name:literal) => {
        tracing::info_span!(target: engine::TELEMETRY, $name)
    };
}
pub(crate) use part_span;
