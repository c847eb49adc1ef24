//! The settings of the export of traces.

use std::time::Duration;

/// Where traces are exported to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceSettings {
    /// The URL that receives traces; `None`: that of the `OTEL_*` variables.
    pub url: Option<String>,
    /// The longest time that a request to the collector may take.
    pub timeout: Duration,
}
