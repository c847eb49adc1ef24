//! The spans of a call: one that gives its log lines the identifier of the request, and one for metrics and traces.

use super::request::RequestInfo;
use super::traces;
use engine::TELEMETRY;
use std::future::Future;
use std::time::Instant;
use tracing::field::{Empty, display};
use tracing::{Instrument as _, Span};

/// The longest attribute that a client chooses, such as the JSON-RPC id, in bytes.
const MAX_ATTRIBUTE_LENGTH: usize = 64;

/// The spans of a call. Attributes contain no arguments, no URLs and no texts of pages.
pub(crate) struct CallSpan {
    /// Enabled at every log level.
    log: Span,
    trace: Span,
    began: Instant,
    has_ended: bool,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallResult<'a> {
    /// A successful answer.
    Success,
    /// An answer with an error, which has this code.
    Failed(&'a str),
    /// A JSON-RPC error.
    Refused(i32),
}

impl CallSpan {
    /// Begins the spans of a call. `tool` is the name of a tool that exists, or of none.
    pub(crate) fn begin(tool: &str, request: &RequestInfo, is_step: bool) -> Self {
        let log = tracing::error_span!(
            "call",
            request_id = request.id.as_str(),
            tool,
            session = Empty
        );
        let trace = tracing::info_span!(
            target: TELEMETRY,
            "call",
            otel.name = format_args!("tools/call {tool}"),
            otel.kind = if is_step { "internal" } else { "server" },
            otel.status_code = Empty,
            mcp.method.name = "tools/call",
            mcp.session.id = request.mcp_session.as_deref().map(beginning),
            mcp.protocol.version = request.mcp_version.as_deref().map(beginning),
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = tool,
            jsonrpc.request.id = request.json_rpc_id.as_deref().map(beginning),
            rpc.response.status_code = Empty,
            playhouse.request.id = request.id.as_str(),
            playhouse.session.id = Empty,
            playhouse.error.code = Empty,
            "error.type" = Empty,
        );
        if !is_step {
            traces::set_parent(&trace, request);
        }
        Self {
            log,
            trace,
            began: Instant::now(),
            has_ended: false,
        }
    }

    /// Runs a part of the call in its spans.
    pub(crate) fn instrument<F: Future>(
        &self,
        part: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        part.instrument(self.trace.clone())
            .instrument(self.log.clone())
    }

    /// Records the browser session of the call.
    pub(crate) fn set_session(&self, id: &str) {
        self.log.record("session", id);
        self.trace.record("playhouse.session.id", id);
    }

    /// Records the outcome, logs it, and ends the spans.
    pub(crate) fn end(mut self, result: CallResult<'_>) {
        self.has_ended = true;
        let trace = &self.trace;
        let code = match result {
            CallResult::Success => None,
            CallResult::Failed(code) => {
                trace.record("error.type", "tool_error");
                trace.record("playhouse.error.code", code);
                Some(code.to_owned())
            }
            CallResult::Refused(code) => {
                trace.record("error.type", display(code));
                trace.record("rpc.response.status_code", display(code));
                Some(code.to_string())
            }
        };
        if code.is_some() {
            trace.record("otel.status_code", "ERROR");
        }
        self.log_end(code.as_deref().unwrap_or("ok"));
    }

    /// Logs the end of the call, and ends its span.
    fn log_end(&self, result: &str) {
        traces::end(&self.trace);
        let duration_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.log
            .in_scope(|| tracing::info!(result, duration_ms, "the call has ended"));
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if !self.has_ended {
            self.trace.record("error.type", "cancelled");
            self.trace.record("otel.status_code", "ERROR");
            self.log_end("cancelled");
        }
    }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_ATTRIBUTE_LENGTH)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_dropped_call_logs_its_end() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            drop(CallSpan::begin("click", &RequestInfo::internal(), false));
        });
        let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.matches("the call has ended").count(), 1, "{text}");
        assert!(text.contains("result=\"cancelled\""), "{text}");
    }
}
