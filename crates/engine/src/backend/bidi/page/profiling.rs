//! Traces, heap snapshots and coverage, for which WebDriver BiDi has no command.

use super::BidiPage;
use crate::backend::bidi::CAPABILITIES;
use crate::backend::{CoveredSource, Feature, Handle, OutputFile, Profiling};
use crate::error::{Error, Result};
use async_trait::async_trait;

#[async_trait]
impl Profiling for BidiPage {
    async fn start_trace(&self) -> Result<()> {
        refuse(Feature::PerformanceTrace)
    }

    async fn stop_trace(&self, _file: OutputFile) -> Result<bool> {
        refuse(Feature::PerformanceTrace)
    }

    async fn traced_elements(&self, _nodes: &[i64]) -> Result<Vec<Option<Handle>>> {
        refuse(Feature::PerformanceTrace)
    }

    async fn heap_snapshot(&self, _file: OutputFile) -> Result<()> {
        refuse(Feature::HeapSnapshot)
    }

    async fn start_coverage(&self) -> Result<()> {
        refuse(Feature::Coverage)
    }

    async fn stop_coverage(&self) -> Result<Vec<CoveredSource>> {
        refuse(Feature::Coverage)
    }
}

fn refuse<T>(feature: Feature) -> Result<T> {
    CAPABILITIES.require(feature)?;
    Err(Error::protocol("BiDi", "there is no such command"))
}
