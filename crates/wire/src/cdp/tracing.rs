//! The `Tracing` domain: performance traces of the browser.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Empty, command, event, io};

/// [`Tracing.start`](https://chromedevtools.github.io/devtools-protocol/tot/Tracing/#method-start)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_mode: Option<TransferMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_compression: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_config: Option<TraceConfig>,
}
command!(Start, "Tracing.start", Empty);

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
    pub trace_format: Option<String>,
    pub stream_compression: Option<String>,
}
event!(TracingComplete, "Tracing.tracingComplete");

/// [`Tracing.dataCollected`](https://chromedevtools.github.io/devtools-protocol/tot/Tracing/#event-dataCollected)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DataCollected {
    pub value: Box<RawValue>,
}
event!(DataCollected, "Tracing.dataCollected");

/// [`Tracing.bufferUsage`](https://chromedevtools.github.io/devtools-protocol/tot/Tracing/#event-bufferUsage)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BufferUsage {
    pub percent_full: Option<f64>,
    pub event_count: Option<f64>,
    pub value: Option<f64>,
}
event!(BufferUsage, "Tracing.bufferUsage");

/// [`Tracing.TraceConfig`](https://chromedevtools.github.io/devtools-protocol/tot/Tracing/#type-TraceConfig)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub included_categories: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded_categories: Option<Vec<String>>,
}

/// What `transferMode` may be in `Tracing.start`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
pub enum TransferMode {
    #[default]
    ReportEvents,
    ReturnAsStream,
}
