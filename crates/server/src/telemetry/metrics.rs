//! The metrics of the server, in the text format of OpenMetrics, which Prometheus reads.
//!
//! Names follow <https://prometheus.io/docs/practices/naming/>. Each label has few values: names of tools that exist, outcomes, protocols.

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry, Unit};
use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

/// The metrics of this process.
pub(crate) static METRICS: LazyLock<Metrics> = LazyLock::new(Metrics::new);

/// The media type of [`Metrics::text`].
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The upper bounds of buckets of calls and browser starts, in seconds.
const CALL_SECONDS: [f64; 14] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0,
];

/// The upper bounds of buckets of protocol commands and waits, in seconds.
const COMMAND_SECONDS: [f64; 12] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0,
];

/// The upper bounds of buckets of answers, in bytes; images make them large.
const ANSWER_BYTES: [f64; 9] = [
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
];

/// The upper bounds of buckets of answers, in tokens.
const ANSWER_TOKENS: [f64; 10] = [
    50.0, 100.0, 250.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 6_000.0, 25_000.0, 250_000.0,
];

type Labels<const N: usize> = [(&'static str, &'static str); N];

type Histograms<const N: usize> = Family<Labels<N>, Histogram>;

/// Metrics since the start.
pub(crate) struct Metrics {
    registry: Registry,
    began: Instant,
    calls: Histograms<2>,
    calls_in_progress: Gauge,
    turn_waits: Histogram,
    browser_starts: Histograms<2>,
    commands: Histograms<2>,
    answer_sizes: Histogram,
    answer_tokens: Histogram,
    exported_spans: Family<Labels<1>, Counter>,
    browsers: Gauge,
    sessions: Family<Labels<1>, Gauge>,
    mcp_sessions: Gauge,
    uptime: Gauge<f64, AtomicU64>,
}

/// The current state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HealthStats {
    /// The number of running browsers.
    pub(crate) browsers: usize,
    /// The number of sessions.
    pub(crate) sessions: usize,
    /// The number of sessions with a call in progress.
    pub(crate) busy_sessions: usize,
    /// The time since the start of the server.
    pub(crate) uptime: Duration,
}

/// What happened to spans that have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanOutcome {
    /// The collector has them.
    Exported,
    /// The collector could not be reached or did not accept them.
    Failed,
    /// The queue was full.
    Dropped,
}

/// A call in progress.
pub(crate) struct Counted<'a> {
    metrics: &'a Metrics,
    tool: &'static str,
    began: Instant,
    failed: bool,
}

