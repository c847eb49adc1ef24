//! The performance of a page: Core Web Vitals, traces, heap snapshots and coverage.

mod coverage;
mod dominators;
mod heap;
mod insights;
mod trace;
mod vitals;

pub use coverage::{CoverageReport, CoveredFile};
pub use heap::{HeapClass, HeapSummary};
pub use insights::{
    BlockingRequest, HotFunction, LayoutShiftCause, LcpBreakdown, LongTask, TraceInsights,
    TracedInteraction, TracedShift,
};
pub use vitals::{Interaction, LargestPaint, LayoutShift, Measured, Rating, Vital, Vitals};

use crate::backend::{CoveredSource, OutputFile};
use crate::error::Result;
use crate::page::Page;
use crate::progress::Progress;
use crate::reading::{ElementFacts, describe_handles};
use std::fs::File;
use task::compute;

impl Page {
    /// Begins a performance trace of the page's browser, which records at most one at a time.
    pub async fn start_trace(&self, progress: &Progress) -> Result<()> {
        progress.run(self.backend.start_trace()).await
    }

    /// Returns whether a performance trace that this page began is being recorded.
    pub fn is_tracing(&self) -> bool {
        self.backend.is_tracing()
    }

    /// Ends the trace and writes it to a file that the Performance panel of Chrome DevTools opens. Returns whether it has all events.
    pub async fn stop_trace(&self, progress: &Progress, file: OutputFile) -> Result<bool> {
        progress.run(self.backend.stop_trace(file)).await
    }

    /// Reads a trace and computes its insights. Functions have the positions and names of the sources, as far as there are source maps.
    pub async fn trace_insights(&self, progress: &Progress, file: File) -> Result<TraceInsights> {
        let mut insights = compute(move || TraceInsights::read(file)).await?;
        self.map_functions(progress, insights.functions_mut()).await;
        Ok(insights)
    }

    /// Returns the facts of elements that a trace names by their node ids, in the order of the ids. Removed ones are `None`.
    pub async fn traced_elements(
        &self,
        progress: &Progress,
        nodes: &[i64],
    ) -> Result<Vec<Option<ElementFacts>>> {
        let main = self.main_frame();
        let described = async {
            let handles = self.backend.traced_elements(nodes).await?;
            let mut elements = Vec::new();
            for handle in handles {
                let facts = match handle {
                    Some(handle) => describe_handles(self, &main, &[handle]).await?.pop(),
                    None => None,
                };
                elements.push(facts);
            }
            Ok(elements)
        };
        progress.run(described).await
    }

    /// Writes a snapshot of the page's JavaScript heap to a file that the Memory panel of Chrome DevTools opens.
    pub async fn heap_snapshot(&self, progress: &Progress, file: OutputFile) -> Result<()> {
        progress.run(self.backend.heap_snapshot(file)).await
    }

    /// Begins to measure which parts of scripts and style sheets are used.
    pub async fn start_coverage(&self, progress: &Progress) -> Result<()> {
        progress.run(self.backend.start_coverage()).await
    }

    /// Ends the measurement. Returns the coverage of the documents that are shown: of the files from which scripts and style sheets were
    /// built, as far as they have source maps.
    pub async fn stop_coverage(&self, progress: &Progress) -> Result<CoverageReport> {
        let sources: Vec<CoveredSource> = progress.run(self.backend.stop_coverage()).await?;
        let sources = self.with_source_maps(progress, sources).await;
        Ok(compute(move || CoverageReport::of(&sources)).await)
    }
}
