//! The `Profiler` domain: coverage of scripts.

use serde::{Deserialize, Serialize};

use super::{Empty, command, runtime};

/// [`Profiler.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Enable {}
command!(Enable, "Profiler.enable", Empty);

/// [`Profiler.disable`](https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "Profiler.disable", Empty);

/// Counts the executions of functions, with `detailed` of blocks.
/// [`Profiler.startPreciseCoverage`](https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#method-startPreciseCoverage)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StartPreciseCoverage {
    pub call_count: bool,
    pub detailed: bool,
}
command!(
    StartPreciseCoverage,
    "Profiler.startPreciseCoverage",
    StartPreciseCoverageResponse
);

/// The result of [`StartPreciseCoverage`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct StartPreciseCoverageResponse {
    pub timestamp: f64,
}

/// [`Profiler.takePreciseCoverage`](https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#method-takePreciseCoverage)
#[derive(Debug, Clone, Default, Serialize)]
pub struct TakePreciseCoverage {}
command!(
    TakePreciseCoverage,
    "Profiler.takePreciseCoverage",
    TakePreciseCoverageResponse
);

/// The result of [`TakePreciseCoverage`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct TakePreciseCoverageResponse {
    pub result: Vec<ScriptCoverage>,
}

/// [`Profiler.ScriptCoverage`](https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-ScriptCoverage)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScriptCoverage {
    pub script_id: runtime::ScriptId,
    pub url: String,
    pub functions: Vec<FunctionCoverage>,
}

/// [`Profiler.FunctionCoverage`](https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-FunctionCoverage)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FunctionCoverage {
    pub function_name: String,
    pub ranges: Vec<CoverageRange>,
    pub is_block_coverage: bool,
}

/// A range of UTF-16 units of a script, and how often it was executed. Ranges of a function are nested; the innermost one counts.
/// [`Profiler.CoverageRange`](https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-CoverageRange)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CoverageRange {
    pub start_offset: usize,
    pub end_offset: usize,
    pub count: u64,
}

/// [`Profiler.stopPreciseCoverage`](https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#method-stopPreciseCoverage)
#[derive(Debug, Clone, Default, Serialize)]
pub struct StopPreciseCoverage {}
command!(StopPreciseCoverage, "Profiler.stopPreciseCoverage", Empty);
