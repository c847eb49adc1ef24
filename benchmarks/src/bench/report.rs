//! The tables of the report.

use testkit::Engine;

use super::servers::{Server, WITH_RULES};
use super::workloads::{METRICS, Metric};
use super::{Browser, Plan};
use crate::markdown::{figure, head, ratio, row, verdict};
use crate::samples::Samples;

/// Playhouse and what it is compared with.
const COMPARED: [(&str, &str); 5] = [
    ("ours", "pw"),
    ("ours", "pw0"),
    ("ours", "ab"),
    ("session", "ours"),
    ("ours0", "ours"),
];

/// Returns the table of one browser.
pub(super) fn table(
    plan: &Plan,
    browser: &Browser,
    servers: &[Server],
    samples: &Samples,
) -> String {
    let version = output_of(&browser.path.display().to_string(), &["--version"]);
    let name = browser.path.file_name().unwrap_or_default().display();
    let find = |key: &str| servers.iter().find(|server| server.key == key);
    let compared = COMPARED.iter();
    let compared = compared.filter_map(|(one, other)| Some((find(one)?, find(other)?)));
    let compared: Vec<_> = compared.collect();
    let ratios = compared.iter().map(|(one, other)| {
        let one = if one.key == "ours" { "ours" } else { one.title };
        format!("{one} / {}", other.title)
    });
    let titles = servers.iter().map(|server| server.title.to_owned());
    let mut text = format!("## {name} ({version})\n\n");
    text += &head(titles.chain(ratios));
    let is_chromium = browser.engine == Engine::Chromium;
    let metrics = METRICS.iter().filter(|metric| plan.wants(metric.key));
    for metric in metrics.filter(|metric| is_chromium || metric.timed.is_some()) {
        let (key, mut cells) = (metric.key, vec![metric.title.to_owned()]);
        let medians = servers.iter().map(|server| samples.median(key, server.key));
        cells.extend(medians.map(|median| figure(median, metric.unit)));
        for (one, other) in &compared {
            cells.push(ratio(samples.ratio(key, one.key, other.key)));
        }
        cells.extend(judge(metric, browser, samples));
        text += &row(&cells);
    }
    for (metric, server, why) in &samples.failures {
        text += &format!("\nNo figure for {metric} of {server}: {why}.\n");
    }
    text
}

/// Returns the target and the verdict.
fn judge(metric: &Metric, browser: &Browser, samples: &Samples) -> [String; 2] {
    // Without peers, only the ratio of Playhouse to itself has a target.
    let has_peers = browser.engine == Engine::Chromium;
    let goal = Some(metric.goal).filter(|goal| has_peers || goal.starts_with(WITH_RULES));
    let Some((servers, limits)) = goal.and_then(|goal| goal.split_once(' ')) else {
        return [String::new(), String::new()];
    };
    let limits: Vec<f64> = limits.split(' ').flat_map(str::parse).collect();
    let is_shell = browser.path.display().to_string().contains("headless");
    let limit = limits[if is_shell { limits.len() - 1 } else { 0 }];
    let (one, other) = servers.split_once('/').unwrap_or((servers, ""));
    let value = match other {
        "" => samples.median(metric.key, one),
        other => samples.ratio(metric.key, one, other),
    };
    let goal = match (one, other) {
        (_, "") => format!("≤ {}", figure(Some(limit), metric.unit)),
        (_, "floor") => format!("≤ {limit} × raw CDP"),
        (WITH_RULES, _) => format!("with a rule about domains {} ×, ≤ {limit}", ratio(value)),
        _ => format!("≤ {limit}"),
    };
    [goal, verdict(value.map(|value| value <= limit))]
}

/// Returns the text before the tables.
pub(super) fn introduction(plan: &Plan, servers: &[Server]) -> String {
    const MACHINE: &str = "echo $(nproc) cores, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), \
        $(awk '/^MemTotal/ { printf \"%.0f GB\", $2 / 1048576 }' /proc/meminfo), load $(cut -d ' ' -f 1 /proc/loadavg)";
    let ours = servers.iter().find(|server| server.key == "ours");
    let program = ours.and_then(|server| server.file().metadata().ok());
    let megabytes = program.map_or(0.0, |file| file.len() as f64 / 1e6);
    let values = [
        ("$DATE", output_of("date", &["+%Y-%m-%d %H:%M"])),
        ("$ROUNDS", plan.rounds.to_string()),
        ("$MACHINE", output_of("sh", &["-c", MACHINE])),
        ("$COMMAND", plan.command.clone()),
        ("$SIZE", format!("{megabytes:.1}")),
        ("$VERDICT", verdict(Some(megabytes <= 25.0))),
    ];
    let insert = |text: String, (name, value): &(&str, String)| text.replace(name, value);
    let text = include_str!("introduction.md").to_owned();
    values.iter().fold(text, insert)
}

/// Returns what a program prints; nothing if it fails.
pub(super) fn output_of(program: &str, args: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "it is waited for at once")]
    let output = std::process::Command::new(program).args(args).output();
    let output = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).trim().to_owned()
}
