//! Traces, heap snapshots and coverage, over the session of the page: frames in other processes are part of a trace only.

use super::CdpPage;
use crate::backend::interception::decode_body;
use crate::backend::{CoveredRange, CoveredSource, Handle, OutputFile, Profiling, SourceKind};
use crate::error::{Error, Measurement, Result};
use async_trait::async_trait;
use futures_util::future::join_all;
use std::collections::HashMap;
use tokio::sync::oneshot;
use wire::cdp::{css, debugger, dom, heap_profiler, io, profiler, tracing};

/// The categories that the Performance panel of Chrome DevTools records.
const CATEGORIES: &[&str] = &[
    "blink.console",
    "blink.user_timing",
    "devtools.timeline",
    "disabled-by-default-devtools.screenshot",
    "disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.invalidationTracking",
    "disabled-by-default-devtools.timeline.frame",
    "disabled-by-default-devtools.timeline.stack",
    "disabled-by-default-v8.cpu_profiler",
    "disabled-by-default-v8.cpu_profiler.hires",
    "disabled-by-default-v8.compile",
    "latencyInfo",
    "loading",
    "disabled-by-default-lighthouse",
    "v8.execute",
    "v8",
    "cppgc",
    "navigation,rail",
];
/// The size of the parts in which a trace is read, in bytes.
const PART_SIZE: i64 = 1024 * 1024;

/// The state of the recordings of a page.
#[derive(Default)]
pub(super) struct ProfilingState {
    is_tracing: bool,
    trace_ended: Option<oneshot::Sender<tracing::TracingComplete>>,
    /// The file of the heap snapshot that is being taken, or why it cannot be written.
    heap: Option<Result<OutputFile>>,
    coverage: Option<CoverageState>,
    /// The style sheets, while the `CSS` domain is enabled.
    pub(super) sheets: HashMap<css::StyleSheetId, css::StyleSheetHeader>,
}

impl ProfilingState {
    pub(super) fn is_measuring_coverage(&self) -> bool {
        self.coverage.is_some()
    }
}

/// The scripts whose coverage is measured.
#[derive(Default)]
struct CoverageState {
    scripts: HashMap<String, debugger::ScriptParsed>,
}

#[async_trait]
impl Profiling for CdpPage {
    async fn start_trace(&self) -> Result<()> {
        let recording = Measurement::PerformanceTrace;
        if self.state().profiling.is_tracing {
            return Err(recording.running_error());
        }
        let start = tracing::Start {
            transfer_mode: tracing::TransferMode::ReturnAsStream,
            trace_config: tracing::TraceConfig {
                included_categories: CATEGORIES.to_vec(),
                excluded_categories: vec!["*"],
            },
        };
        match self.session.call(&start).await {
            // A browser records one trace at a time, of whichever page.
            Err(wire::Error::Protocol { message, .. }) if message.contains("started") => {
                Err(recording.running_error())
            }
            other => {
                other?;
                self.state().profiling.is_tracing = true;
                Ok(())
            }
        }
    }

    fn is_tracing(&self) -> bool {
        self.state().profiling.is_tracing
    }

    async fn stop_trace(&self, mut file: OutputFile) -> Result<bool> {
        let ended = {
            let profiling = &mut self.state().profiling;
            if !std::mem::take(&mut profiling.is_tracing) {
                return Err(Measurement::PerformanceTrace.missing_error());
            }
            let (sender, ended) = oneshot::channel();
            profiling.trace_ended = Some(sender);
            ended
        };
        self.session.call(&tracing::End {}).await?;
        let complete = ended.await.map_err(|_| Error::PageClosed {})?;
        let handle = complete.stream.unwrap_or_default();
        loop {
            let read = io::Read {
                handle: handle.clone(),
                size: Some(PART_SIZE),
                ..Default::default()
            };
            let part = self.session.call(&read).await?;
            let is_encoded = part.base64_encoded.unwrap_or_default();
            let bytes = decode_body("IO.read", part.data, is_encoded)?;
            file = task::compute(move || file.append(&bytes).map(|()| file)).await?;
            if part.eof {
                break;
            }
        }
        self.session.post(&io::Close { handle });
        Ok(!complete.data_loss_occurred)
    }

