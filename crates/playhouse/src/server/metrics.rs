//! Metrics of the server and their text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Counters since the start.
pub(crate) struct Metrics {
    began: Instant,
    calls: Mutex<BTreeMap<&'static str, Calls>>,
}

/// The calls of one tool.
#[derive(Debug, Clone, Copy, Default)]
struct Calls {
    succeeded: u64,
    failed: u64,
    under_way: u64,
    took: Duration,
}

/// The current state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HealthStats {
    /// The number of running browsers.
    pub(crate) browsers: usize,
    /// The number of sessions.
    pub(crate) sessions: usize,
    /// The time since the start of the server.
    pub(crate) uptime: Duration,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            calls: Mutex::default(),
        }
    }
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
        let mut calls = self.metrics.calls();
        let calls = calls.entry(self.tool).or_default();
        calls.under_way -= 1;
        calls.took += self.began.elapsed();
        match self.failed {
            true => calls.failed += 1,
            false => calls.succeeded += 1,
        }
    }
}

impl Metrics {
    /// Counts a call; a call that is dropped before its end counts as failed.
    pub(crate) fn call(&self, tool: &'static str) -> Counted<'_> {
        self.calls().entry(tool).or_default().under_way += 1;
        Counted {
            metrics: self,
            tool,
            began: Instant::now(),
            failed: true,
        }
    }

    /// Returns the time since the start of the server.
    pub(crate) fn uptime(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns all metrics in the text format of Prometheus.
    /// <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>
    pub(crate) fn text(&self, health_stats: HealthStats, mcp_sessions: usize) -> String {
        let mut text = String::new();
        let mut gauge = |name: &str, help: &str, value: u64| {
            let _ = writeln!(
                text,
                "# HELP playhouse_{name} {help}\n# TYPE playhouse_{name} gauge\nplayhouse_{name} {value}"
            );
        };
        gauge(
            "browsers",
            "Browsers that run.",
            health_stats.browsers as u64,
        );
        gauge(
            "sessions",
            "Browser sessions that live.",
            health_stats.sessions as u64,
        );
        gauge(
            "mcp_sessions",
            "MCP sessions over HTTP.",
            mcp_sessions as u64,
        );
        gauge(
            "uptime_seconds",
            "Seconds since the start.",
            health_stats.uptime.as_secs(),
        );
        let calls = self.calls();
        let under_way = calls.values().map(|calls| calls.under_way).sum();
        gauge("calls_under_way", "Tool calls under way.", under_way);
        let _ = writeln!(
            text,
            "# HELP playhouse_calls_total Tool calls that have ended.\n# TYPE playhouse_calls_total counter"
        );
        for (tool, calls) in calls.iter() {
            for (outcome, count) in [("success", calls.succeeded), ("error", calls.failed)] {
                let _ = writeln!(
                    text,
                    "playhouse_calls_total{{tool=\"{tool}\",outcome=\"{outcome}\"}} {count}"
                );
            }
        }
        let _ = writeln!(
            text,
            "# HELP playhouse_call_seconds_total Time that tool calls took.\n# TYPE playhouse_call_seconds_total counter"
        );
        for (tool, calls) in calls.iter() {
            let seconds = calls.took.as_secs_f64();
            let _ = writeln!(
                text,
                "playhouse_call_seconds_total{{tool=\"{tool}\"}} {seconds}"
            );
        }
        text
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<&'static str, Calls>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_tool_and_outcome() {
        let metrics = Metrics::default();
        metrics.call("a").ended(false);
        metrics.call("a").ended(true);
        drop(metrics.call("a"));
        let _running = metrics.call("b");
        let health_stats = HealthStats {
            browsers: 1,
            sessions: 2,
            uptime: Duration::ZERO,
        };
        let text = metrics.text(health_stats, 3);
        for line in [
            "playhouse_browsers 1",
            "playhouse_sessions 2",
            "playhouse_mcp_sessions 3",
            "playhouse_calls_under_way 1",
            r#"playhouse_calls_total{tool="a",outcome="success"} 1"#,
            r#"playhouse_calls_total{tool="a",outcome="error"} 2"#,
        ] {
            assert!(text.lines().any(|told| told == line), "{line}\n{text}");
        }
    }
}
