//! The evidence of a failure in a session that tests an app, as answers show it: the state of the page and of the servers.

use serde::Serialize;
use std::path::Path;
use supervisor::{Answer, Logs, Status};

/// What is known of a failure beside the error itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evidence {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screenshot: Option<ScreenshotFile>,
    /// Errors since the last call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) console: Vec<String>,
    /// Those that failed since the last call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) requests: Vec<FailedRequest>,
    /// The last error of the app before, which no tool failed of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) earlier: Option<EarlierError>,
    /// The servers, the one that was asked for first.
    pub(crate) servers: Vec<ServerState>,
}

/// An error of the app that came with an earlier call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct EarlierError {
    pub(crate) time: String,
    pub(crate) tool: &'static str,
    pub(crate) message: String,
    /// What the servers logged with that call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) log: String,
}

/// A picture of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ScreenshotFile {
    pub(crate) path: String,
    pub(crate) uri: String,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerState {
    pub(crate) name: String,
    /// What the command says; its status is `unknown` if it says nothing. Of one that does well only what may have changed.
    #[serde(flatten)]
    pub(crate) answer: Answer,
    /// Nothing takes connections at its URL, also not a moment later.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) refuses: bool,
    /// What it wrote since the last call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) log: String,
    /// Bytes of it that are left out before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log_left_out: Option<u64>,
}

impl ServerState {
    /// Whether it has ended, by the word of its command, or runs without listening, as a watcher does whose app has crashed.
    pub(crate) fn is_dead(&self) -> bool {
        self.answer.status == Status::Stopped || self.refuses
    }

    /// Whether there is nothing to say of it but that it does well.
    fn is_well(&self) -> bool {
        let Answer { status, error, .. } = &self.answer;
        !self.refuses
            && *status == Status::Running
            && error.is_none()
            && self.answer.healthy != Some(false)
    }

    /// Without what the client was told when it was started.
    pub(crate) fn shortened(mut self) -> Self {
        let logs = &self.answer.logs;
        let log = logs.combined().or_else(|| logs.errors());
        self.answer.logs = Logs {
            combined: log.map(Path::to_owned),
            ..Logs::default()
        };
        if self.is_well() {
            self.answer = Answer {
                status: self.answer.status,
                healthy: self.answer.healthy,
                logs: self.answer.logs,
                ..Answer::default()
            };
        }
        self
    }
}

/// A request that failed, or was answered with an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FailedRequest {
    pub(crate) method: String,
    pub(crate) url: String,
    /// HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// Why there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

impl FailedRequest {
    /// Whether the server is to blame, not whoever asked.
    pub(crate) fn is_of_server(&self) -> bool {
        self.status.is_none_or(|status| status >= 500)
    }
}

impl std::fmt::Display for FailedRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.url)?;
        match (self.status, &self.reason) {
            (Some(status), _) => write!(f, " {status}"),
            (None, Some(reason)) => write!(f, " {reason}"),
            (None, None) => Ok(()),
        }
    }
}
