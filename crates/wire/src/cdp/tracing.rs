//! The `Tracing` domain: recording trace events of the browser.

use serde::{Deserialize, Serialize};

use super::{Empty, command, event, io};

/// Begins a trace; the browser records at most one at a time.
/// [`Tracing.start`](https://chromedevtools.github.io/devtools-protocol/tot/Tracing/#method-start)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    pub transfer_mode: TransferMode,
    pub trace_config: TraceConfig,
}
command!(Start, "Tracing.start", Empty);

/// [`Tracing.TraceConfig`](https://chromedevtools.github.io/devtools-protocol/tot/Tracing/#type-TraceConfig)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceConfig {
    pub included_categories: Vec<&'static str>,
    pub excluded_categories: Vec<&'static str>,
}

/// How the browser hands over the trace.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub enum TransferMode {
    #[default]
    ReportEvents,
    ReturnAsStream,
}

/// Ends the trace. [`TracingComplete`] follows.
/// [`Tracing.end`](https://chromedevtools.github.io/devtools-protocol/tot/Tracing/#method-end)
#[derive(Debug, Clone, Default, Serialize)]
pub struct End {}
command!(End, "Tracing.end", Empty);

/// [`Tracing.tracingComplete`](https://chromedevtools.github.io/devtools-protocol/tot/Tracing/#event-tracingComplete)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TracingComplete {
    pub data_loss_occurred: bool,
    pub stream: Option<io::StreamHandle>,
}
event!(TracingComplete, "Tracing.tracingComplete");
