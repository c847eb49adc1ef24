//! Performance traces and what they say.

use super::vitals::{
    MAX_LISTED, interaction_line, layout_shift_score, millis_of, shift_line, shown,
};
use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::Capability;
use crate::error::{Error, Result};
use crate::tools::scope::{CurrentTab, TabInAnyState};
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{Feature, LayoutShiftCause, TraceInsights, Vital};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<PerformanceStart>(),
    ToolDef::of::<PerformanceStop>(),
];

/// Start a performance trace.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PerformanceStart {}

impl Tool for PerformanceStart {
    const NAME: &'static str = "browser_performance_start";
    const TITLE: &'static str = "Start performance trace";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Performance);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        tab.require(Feature::PerformanceTrace)?;
        let started = tab.page.start_trace(&call.action()).await;
        started.map_err(|error| {
            recording_error(
                error,
                "A performance trace of this browser is being recorded already. End it with browser_performance_stop.",
            )
        })?;
        Ok(Reply::text("The performance trace is being recorded."))
    }
}

/// Stop the trace and save it for Chrome DevTools, with insights.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PerformanceStop {
    /// File to write.
    filename: Option<String>,
}

impl Tool for PerformanceStop {
    const NAME: &'static str = "browser_performance_stop";
    const TITLE: &'static str = "Stop performance trace";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Performance);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        tab.require(Feature::PerformanceTrace)?;
        let files = tab.files(call).await;
        if let Some(name) = &self.filename {
            files.writable(name)?;
        }
        if !tab.page.is_tracing() {
            return Err(conflict(
                "No performance trace of this page is being recorded. Call browser_performance_start first.",
            ));
        }
        let name = self.filename.as_deref();
        let file = files.file(name, "performance", "json").await?;
        let (raw, output) = files.unnamed(&file)?;
        let is_complete = tab.page.stop_trace(&call.navigation(), output).await?;
        files.write_masked(&file, raw).await?;
        let written = files.open_for_reading(&file.path).await?;
        let insights = tab.page.trace_insights(&call.action(), written).await?;
        let names = element_names(&tab, call, &insights).await?;
        let mut text = described(&insights, &names);
        if !is_complete {
            text.insert(0, "The browser lost events of this trace.".to_owned());
        }
        Ok(Reply::default()
            .and(Part::File {
                title: "Performance trace".to_owned(),
                link: file.link,
            })
            .and(Part::Page(text.join("\n"))))
    }
}

/// Returns the error of a call that a recording in another state refuses, with the call that is possible.
pub(super) fn recording_error(error: engine::Error, instead: &'static str) -> Error {
    match error {
        engine::Error::MeasurementState { .. } => conflict(instead),
        error => error.into(),
    }
}

pub(super) fn conflict(reason: &'static str) -> Error {
    Error::Arguments {
        reason: reason.into(),
        parameters: &[],
        missing: &[],
        bare: false,
    }
}

/// Returns the elements that the answer names, by their node ids.
async fn element_names(
    tab: &TabInAnyState,
    call: &Call,
    insights: &TraceInsights,
) -> Result<BTreeMap<i64, String>> {
    let shifts = || insights.shifts.iter();
    let moved = shifts().flat_map(|shift| shift.nodes.iter().take(MAX_LISTED).copied());
    let images = shifts().flat_map(|shift| {
        shift.causes.iter().filter_map(|cause| match cause {
            LayoutShiftCause::UnsizedImage(node) => Some(*node),
            LayoutShiftCause::Font(_) => None,
        })
    });
    let largest = insights.lcp.iter().map(|lcp| lcp.node);
    let target = insights.interaction.iter().map(|inp| inp.node);
    let nodes = largest.chain(target).chain(images).chain(moved);
    let mut nodes: Vec<_> = nodes.filter(|node| *node > 0).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.truncate(10 * MAX_LISTED);
    let found = tab.page.traced_elements(&call.action(), &nodes).await?;
    let named = nodes.into_iter().zip(found);
    Ok(named
        .filter_map(|(node, facts)| Some((node, shown(&facts?))))
        .collect())
}

