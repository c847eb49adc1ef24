//! The metrics and their targets in one table.

use testkit::Engine;

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Milliseconds,
    /// Seconds of processor time for 100 operations.
    CpuSeconds,
    Megabytes,
    Tokens,
}

/// The target of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// At most this ratio to `@playwright/mcp` as shipped.
    Ratio(f64),
    /// At most this ratio to bare commands.
    Baseline(f64),
    /// At most this value, on a full Chromium and on a headless shell.
    AtMost(f64, f64),
    /// At most this ratio to the same server without a rule about domains.
    Rules(f64),
    /// No target.
    None,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metric {
    /// The name for `--only`.
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: Unit,
    pub(crate) goal: Goal,
}

const fn row(key: &'static str, title: &'static str, unit: Unit, goal: Goal) -> Metric {
    Metric {
        key,
        title,
        unit,
        goal,
    }
}

/// The targets on Firefox and WebKit.
const ELSEWHERE: [(&str, Goal); 3] = [
    ("navigate-", Baseline(2.5)),
    ("snapshot-", Baseline(2.5)),
    ("click", Baseline(2.5)),
];

impl Metric {
    /// Returns the target on this engine.
    pub(crate) fn goal_on(&self, engine: Engine) -> Goal {
        if engine == Engine::Chromium || matches!(self.goal, Rules(_)) {
            return self.goal;
        }
        let mut goals = ELSEWHERE.iter();
        let own = goals.find(|(start, _)| self.key.starts_with(start));
        own.map_or(Goal::None, |(_, goal)| *goal)
    }
}

use Goal::{AtMost, Baseline, Ratio, Rules};
use Unit::{CpuSeconds, Megabytes, Milliseconds, Tokens};

/// The metric that is also measured with a rule about domains, with which all requests use the egress proxy.
pub(crate) const MANY_REQUESTS: &str = "navigate-requests";

pub(crate) const METRICS: &[Metric] = &[
    row("spawn", "spawn → tools/list", Milliseconds, Ratio(0.02)),
    row(
        "first-navigate",
        "first navigate (starts the browser)",
        Milliseconds,
        Ratio(0.65),
    ),
    row(
        "navigate-tiny",
        "navigate, tiny page",
        Milliseconds,
        Ratio(0.45),
    ),
    row(
        "navigate-form",
        "navigate, 30-field form",
        Milliseconds,
        Ratio(0.45),
    ),
    row(
        "navigate-article",
        "navigate, article of 500 elements",
        Milliseconds,
        Goal::None,
    ),
    row(
        "navigate-table",
        "navigate, table of 10,000 elements",
        Milliseconds,
        Ratio(0.25),
    ),
    row(
        "navigate-frames",
        "navigate, 20 frames",
        Milliseconds,
        Ratio(0.40),
    ),
    row(
        "navigate-slow",
        "navigate, 400 ms picture",
        Milliseconds,
        Goal::None,
    ),
    row(
        MANY_REQUESTS,
        "navigate, 50 requests",
        Milliseconds,
        Rules(1.15),
    ),
    row(
        "snapshot-form",
        "snapshot, 30-field form",
        Milliseconds,
        Ratio(0.35),
    ),
    row(
        "snapshot-article",
        "snapshot, article",
        Milliseconds,
        Goal::None,
    ),
    row(
        "snapshot-table",
        "snapshot, 10,000 elements",
        Milliseconds,
        Ratio(0.15),
    ),
    row(
        "snapshot-frames",
        "snapshot, 20 frames with shadow roots",
        Milliseconds,
        Ratio(0.10),
    ),
    row(
        "click",
        "click that changes the page",
        Milliseconds,
        Ratio(0.10),
    ),
    row(
        "click-table",
        "click on the 10,000-element page",
        Milliseconds,
        Goal::None,
    ),
    row(
        "click-fetch-0",
        "click + fetch of 0 ms, until seen",
        Milliseconds,
        Goal::None,
    ),
    row(
        "click-fetch-50",
        "click + fetch of 50 ms, until seen",
        Milliseconds,
        Ratio(0.12),
    ),
    row(
        "click-fetch-300",
        "click + fetch of 300 ms, until seen",
        Milliseconds,
        Ratio(0.31),
    ),
    row("type", "type", Milliseconds, Ratio(0.25)),
    row("fill", "fill 30 fields", Milliseconds, Ratio(0.08)),
    row("evaluate", "evaluate", Milliseconds, Ratio(0.005)),
    row("key", "press a key", Milliseconds, Ratio(0.30)),
    row(
        "type-keys",
        "type key by key, 8 keys",
        Milliseconds,
        Goal::None,
    ),
    row("hover", "hover", Milliseconds, Goal::None),
    row("screenshot", "screenshot", Milliseconds, Ratio(0.90)),
    row(
        "task-warm",
        "ten-step task, warm",
        Milliseconds,
        Ratio(0.15),
    ),
    row(
        "task-cold",
        "ten-step task, from spawn",
        Milliseconds,
        Ratio(0.25),
    ),
    row(
        "cpu",
        "server CPU per 100 operations",
        CpuSeconds,
        Ratio(0.03),
    ),
    row(
        "browser-cpu",
        "browser CPU per 100 operations",
        CpuSeconds,
        Goal::None,
    ),
    row("memory-idle", "server memory, idle", Megabytes, Ratio(0.08)),
    row(
        "memory-launched",
        "server memory, browser started",
        Megabytes,
        Ratio(0.10),
    ),
    row(
        "memory-used",
        "server memory after ten 10,000-element snapshots",
        Megabytes,
        Ratio(0.12),
    ),
    row(
        "browser-memory",
        "browser memory, tiny page",
        Megabytes,
        Goal::None,
    ),
    row(
        "browser-memory-table",
        "browser memory, 10,000 elements",
        Megabytes,
        Goal::None,
    ),
    row(
        "context",
        "memory per further context",
        Megabytes,
        AtMost(30.0, 18.0),
    ),
    row(
        "session",
        "a session, and its first page",
        Milliseconds,
        Baseline(1.5),
    ),
    row(
        "sessions",
        "ten steps in each of 50 sessions at once",
        Milliseconds,
        Baseline(1.3),
    ),
    row(
        "session-memory",
        "server memory per idle session",
        Megabytes,
        AtMost(0.3, 0.3),
    ),
    row(
        "tokens-tools",
        "tokens of tools/list",
        Tokens,
        AtMost(2600.0, 2600.0),
    ),
    row(
        "tokens-task",
        "tokens of the ten answers",
        Tokens,
        Goal::None,
    ),
];
