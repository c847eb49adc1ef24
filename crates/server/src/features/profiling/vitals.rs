//! Core Web Vitals.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{ElementFacts, Interaction, LayoutShift, Measured, Vital};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Vitals>()];

/// The largest number of layout shifts, and of elements of a shift, in an answer.
pub(super) const MAX_LISTED: usize = 5;
/// The longest name of an element, in characters.
const MAX_NAME: usize = 60;

/// Show the Core Web Vitals of the page and the elements responsible.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Vitals {}

impl Tool for Vitals {
    const NAME: &'static str = "browser_vitals";
    const TITLE: &'static str = "Core Web Vitals";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Performance);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let vitals = tab.page.vitals(&call.action()).await?;
        let browser = tab.capabilities()?.browser;
        let mut lines = Vec::new();
        let mut add = |name: &str, line: Measured<String>, nothing: &str| {
            lines.push(match line {
                Measured::Unsupported => format!("{name}: not reported by {browser}"),
                Measured::Nothing => format!("{name}: {nothing}"),
                Measured::Value(line) => line,
            });
        };
        let lcp = mapped(vitals.lcp, |lcp| {
            let element = lcp.element.iter().map(shown);
            let url = Some(lcp.url).filter(|url| !url.is_empty());
            let facts: Vec<_> = element.chain(url).collect();
            with_details(&millis_of(Vital::Lcp, "LCP", lcp.time), &facts)
        });
        add("LCP", lcp, "nothing was painted yet");
        let cls = mapped(vitals.cls, |shifts| {
            let scores = shifts.iter().map(|shift| shift.value);
            let mut lines = vec![layout_shift_score(scores)];
            lines.extend(largest(shifts).iter().map(|shift| {
                let elements = shift.elements.iter().take(MAX_LISTED).map(shown);
                shift_line(shift.value, shift.time, &elements.collect::<Vec<_>>(), &[])
            }));
            lines.join("\n")
        });
        add("CLS", cls, "");
        let inp = mapped(vitals.inp, |inp: Interaction| {
            let target = inp.element.as_ref().map(shown);
            let parts = [inp.input_delay, inp.processing, inp.presentation];
            interaction_line(inp.duration, &inp.event, target.as_deref(), inp.time, parts)
        });
        add("INP", inp, "no interaction yet");
        let ttfb = mapped(vitals.ttfb, |time| millis_of(Vital::Ttfb, "TTFB", time));
        add("TTFB", ttfb, "the document was not loaded over the network");
        let fcp = mapped(vitals.fcp, |time| millis_of(Vital::Fcp, "FCP", time));
        add("FCP", fcp, "nothing was painted yet");
        Ok(Reply::page(lines.join("\n")))
    }
}

fn mapped<T>(measured: Measured<T>, line: impl FnOnce(T) -> String) -> Measured<String> {
    match measured {
        Measured::Unsupported => Measured::Unsupported,
        Measured::Nothing => Measured::Nothing,
        Measured::Value(value) => Measured::Value(line(value)),
    }
}

fn with_details(line: &str, details: &[String]) -> String {
    match details {
        [] => line.to_owned(),
        details => format!("{line}: {}", details.join(", ")),
    }
}

/// Returns a time with its rating, such as `LCP 1240 ms (good)`.
pub(super) fn millis_of(vital: Vital, name: &str, time: f64) -> String {
    format!("{name} {time:.0} ms ({})", vital.rating(time))
}

/// Returns the line of the sum of layout shifts.
pub(super) fn layout_shift_score(scores: impl Iterator<Item = f64>) -> String {
    let sum = scores.fold(0.0, |sum, score| sum + score);
    format!("CLS {sum:.3} ({})", Vital::Cls.rating(sum))
}

/// Returns the line of a layout shift.
pub(super) fn shift_line(score: f64, at: f64, elements: &[String], causes: &[String]) -> String {
    let mut line = format!("- {score:.3} at {at:.0} ms");
    if !elements.is_empty() {
        line += &format!(": {}", elements.join(", "));
    }
    if !causes.is_empty() {
        line += &format!("; possible cause: {}", causes.join(", "));
    }
    line
}

/// Returns the line of the interaction whose latency is INP.
pub(super) fn interaction_line(
    duration: f64,
    event: &str,
    target: Option<&str>,
    at: f64,
    [input_delay, processing, presentation]: [f64; 3],
) -> String {
    let target = target
        .map(|target| format!(" on {target}"))
        .unwrap_or_default();
    format!(
        "{}: {event}{target} at {at:.0} ms: input delay {input_delay:.0} ms, processing {processing:.0} ms, presentation {presentation:.0} ms",
        millis_of(Vital::Inp, "INP", duration)
    )
}

fn largest(mut shifts: Vec<LayoutShift>) -> Vec<LayoutShift> {
    shifts.sort_by(|one, other| other.value.total_cmp(&one.value));
    shifts.truncate(MAX_LISTED);
    shifts
}

/// Returns an element with its ref, such as `img "Hero" [ref=e5]`.
pub(super) fn shown(element: &ElementFacts) -> String {
    let reference = &element.reference;
    if element.name.is_empty() {
        let id = element.attributes.get("id");
        let id = id.map(|id| format!("#{id}")).unwrap_or_default();
        return format!("{}{id} [ref={reference}]", element.tag);
    }
    let name = match element.name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", &element.name[..end]),
        None => element.name.clone(),
    };
    format!(
        "{} {} [ref={reference}]",
        element.role,
        serde_json::Value::from(name)
    )
}