impl Counted<'_> {
    /// Counts the end of the call.
    pub(crate) fn ended(mut self, is_error: bool) {
        self.failed = is_error;
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let labels = [("tool", self.tool), outcome(self.failed)];
        let took = self.began.elapsed().as_secs_f64();
        self.metrics.calls.get_or_create(&labels).observe(took);
        self.metrics.calls_in_progress.dec();
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("playhouse");
        let histogram = |buckets: &'static [f64]| Histogram::new(buckets.iter().copied());
        let mut metrics = Self {
            calls: Family::new_with_constructor(|| Histogram::new(CALL_SECONDS)),
            calls_in_progress: Gauge::default(),
            turn_waits: histogram(&COMMAND_SECONDS),
            browser_starts: Family::new_with_constructor(|| Histogram::new(CALL_SECONDS)),
            commands: Family::new_with_constructor(|| Histogram::new(COMMAND_SECONDS)),
            answer_sizes: histogram(&ANSWER_BYTES),
            answer_tokens: histogram(&ANSWER_TOKENS),
            exported_spans: Family::default(),
            browsers: Gauge::default(),
            sessions: Family::default(),
            mcp_sessions: Gauge::default(),
            uptime: Gauge::default(),
            began: Instant::now(),
            registry: Registry::default(),
        };
        let all = &mut registry;
        add(
            all,
            "browsers",
            None,
            "Browsers that run",
            &metrics.browsers,
        );
        add(
            all,
            "sessions",
            None,
            "Browser sessions that live, by state",
            &metrics.sessions,
        );
        add(
            all,
            "mcp_sessions",
            None,
            "MCP sessions over HTTP",
            &metrics.mcp_sessions,
        );
        add(
            all,
            "uptime",
            SECONDS,
            "Time since the start",
            &metrics.uptime,
        );
        add(
            all,
            "tool_calls_in_progress",
            None,
            "Tool calls in progress",
            &metrics.calls_in_progress,
        );
        add(
            all,
            "tool_call_duration",
            SECONDS,
            "Duration of tool calls, with the wait for their turn",
            &metrics.calls,
        );
        add(
            all,
            "turn_wait_duration",
            SECONDS,
            "Wait of tool calls for earlier calls on the same session",
            &metrics.turn_waits,
        );
        add(
            all,
            "browser_start_duration",
            SECONDS,
            "Duration of starting a browser or connecting to one",
            &metrics.browser_starts,
        );
        add(
            all,
            "protocol_command_duration",
            SECONDS,
            "Duration of commands to browsers",
            &metrics.commands,
        );
        add(
            all,
            "answer_size",
            Some(Unit::Bytes),
            "Size of texts and images of answers",
            &metrics.answer_sizes,
        );
        add(
            all,
            "answer_length",
            Some(Unit::Other("tokens".to_owned())),
            "Estimated length of texts of answers",
            &metrics.answer_tokens,
        );
        add(
            all,
            "trace_spans",
            None,
            "Spans that have ended, by what happened to them",
            &metrics.exported_spans,
        );
        metrics.registry = registry;
        metrics
    }

    /// Counts a call; a call that is dropped before its end counts as failed.
    pub(crate) fn call(&self, tool: &'static str) -> Counted<'_> {
        self.calls_in_progress.inc();
        Counted {
            metrics: self,
            tool,
            began: Instant::now(),
            failed: true,
        }
    }

    /// Counts an answer.
    pub(crate) fn answered(&self, bytes: usize, tokens: usize) {
        self.answer_sizes.observe(number(bytes));
        self.answer_tokens.observe(number(tokens));
    }

    /// Counts a wait for the turn on a session.
    pub(super) fn turn_began(&self, waited: Duration) {
        self.turn_waits.observe(waited.as_secs_f64());
    }

    /// Counts the start of a browser.
    pub(super) fn browser_started(&self, browser: &'static str, failed: bool, took: Duration) {
        let labels = [("browser", browser), outcome(failed)];
        let starts = self.browser_starts.get_or_create(&labels);
        starts.observe(took.as_secs_f64());
    }

    /// Counts a protocol command.
    pub(super) fn command_ended(&self, protocol: &'static str, failed: bool, took: Duration) {
        let labels = [("protocol", protocol), outcome(failed)];
        let commands = self.commands.get_or_create(&labels);
        commands.observe(took.as_secs_f64());
    }

    /// Counts spans that have ended.
    pub(super) fn spans_ended(&self, outcome: SpanOutcome, count: usize) {
        let outcome = match outcome {
            SpanOutcome::Exported => "exported",
            SpanOutcome::Failed => "failed",
            SpanOutcome::Dropped => "dropped",
        };
        let spans = self.exported_spans.get_or_create(&[("outcome", outcome)]);
        spans.inc_by(u64::try_from(count).unwrap_or(u64::MAX));
    }

    /// Returns the time since the start of the server.
    pub(crate) fn uptime(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns all metrics.
    pub(crate) fn text(&self, stats: HealthStats, mcp_sessions: usize) -> String {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.browsers.set(count(stats.browsers));
        let idle = stats.sessions.saturating_sub(stats.busy_sessions);
        for (state, number) in [("busy", stats.busy_sessions), ("idle", idle)] {
            let sessions = self.sessions.get_or_create(&[("state", state)]);
            sessions.set(count(number));
        }
        self.mcp_sessions.set(count(mcp_sessions));
        self.uptime.set(stats.uptime.as_secs_f64());
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

const SECONDS: Option<Unit> = Some(Unit::Seconds);

fn add(
    registry: &mut Registry,
    name: &str,
    unit: Option<Unit>,
    help: &str,
    metric: &(impl Metric + Clone),
) {
    match unit {
        Some(unit) => registry.register_with_unit(name, help, unit, metric.clone()),
        None => registry.register(name, help, metric.clone()),
    }
}

fn outcome(failed: bool) -> (&'static str, &'static str) {
    ("outcome", if failed { "error" } else { "success" })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "answers have less than 2^53 bytes"
)]
fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_tool_and_outcome() {
        let metrics = Metrics::new();
        metrics.call("a").ended(false);
        metrics.call("a").ended(true);
        drop(metrics.call("a"));
        let _running = metrics.call("b");
        metrics.answered(300, 60);
        metrics.spans_ended(SpanOutcome::Dropped, 7);
        let stats = HealthStats {
            browsers: 1,
            sessions: 3,
            busy_sessions: 1,
            uptime: Duration::ZERO,
        };
        let text = metrics.text(stats, 4);
        for line in [
            "playhouse_browsers 1",
            r#"playhouse_sessions{state="busy"} 1"#,
            r#"playhouse_sessions{state="idle"} 2"#,
            "playhouse_mcp_sessions 4",
            "playhouse_tool_calls_in_progress 1",
            r#"playhouse_tool_call_duration_seconds_count{tool="a",outcome="success"} 1"#,
            r#"playhouse_tool_call_duration_seconds_count{tool="a",outcome="error"} 2"#,
            r#"playhouse_tool_call_duration_seconds_bucket{le="120.0",tool="a",outcome="error"} 2"#,
            "playhouse_answer_size_bytes_sum 300.0",
            r#"playhouse_answer_size_bytes_bucket{le="256.0"} 0"#,
            r#"playhouse_answer_size_bytes_bucket{le="1024.0"} 1"#,
            r#"playhouse_answer_length_tokens_bucket{le="100.0"} 1"#,
            r#"playhouse_trace_spans_total{outcome="dropped"} 7"#,
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
        }
    }
}
