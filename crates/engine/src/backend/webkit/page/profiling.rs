//! Traces, heap snapshots and coverage, which WebKit does not have.

use super::WebKitPage;
use crate::backend::{CoveredSource, Feature, Handle, OutputFile, Profiling};
use crate::error::Result;
use async_trait::async_trait;

#[async_trait]
impl Profiling for WebKitPage {
    async fn start_trace(&self) -> Result<()> {
        self.refuse(Feature::PerformanceTrace)
    }

    async fn stop_trace(&self, _file: OutputFile) -> Result<bool> {
        self.refuse(Feature::PerformanceTrace)
    }

    async fn traced_elements(&self, _nodes: &[i64]) -> Result<Vec<Option<Handle>>> {
        self.refuse(Feature::PerformanceTrace)
    }

    async fn heap_snapshot(&self, _file: OutputFile) -> Result<()> {
        self.refuse(Feature::HeapSnapshot)
    }

    async fn start_coverage(&self) -> Result<()> {
        self.refuse(Feature::Coverage)
    }

    async fn stop_coverage(&self) -> Result<Vec<CoveredSource>> {
        self.refuse(Feature::Coverage)
    }
}
