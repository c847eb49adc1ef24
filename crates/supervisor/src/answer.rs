//! Creating and formatting the answers of `playhouse app`.

use crate::error::AppError;
use crate::protocol::{Answer, Logs, Status};
use crate::state::{LogPaths, State, now, timestamp};

impl Answer {
    /// Creates the answer for an error.
    pub fn error(error: &AppError) -> Self {
        let mut answer = Self::new(Status::Error, error.to_string());
        answer.error = Some(error.code().to_owned());
        if let Some(exit) = error.exit() {
            answer.exit_code = exit.code;
            answer.signal = exit.signal;
        }
        answer
    }

    /// Returns whether the command succeeded.
    pub fn is_success(&self) -> bool {
        self.status != Status::Error
    }

    /// Formats the answer as one line of JSON.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Formats the answer for users.
    pub fn text(&self) -> String {
        let mut lines = vec![self.message.clone().unwrap_or_default()];
        let mut fact = |name: &str, value: Option<String>| {
            lines.extend(value.map(|value| format!("  {name:<8}{value}")));
        };
        fact("url", self.url.clone());
        fact("pid", self.pid.map(|pid| pid.to_string()));
        fact("since", self.started_at.clone());
        let log = self.logs.combined.as_ref();
        fact("log", log.map(|path| path.display().to_string()));
        lines.join("\n") + "\n"
    }

    pub(crate) fn new(status: Status, message: String) -> Self {
        Self {
            status,
            message: Some(message),
            ..Self::default()
        }
    }

    pub(crate) fn with_address(mut self, state: &State) -> Self {
        self.url.clone_from(&state.url);
        self.port = state.port;
        self.pid = state.app.as_ref().map(|app| app.pid);
        self.started_at = Some(timestamp(state.started));
        self
    }

    pub(crate) fn with_previous(mut self, state: &State) -> Self {
        self.previous_pid = state.app.as_ref().map(|app| app.pid);
        self.previous_port = state.port;
        self
    }

    pub(crate) fn with_uptime(mut self, state: &State) -> Self {
        // The system clock may have been set back.
        let passed = now().saturating_sub(state.started).max(0);
        self.uptime = Some(passed.unsigned_abs() / 1000);
        self
    }

    pub(crate) fn with_health(mut self, healthy: bool) -> Self {
        self.healthy = Some(healthy);
        self
    }

    pub(crate) fn with_end(mut self, state: &State) -> Self {
        if let Some(exit) = &state.exit {
            self.exit_code = exit.code;
            self.signal = exit.signal;
        }
        self.stopped_at = state.ended.map(timestamp);
        self
    }

    pub(crate) fn stopped_now(mut self) -> Self {
        self.stopped_at = Some(timestamp(now()));
        self
    }

    pub(crate) fn with_logs(mut self, logs: LogPaths) -> Self {
        self.logs = Logs {
            stdout: Some(logs.stdout),
            stderr: Some(logs.stderr),
            combined: Some(logs.combined),
        };
        self
    }
}