/// Returns the insights in words, line by line.
fn described(insights: &TraceInsights, names: &BTreeMap<i64, String>) -> Vec<String> {
    let mut lines = vec![format!("Recorded {:.1} s", insights.duration / 1_000.0)];
    match &insights.url {
        Some(url) => lines[0] += &format!("; times since the navigation to {url}"),
        None => lines[0] += " without a navigation; times since the start",
    }
    match &insights.lcp {
        None => lines.push("LCP: none in this trace".to_owned()),
        Some(lcp) => {
            let mut parts = vec![format!("TTFB {:.0} ms", lcp.ttfb)];
            parts.extend(
                lcp.load_delay
                    .map(|time| format!("load delay {time:.0} ms")),
            );
            parts.extend(
                lcp.load_duration
                    .map(|time| format!("load duration {time:.0} ms")),
            );
            parts.push(format!("render delay {:.0} ms", lcp.render_delay));
            let element = names.get(&lcp.node).into_iter().chain(&lcp.url);
            let element = element.cloned().collect::<Vec<_>>().join(", ");
            let line = millis_of(Vital::Lcp, "LCP", lcp.time);
            lines.push(format!("{line}: {}; {element}", parts.join(", ")));
        }
    }
    lines.push(format!(
        "Render-blocking requests: {}",
        insights.blocking.len()
    ));
    let mut blocking: Vec<_> = insights.blocking.iter().collect();
    blocking.sort_by(|one, other| other.duration.total_cmp(&one.duration));
    lines.extend(blocking.iter().take(MAX_LISTED).map(|request| {
        let (duration, at) = (request.duration, request.at);
        format!("- {duration:.0} ms from {at:.0} ms: {}", request.url)
    }));
    let scores = insights.shifts.iter().map(|shift| shift.score);
    lines.push(layout_shift_score(scores));
    let name = |node: &i64| names.get(node).cloned();
    let mut shifts: Vec<_> = insights.shifts.iter().collect();
    shifts.sort_by(|one, other| other.score.total_cmp(&one.score));
    lines.extend(shifts.iter().take(MAX_LISTED).map(|shift| {
        let elements: Vec<_> = shift
            .nodes
            .iter()
            .filter_map(name)
            .take(MAX_LISTED)
            .collect();
        let causes = shift
            .causes
            .iter()
            .take(MAX_LISTED)
            .map(|cause| match cause {
                LayoutShiftCause::UnsizedImage(node) => {
                    let image = name(node).unwrap_or_else(|| "a removed one".to_owned());
                    format!("image without size {image}")
                }
                LayoutShiftCause::Font(url) => format!("font {url}"),
            });
        let causes: Vec<_> = causes.collect();
        shift_line(shift.score, shift.at, &elements, &causes)
    }));
    lines.push(format!(
        "Long tasks: {}, {:.0} ms, {:.0} ms of them beyond 50 ms per task",
        insights.long_task_count, insights.long_task_time, insights.blocking_time
    ));
    lines.extend(insights.long_tasks.iter().take(MAX_LISTED).map(|task| {
        let function = task.function.as_ref().map(ToString::to_string);
        let work = task.trigger.iter().cloned().chain(function);
        let work = work.collect::<Vec<_>>().join(", ");
        let separator = if work.is_empty() { "" } else { ": " };
        format!(
            "- {:.0} ms at {:.0} ms{separator}{work}",
            task.duration, task.at
        )
    }));
    if !insights.hot_functions.is_empty() {
        lines.push("Functions with most time in long tasks:".to_owned());
        let functions = insights.hot_functions.iter().take(MAX_LISTED);
        lines.extend(functions.map(|hot| format!("- {:.0} ms: {}", hot.time, hot.function)));
    }
    lines.push(match &insights.interaction {
        None => "INP: no interaction in this trace".to_owned(),
        Some(inp) => {
            let target = names.get(&inp.node).map(String::as_str);
            let parts = [inp.input_delay, inp.processing, inp.presentation];
            interaction_line(inp.duration, &inp.event, target, inp.at, parts)
        }
    });
    lines
}
