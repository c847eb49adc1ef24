//! The tables of the report, in Markdown.

use std::fmt::Write as _;
use std::path::Path;

use testkit::Engine;

use crate::metrics::{Goal, METRICS, Metric, Unit};
use crate::plan::{Browser, Plan};
use crate::samples::Samples;
use crate::servers::{Server, WITH_RULES};
use crate::warm;

/// The measurements on one browser.
pub(crate) struct Part {
    pub(crate) browser: Browser,
    pub(crate) version: String,
    pub(crate) servers: Vec<Server>,
    pub(crate) missing: Vec<String>,
    pub(crate) samples: Samples,
}

/// Returns the table of one browser.
pub(crate) fn table(plan: &Plan, part: &Part) -> String {
    let mut text = format!("## {}\n\n", part.version);
    let compared = compared(part);
    text += "| |";
    for server in &part.servers {
        let _ = write!(text, " {} |", server.title);
    }
    for (one, other) in &compared {
        let one = match one.key {
            "ours" => "ours",
            _ => one.title,
        };
        let _ = write!(text, " {one} / {} |", other.title);
    }
    text += " target | |\n|---|";
    text += &"---:|".repeat(part.servers.len() + compared.len() + 1);
    text += "---|\n";
    for metric in selected_metrics(plan, part) {
        let _ = write!(text, "| {} |", metric.title);
        for server in &part.servers {
            let figure = part.samples.median(metric.key, server.key);
            let _ = write!(
                text,
                " {} |",
                figure.map_or("–".to_owned(), |figure| show(figure, metric.unit))
            );
        }
        for (one, other) in &compared {
            let ratio = part.samples.ratio(metric.key, one.key, other.key);
            let _ = write!(text, " {} |", ratio.map_or("–".to_owned(), show_ratio));
        }
        let (goal, verdict) = judge(metric, part);
        let _ = writeln!(text, " {goal} | {verdict} |");
    }
    for word in &part.missing {
        let _ = write!(text, "\nLeft out: {word}.\n");
    }
    for (metric, server, why) in part.samples.failures() {
        let _ = write!(text, "\nNo figure for {metric} of {server}: {why}.\n");
    }
    text
}

/// Returns the names of the missed targets.
pub(crate) fn missed(plan: &Plan, part: &Part) -> Vec<&'static str> {
    selected_metrics(plan, part)
        .filter(|metric| judge(metric, part).1 == MISSED)
        .map(|metric| metric.key)
        .collect()
}

/// Returns the rows of this browser.
fn selected_metrics(plan: &Plan, part: &Part) -> impl Iterator<Item = &'static Metric> {
    let all = part.browser.engine == Engine::Chromium;
    METRICS
        .iter()
        .filter(move |metric| plan.wants(metric.key) && (all || warm::measures(metric.key)))
}

/// Returns the compared servers: Playhouse with each other server; without others, each variant of Playhouse with the baseline that waits
/// for the same.
fn compared(part: &Part) -> Vec<(&Server, &Server)> {
    let pairs: &[_] = match part.browser.engine {
        Engine::Chromium => &[
            ("ours", "pw"),
            ("ours", "pw0"),
            ("ours", "ab"),
            ("session", "ours"),
        ],
        _ => &[("ours", "floor-settled"), ("ours0", "floor")],
    };
    let find = |key: &str| part.servers.iter().find(|server| server.key == key);
    let pairs = pairs.iter();
    pairs
        .filter_map(|(one, other)| Some((find(one)?, find(other)?)))
        .collect()
}

const MISSED: &str = "**missed**";

fn judge(metric: &Metric, part: &Part) -> (String, &'static str) {
    let (floor, title) = match part.browser.engine {
        Engine::Chromium => ("floor", "raw CDP"),
        _ => ("floor-settled", "raw, settled"),
    };
    let (goal, figure, limit) = match metric.goal_on(part.browser.engine) {
        Goal::None => return (String::new(), ""),
        Goal::Ratio(limit) => (
            format!("≤ {limit}"),
            part.samples.ratio(metric.key, "ours", "pw"),
            limit,
        ),
        Goal::Baseline(limit) => (
            format!("≤ {limit} × {title}"),
            part.samples.ratio(metric.key, "ours", floor),
            limit,
        ),
        Goal::Rules(limit) => {
            let ratio = part.samples.ratio(metric.key, WITH_RULES, "ours");
            let shown = ratio.map_or("–".to_owned(), show_ratio);
            let goal = format!("with a rule about domains {shown} ×, ≤ {limit}");
            (goal, ratio, limit)
        }
        Goal::AtMost(full, shell) => {
            let limit = if part.browser.is_headless_shell() {
                shell
            } else {
                full
            };
            let limit_text = format!("≤ {}", show(limit, metric.unit));
            (limit_text, part.samples.median(metric.key, "ours"), limit)
        }
    };
    let verdict = match figure {
        None => "–",
        Some(figure) if figure <= limit => "reached",
        Some(_) => MISSED,
    };
    (goal, verdict)
}

fn show(figure: f64, unit: Unit) -> String {
    let number = if figure >= 100.0 {
        format!("{figure:.0}")
    } else if figure >= 10.0 {
        format!("{figure:.1}")
    } else {
        format!("{figure:.2}")
    };
    match unit {
        Unit::Milliseconds => format!("{number} ms"),
        Unit::CpuSeconds => format!("{figure:.3} s"),
        Unit::Megabytes => format!("{number} MB"),
        Unit::Tokens => format!("{figure:.0}"),
    }
}

fn show_ratio(ratio: f64) -> String {
    if ratio < 0.01 {
        format!("{ratio:.4}")
    } else if ratio < 0.1 {
        format!("{ratio:.3}")
    } else {
        format!("{ratio:.2}")
    }
}

/// Reports the size of the shipped program, against its budget of 25 MB.
pub(crate) fn size(program: &Path) -> String {
    let bytes = std::fs::metadata(program).map_or(0, |metadata| metadata.len());
    let megabytes = bytes as f64 / 1e6;
    let verdict = if megabytes <= 25.0 { "reached" } else { MISSED };
    format!("The program is {megabytes:.1} MB (target: 25 MB, {verdict}).")
}