    async fn traced_elements(&self, nodes: &[i64]) -> Result<Vec<Option<Handle>>> {
        let handles = nodes.iter().map(|node| self.handle_of(&self.main, *node));
        Ok(join_all(handles)
            .await
            .into_iter()
            .map(Result::ok)
            .collect())
    }

    async fn heap_snapshot(&self, file: OutputFile) -> Result<()> {
        self.state().profiling.heap = Some(Ok(file));
        let taken = self
            .session
            .call(&heap_profiler::TakeHeapSnapshot::default())
            .await;
        // The parts arrive before the response.
        let handled = self.session.flush().await;
        let written = self.state().profiling.heap.take();
        taken?;
        handled?;
        written.transpose().map(drop)
    }

    async fn start_coverage(&self) -> Result<()> {
        {
            let coverage = &mut self.state().profiling.coverage;
            if coverage.is_some() {
                return Err(Measurement::Coverage.running_error());
            }
            *coverage = Some(CoverageState::default());
        }
        let started = self.send_coverage_start().await;
        if started.is_err() {
            self.end_coverage();
        }
        started
    }

    async fn stop_coverage(&self) -> Result<Vec<CoveredSource>> {
        if self.state().profiling.coverage.is_none() {
            return Err(Measurement::Coverage.missing_error());
        }
        let covered = self.take_coverage().await;
        self.end_coverage();
        covered
    }
}

impl CdpPage {
    async fn send_coverage_start(&self) -> Result<()> {
        let session = &self.session;
        let commands = [
            session.send(&profiler::Enable {}),
            session.send(&dom::Enable {}),
            session.send(&css::Enable {}),
            session.send(&css::StartRuleUsageTracking {}),
        ];
        let counted = session.send(&profiler::StartPreciseCoverage {
            call_count: true,
            detailed: true,
        });
        for command in commands {
            command.await?;
        }
        counted.await?;
        Ok(())
    }

    async fn take_coverage(&self) -> Result<Vec<CoveredSource>> {
        let session = &self.session;
        // Reports the scripts of the documents that are shown. A `debugger` statement must not pause them.
        let enabled = session.send(&debugger::Enable {});
        let unpaused = session.send(&debugger::SetSkipAllPauses { skip: true });
        let scripts = session.send(&profiler::TakePreciseCoverage {});
        let rules = session.send(&css::StopRuleUsageTracking {});
        enabled.await?;
        unpaused.await?;
        let (scripts, rules) = (scripts.await?.result, rules.await?.rule_usage);
        session.flush().await?;
        let (known, sheets) = {
            let profiling = &mut self.state().profiling;
            let sheets = std::mem::take(&mut profiling.sheets);
            (profiling.coverage.take().unwrap_or_default(), sheets)
        };
        let mut sources = self.covered_scripts(scripts, &known).await;
        sources.extend(self.covered_sheets(&rules, &sheets).await);
        Ok(sources)
    }

    async fn covered_scripts(
        &self,
        scripts: Vec<profiler::ScriptCoverage>,
        known: &CoverageState,
    ) -> Vec<CoveredSource> {
        let own = self.session.id().map(|id| &**id).unwrap_or_default();
        let sources = scripts.into_iter().filter_map(|script| {
            let parsed = known.scripts.get(&script.script_id)?;
            let is_of_page = self.worlds().is_main(own, parsed.execution_context_id);
            if !is_of_page || parsed.url.is_empty() {
                return None;
            }
            let source = self.session.send(&debugger::GetScriptSource {
                script_id: script.script_id,
            });
            let functions = script.functions.into_iter().map(|function| {
                let ranges = function.ranges.iter().map(|range| CoveredRange {
                    start: range.start_offset,
                    end: range.end_offset,
                    count: range.count,
                });
                (function.function_name, ranges.collect())
            });
            let functions = functions.collect();
            Some(async move {
                Some(CoveredSource {
                    kind: SourceKind::Script,
                    url: parsed.url.clone(),
                    first_line: usize::try_from(parsed.start_line).unwrap_or(0),
                    text: source.await.ok()?.script_source,
                    functions,
                })
            })
        });
        join_all(sources).await.into_iter().flatten().collect()
    }

