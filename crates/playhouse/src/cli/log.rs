//! What the server tells of itself: on stderr, because stdout belongs to the protocol.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, fmt};

use crate::config::LogLevel;

/// Reports what is at least this severe from now on.
pub(super) fn begin(level: LogLevel) {
    let level: &str = level.into();
    // rmcp warns of every error that it answers.
    let others = if matches!(level, "debug" | "trace") {
        "info"
    } else {
        "error"
    };
    let filter = format!("{others},playhouse={level},engine={level},wire={level}");
    let log = fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    // What goes back and forth is read for its times too.
    let started = if level == "trace" {
        log.with_timer(fmt::time::uptime()).try_init()
    } else {
        log.without_time().try_init()
    };
    // Only a second start in one process fails, and then the first one reports.
    drop(started);
}
