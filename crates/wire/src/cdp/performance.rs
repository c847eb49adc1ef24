//! The `Performance` domain: run-time metrics.

use serde::{Deserialize, Serialize};

use super::{Empty, command};

/// [`Performance.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Performance/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_domain: Option<String>,
}
command!(Enable, "Performance.enable", Empty);

/// [`Performance.disable`](https://chromedevtools.github.io/devtools-protocol/tot/Performance/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "Performance.disable", Empty);

/// [`Performance.getMetrics`](https://chromedevtools.github.io/devtools-protocol/tot/Performance/#method-getMetrics)
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetMetrics {}
command!(GetMetrics, "Performance.getMetrics", GetMetricsResponse);

/// The answer to [`GetMetrics`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetMetricsResponse {
    pub metrics: Vec<Metric>,
}

/// [`Performance.Metric`](https://chromedevtools.github.io/devtools-protocol/tot/Performance/#type-Metric)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metric {
    pub name: String,
    pub value: f64,
}
