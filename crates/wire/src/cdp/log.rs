//! The `Log` domain: messages of the browser in the console.

use serde::{Deserialize, Serialize};

use super::{Empty, command, event, network, runtime};

/// [`Log.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Log/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Enable {}
command!(Enable, "Log.enable", Empty);

/// [`Log.clear`](https://chromedevtools.github.io/devtools-protocol/tot/Log/#method-clear)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Clear {}
command!(Clear, "Log.clear", Empty);

/// [`Log.entryAdded`](https://chromedevtools.github.io/devtools-protocol/tot/Log/#event-entryAdded)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EntryAdded {
    pub entry: LogEntry,
}
event!(EntryAdded, "Log.entryAdded");

/// [`Log.LogEntry`](https://chromedevtools.github.io/devtools-protocol/tot/Log/#type-LogEntry)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LogEntry {
    pub source: LogSource,
    pub level: LogLevel,
    pub text: String,
    pub category: Option<String>,
    pub timestamp: runtime::Timestamp,
    pub url: Option<String>,
    pub line_number: Option<i64>,
    pub stack_trace: Option<runtime::StackTrace>,
    pub network_request_id: Option<network::RequestId>,
    pub worker_id: Option<String>,
    pub args: Option<Vec<runtime::RemoteObject>>,
}

/// The values of `source` in `Log.LogEntry`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LogSource {
    #[default]
    Xml,
    Javascript,
    Network,
    Storage,
    Appcache,
    Rendering,
    Security,
    Deprecation,
    Worker,
    Violation,
    Intervention,
    Recommendation,
    #[serde(other)]
    Other,
}

/// The values of `level` in `Log.LogEntry`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LogLevel {
    #[default]
    Verbose,
    Info,
    Warning,
    Error,
    /// An unknown value.
    #[serde(other)]
    Unknown,
}
