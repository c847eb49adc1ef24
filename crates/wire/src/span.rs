//! Spans of protocol commands, for traces and metrics. A span that no layer of the subscriber has enabled costs a comparison.
//!
//! The attributes have the names of the semantic conventions of OpenTelemetry. Parameters and results are no attributes, because they may
//! contain secrets. <https://opentelemetry.io/docs/specs/semconv/rpc/rpc-spans/>

use tracing::Span;
use tracing::field::Empty;

use crate::error::{Error, Result};

/// The target of spans for traces and metrics.
pub const TARGET: &str = "telemetry";

/// The name of the spans of commands.
pub const COMMAND: &str = "protocol command";

/// The span of a command whose result is awaited. Without a result, the command has failed as `cancelled`.
pub(crate) struct CommandSpan {
    span: Span,
    has_ended: bool,
}

impl CommandSpan {
    /// Begins the span of a command. `protocol` is `cdp`, `bidi`, `webdriver` or `inspector`.
    pub(crate) fn begin(protocol: &'static str, method: &'static str) -> Self {
        let span = tracing::info_span!(
            target: TARGET,
            COMMAND,
            otel.name = method,
            otel.kind = "client",
            otel.status_code = Empty,
            rpc.system.name = protocol,
            rpc.method = method,
            rpc.response.status_code = Empty,
            playhouse.protocol.session = Empty,
            "error.type" = Empty,
        );
        Self {
            span,
            has_ended: false,
        }
    }

    /// Awaits the result of a command in its span.
    pub(crate) async fn measure<T>(
        protocol: &'static str,
        method: &'static str,
        result: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let mut span = Self::begin(protocol, method);
        let outcome = result.await;
        span.end(&outcome);
        outcome
    }

    /// Adds the identifier of the protocol session.
    pub(crate) fn set_session(&self, id: &str) {
        self.span.record("playhouse.protocol.session", id);
    }

    /// Adds the outcome of the command.
    pub(crate) fn end<T>(&mut self, outcome: &Result<T>) {
        self.has_ended = true;
        if let Err(error) = outcome {
            record_failure(&self.span, error);
        }
    }
}

impl Drop for CommandSpan {
    fn drop(&mut self) {
        if !self.has_ended {
            self.span.record("otel.status_code", "ERROR");
            self.span.record("error.type", "cancelled");
        }
    }
}

/// Adds the failure of a command. Messages of the browser are left out, because they may quote the page.
fn record_failure(span: &Span, error: &Error) {
    if span.is_disabled() {
        return;
    }
    span.record("otel.status_code", "ERROR");
    match error {
        Error::Protocol { code, .. } => {
            span.record("rpc.response.status_code", tracing::field::display(code));
            span.record("error.type", tracing::field::display(code));
        }
        Error::Refused { error, .. } => {
            span.record("rpc.response.status_code", error.as_str());
            span.record("error.type", error.as_str());
        }
        Error::Http { status, .. } => {
            span.record("error.type", tracing::field::display(status));
        }
        Error::Closed { .. } => {
            span.record("error.type", "connection_closed");
        }
        Error::SessionClosed { .. } => {
            span.record("error.type", "session_closed");
        }
        Error::Shape { .. } => {
            span.record("error.type", "unexpected_shape");
        }
        Error::Connect { .. } => {
            span.record("error.type", "connection_failed");
        }
    }
}
