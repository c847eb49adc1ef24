//! The tables, in Markdown.

use std::fmt::Write as _;
use std::path::Path;

use crate::metrics::{Goal, METRICS, Metric, Unit};
use crate::plan::Plan;
use crate::samples::Samples;
use crate::servers::Server;

/// What was measured on one browser.
pub(crate) struct Part {
    pub(crate) browser: String,
    pub(crate) headless_shell: bool,
    pub(crate) servers: Vec<Server>,
    pub(crate) missing: Vec<String>,
    pub(crate) samples: Samples,
}

/// One browser's table.
pub(crate) fn table(plan: &Plan, part: &Part) -> String {
    let mut text = format!("## {}\n\n", part.browser);
    let compared: Vec<&Server> = part
        .servers
        .iter()
        .filter(|server| !matches!(server.key, "ours" | "floor"))
        .collect();
    text += "| |";
    for server in &part.servers {
        let _ = write!(text, " {} |", server.title);
    }
    for server in &compared {
        let _ = write!(text, " ours / {} |", server.title);
    }
    text += " target | |\n|---|";
    text += &"---:|".repeat(part.servers.len() + compared.len() + 1);
    text += "---|\n";
    for metric in METRICS.iter().filter(|metric| plan.wants(metric.key)) {
        let _ = write!(text, "| {} |", metric.title);
        for server in &part.servers {
            let figure = part.samples.median(metric.key, server.key);
            let _ = write!(
                text,
                " {} |",
                figure.map_or("–".to_owned(), |figure| show(figure, metric.unit))
            );
        }
        for server in &compared {
            let ratio = part.samples.ratio(metric.key, "ours", server.key);
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

/// The targets that are missed, by name.
pub(crate) fn missed(plan: &Plan, part: &Part) -> Vec<&'static str> {
    let asked = METRICS.iter().filter(|metric| plan.wants(metric.key));
    asked
        .filter(|metric| judge(metric, part).1 == MISSED)
        .map(|metric| metric.key)
        .collect()
}

const MISSED: &str = "**missed**";

fn judge(metric: &Metric, part: &Part) -> (String, &'static str) {
    let (goal, figure, limit) = match metric.goal {
        Goal::None => return (String::new(), ""),
        Goal::Ratio(limit) => (
            format!("≤ {limit}"),
            part.samples.ratio(metric.key, "ours", "pw"),
            limit,
        ),
        Goal::Floor(limit) => (
            format!("≤ {limit} × raw CDP"),
            part.samples.ratio(metric.key, "ours", "floor"),
            limit,
        ),
        Goal::AtMost(full, shell) => {
            let limit = if part.headless_shell { shell } else { full };
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

/// The size of the program that is shipped, against its budget of 25 MB.
pub(crate) fn size(program: &Path) -> String {
    let bytes = std::fs::metadata(program).map_or(0, |metadata| metadata.len());
    let megabytes = bytes as f64 / 1e6;
    let verdict = if megabytes <= 25.0 { "reached" } else { MISSED };
    format!("The program is {megabytes:.1} MB (target: 25 MB, {verdict}).")
}