    async fn covered_sheets(
        &self,
        rules: &[css::RuleUsage],
        sheets: &HashMap<css::StyleSheetId, css::StyleSheetHeader>,
    ) -> Vec<CoveredSource> {
        let sheets = sheets.values();
        let sheets = sheets.filter(|sheet| !sheet.source_url.is_empty());
        let sources = sheets.map(|sheet| {
            let text = self.session.send(&css::GetStyleSheetText {
                style_sheet_id: sheet.style_sheet_id.clone(),
            });
            let used = rules
                .iter()
                .filter(|rule| rule.used && rule.style_sheet_id == sheet.style_sheet_id);
            let used = used.map(|rule| CoveredRange {
                start: offset(rule.start_offset),
                end: offset(rule.end_offset),
                count: 1,
            });
            let functions = vec![(String::new(), used.collect())];
            async move {
                // The style sheet may have been removed.
                let text = text.await.ok()?.text;
                Some(CoveredSource {
                    kind: SourceKind::StyleSheet,
                    url: sheet.source_url.clone(),
                    first_line: if sheet.is_inline {
                        offset(sheet.start_line)
                    } else {
                        0
                    },
                    text,
                    functions,
                })
            }
        });
        join_all(sources).await.into_iter().flatten().collect()
    }

    /// Disables what the measurement has enabled, without waiting for the effect.
    fn end_coverage(&self) {
        {
            let profiling = &mut self.state().profiling;
            profiling.coverage = None;
            profiling.sheets.clear();
        }
        let session = &self.session;
        session.post(&debugger::Disable {});
        session.post(&profiler::StopPreciseCoverage {});
        session.post(&profiler::Disable {});
        session.post(&css::Disable {});
        session.post(&dom::Disable {});
    }

    pub(super) fn on_tracing_complete(&self, complete: tracing::TracingComplete) {
        if let Some(waiting) = self.state().profiling.trace_ended.take() {
            // The waiter may be cancelled.
            let _ = waiting.send(complete);
        }
    }

    /// Writes a part of a heap snapshot. To hand it over to a thread would take longer than to write it to the page cache.
    pub(super) fn on_heap_snapshot_chunk(&self, chunk: &heap_profiler::AddHeapSnapshotChunk) {
        // The file is taken out, so that the state is not locked while it is written.
        let heap = self.state().profiling.heap.take();
        if let Some(Ok(mut file)) = heap {
            let written = file.append(chunk.chunk.as_bytes()).map(|()| file);
            self.state().profiling.heap = Some(written);
        } else {
            self.state().profiling.heap = heap;
        }
    }

    pub(super) fn on_style_sheet_added(&self, added: css::StyleSheetAdded) {
        let header = added.header;
        let sheets = &mut self.state().profiling.sheets;
        sheets.insert(header.style_sheet_id.clone(), header);
    }

    pub(super) fn on_style_sheet_removed(&self, removed: &css::StyleSheetRemoved) {
        let sheets = &mut self.state().profiling.sheets;
        sheets.remove(&removed.style_sheet_id);
    }

    pub(super) fn on_script_parsed(&self, parsed: debugger::ScriptParsed) {
        if let Some(coverage) = &mut self.state().profiling.coverage {
            coverage.scripts.insert(parsed.script_id.clone(), parsed);
        }
    }

    /// Removes the style sheets of the document that the main frame showed before.
    pub(super) fn clear_style_sheets(&self) {
        self.state().profiling.sheets.clear();
    }
}

fn offset(number: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an offset is a whole number and not negative"
    )]
    let offset = number as usize;
    offset
}
