//! What a server command prints: the JSON of S4, requirement 2. Field names and values are its own.

use std::time::SystemTime;

use serde::Serialize;
use time::OffsetDateTime;
use time::macros::format_description;

use super::error::AppError;
use super::state::{LogPaths, State};

/// One answer. `exitCode` and `signal`, of a server that ended by itself, are more than the interface asks for.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uptime: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    healthy: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logs: Option<LogPaths>,
    message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Ready,
    AlreadyRunning,
    Restarted,
    Running,
    Unhealthy,
    Stopped,
    Error,
}

impl Answer {
    /// What went wrong.
    pub(crate) fn error(error: &AppError) -> Self {
        let mut answer = Self::new(Status::Error, error.to_string());
        answer.error = Some(error.code());
        if let Some(exit) = error.exit() {
            answer.exit_code = exit.code;
            answer.signal = exit.signal;
        }
        answer
    }

    /// Whether the command has done what it was asked to.
    pub(crate) fn is_success(&self) -> bool {
        self.status != Status::Error
    }

    /// As one line.
    pub(crate) fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// As people read it.
    pub(crate) fn text(&self) -> String {
        let mut lines = vec![self.message.clone()];
        let mut fact = |name: &str, value: Option<String>| {
            lines.extend(value.map(|value| format!("  {name:<8}{value}")));
        };
        fact("url", self.url.clone());
        fact("pid", self.pid.map(|pid| pid.to_string()));
        fact("since", self.started_at.clone());
        let log = self.logs.as_ref().map(|logs| logs.combined.display());
        fact("log", log.map(|path| path.to_string()));
        lines.join("\n") + "\n"
    }

    pub(super) fn new(status: Status, message: String) -> Self {
        Self {
            status,
            url: None,
            port: None,
            pid: None,
            previous_pid: None,
            previous_port: None,
            started_at: None,
            stopped_at: None,
            uptime: None,
            healthy: None,
            exit_code: None,
            signal: None,
            error: None,
            logs: None,
            message,
        }
    }

    pub(super) fn with_address(mut self, state: &State) -> Self {
        self.url.clone_from(&state.url);
        self.port = state.port;
        self.pid = state.app.as_ref().map(|app| app.pid);
        self.started_at = Some(timestamp(state.started));
        self
    }

    pub(super) fn with_previous(mut self, state: &State) -> Self {
        self.previous_pid = state.app.as_ref().map(|app| app.pid);
        self.previous_port = state.port;
        self
    }

    pub(super) fn with_uptime(mut self, state: &State) -> Self {
        // Clocks are set back: then it has not run for less than no time.
        let passed = now().saturating_sub(state.started).max(0);
        self.uptime = Some(passed.unsigned_abs() / 1000);
        self
    }

    pub(super) fn with_health(mut self, healthy: bool) -> Self {
        self.healthy = Some(healthy);
        self
    }

    pub(super) fn with_end(mut self, state: &State) -> Self {
        if let Some(exit) = &state.exit {
            self.exit_code = exit.code;
            self.signal = exit.signal;
        }
        self.stopped_at = state.ended.map(timestamp);
        self
    }

    pub(super) fn stopped_now(mut self) -> Self {
        self.stopped_at = Some(timestamp(now()));
        self
    }

    pub(super) fn with_logs(mut self, logs: LogPaths) -> Self {
        self.logs = Some(logs);
        self
    }
}

/// Milliseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// `2025-11-02T10:30:00Z`.
pub(super) fn timestamp(milliseconds: i64) -> String {
    let format = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
    OffsetDateTime::from_unix_timestamp(milliseconds / 1000)
        .ok()
        .and_then(|time| time.format(format).ok())
        .unwrap_or_default()
}
