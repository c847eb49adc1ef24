//! The `log` module: console messages and uncaught errors.

use serde::Deserialize;

use super::event;
use super::script::{RemoteValue, SourceInfo, StackTrace};

/// [`log.entryAdded`](https://w3c.github.io/webdriver-bidi/#event-log-entryAdded)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EntryAdded {
    /// `console`, `javascript`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// `debug`, `info`, `warn` or `error`.
    pub level: String,
    pub source: SourceInfo,
    pub text: Option<String>,
    pub stack_trace: Option<StackTrace>,
    /// The method of the console, for `console`.
    pub method: String,
    pub args: Vec<RemoteValue>,
}
event!(EntryAdded, "log.entryAdded");
