//! The evidence of a failure in a session that tests an app: the state of the page and of the servers.

use serde::Serialize;
use std::path::Path;
use supervisor::{Answer, Logs, Status};

/// The evidence of a failure beside the error itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evidence {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) page_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screenshot: Option<ScreenshotFile>,
    /// Console errors since the last call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) console: Vec<String>,
    /// Requests that failed since the last call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) requests: Vec<FailedRequest>,
    /// The last error of the app before this call, which did not make a tool fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) earlier: Option<EarlierError>,
    /// The servers; the requested one is first.
    pub(crate) servers: Vec<ServerState>,
}

/// An error of the app that an earlier call caused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct EarlierError {
    pub(crate) time: String,
    pub(crate) tool: &'static str,
    pub(crate) message: String,
    /// The server logs of that call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) log: String,
}

/// A screenshot of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ScreenshotFile {
    pub(crate) path: String,
    pub(crate) uri: String,
}

/// The state of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerState {
    pub(crate) name: String,
    /// The answer of the server command, or the status `unknown` if it fails. For a healthy server, only the facts that can change.
    #[serde(flatten)]
    pub(crate) answer: Answer,
    /// The URL refuses connections, also after a moment.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) refuses: bool,
    /// The log since the last call; of a server that is not well, since the last lines that an answer showed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) log: String,
    /// The size of the omitted part of the log before that, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log_left_out: Option<u64>,
}

impl ServerState {
    /// Returns whether the command reports that the server has ended, or that it runs without listening, as a watcher does after a crash of
    /// its app.
    pub(crate) fn is_dead(&self) -> bool {
        self.answer.status == Status::Stopped || self.refuses
    }

    /// Returns whether the server is healthy and has nothing to report.
    pub(crate) fn is_well(&self) -> bool {
        let Answer { status, error, .. } = &self.answer;
        !self.refuses
            && *status == Status::Running
            && error.is_none()
            && self.answer.healthy != Some(false)
    }

    /// Removes the facts that the client received when the server was started.
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

/// A request that failed, or that got an HTTP error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FailedRequest {
    pub(crate) method: String,
    pub(crate) url: String,
    /// HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// The net error, if there was no response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

impl FailedRequest {
    /// Returns whether the failure is one of the server and not of the request.
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
