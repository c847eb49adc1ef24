//! Measures the cost of tool calls: Playhouse, `@playwright/mcp` as shipped and without its settling, `agent-browser`, and bare commands as
//! the baseline, on the same pages in the same browser, in interleaved rounds; on Firefox and WebKit, which the others do not support as
//! installed, Playhouse and the baseline. Each effect is checked. Only ratios are valid for other machines.
//!
//! `make bench` builds and installs what it needs and runs it; `bench --rounds 1 --only click --servers pw,ours` is a quick check. Run it
//! on an idle machine.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it reports")]

mod answers;
mod cold;
mod contexts;
mod metrics;
mod pages;
mod plan;
mod report;
mod samples;
mod servers;
mod sessions;
mod steps;
mod tokens;
mod traffic;
mod warm;
mod wires;

use std::fmt::Write as _;
use std::process::ExitCode;

use testkit::{Engine, Site};

use cold::Cold;
use plan::{Browser, Plan};
use report::Part;
use samples::Samples;
use servers::{Running, Server};
use steps::Vocabulary;

#[tokio::main]
async fn main() -> ExitCode {
    let plan = match Plan::read(std::env::args().skip(1)) {
        Ok(plan) => plan,
        Err(wrong) => {
            eprintln!("{wrong}\n{}", plan::USAGE);
            return ExitCode::from(2);
        }
    };
    let site = Site::start().await;
    pages::add(&site);
    let mut text = String::new();
    let mut failed = false;
    let is_asked = metrics::METRICS.iter().any(|metric| plan.wants(metric.key));
    let browsers = if is_asked { &*plan.browsers } else { &[] };
    for browser in browsers {
        let part = measure(&plan, &site, browser).await;
        let table = report::table(&plan, &part);
        println!("{table}");
        let missed = report::missed(&plan, &part);
        if !missed.is_empty() {
            println!("Missed: {}\n", missed.join(", "));
        }
        failed |= part.samples.failures().next().is_some();
        if text.is_empty() {
            text = introduction(&plan, &part.servers);
            println!("{text}");
        }
        text += "\n";
        text += &table;
    }
    for word in &plan.missing {
        let word = format!("\nLeft out: {word}.\n");
        println!("{word}");
        text += &word;
    }
    let mut browsers = plan.browsers.iter();
    let chromium = browsers.find(|browser| browser.engine == Engine::Chromium);
    if let (true, Some(chromium)) = (plan.wants("answers"), chromium) {
        let (mut servers, missing) = servers::for_tokens(&chromium.path);
        servers.retain(|server| plan.takes(server.key));
        let table = answers::measure(&site, &chromium.path, &servers).await;
        println!("{table}");
        text += "\n";
        text += &table;
        for word in missing {
            let _ = write!(text, "\nLeft out: {word}.\n");
        }
    }
    if let (true, Some(chromium)) = (plan.wants("http"), chromium) {
        let (mut servers, _) = servers::all(chromium);
        servers.retain(|server| plan.takes(server.key) && server.vocabulary != Vocabulary::Session);
        let table = traffic::measure(&plan, &servers).await;
        println!("{table}");
        text += "\n";
        text += &table;
    }
    if let Some(output) = &plan.output {
        std::fs::write(output, text).expect("the document can be written");
    }
    ExitCode::from(u8::from(failed))
}

async fn measure(plan: &Plan, site: &Site, browser: &Browser) -> Part {
    let path = &browser.path;
    let (mut servers, missing) = servers::all(browser);
    servers.retain(|server| plan.takes(server.key));
    let mut samples = Samples::default();
    for round in 0..plan.rounds {
        eprintln!("{}: round {} of {}", path.display(), round + 1, plan.rounds);
        let mut running: Vec<(&'static str, Running)> = Vec::new();
        for server in &servers {
            running.push((server.key, server.start(path).await));
        }
        let ours = servers.iter().find(|server| server.key == "ours");
        if let Some(ours) = ours.filter(|_| plan.wants(metrics::MANY_REQUESTS)) {
            let ours = ours.with(&["--blocked-domains", "blocked.invalid"]);
            running.push((servers::WITH_RULES, ours.start(path).await));
        }
        // The order rotates between rounds.
        let turn = round % running.len().max(1);
        running.rotate_left(turn);
        warm::measure(plan, site, round, &mut running, &mut samples).await;
        for (_, running) in running {
            running.end().await;
        }
        if browser.engine != Engine::Chromium {
            continue;
        }
        // Both are tools of the same server.
        let servers: Vec<_> = servers
            .iter()
            .filter(|server| server.vocabulary != Vocabulary::Session)
            .cloned()
            .collect();
        for server in &servers {
            let samples = &mut samples;
            let mut cold = Cold {
                plan,
                site,
                browser: path,
                server,
                round,
                samples,
            };
            cold.measure().await;
        }
        sessions::measure(plan, site, path, &servers, round, &mut samples).await;
    }
    Part {
        browser: browser.clone(),
        version: version(path),
        servers,
        missing,
        samples,
    }
}

fn introduction(plan: &Plan, servers: &[Server]) -> String {
    let size = servers
        .iter()
        .find(|server| server.key == "ours")
        .map(|server| report::size(server.program()));
    format!(
        "# Benchmarks\n\nWritten by `make bench` ({}). Medians of {} interleaved rounds; a ratio is the median of the ratios of each round. \
Only ratios are comparable between machines. Each effect was verified in the page. `@playwright/mcp` is 0.0.83 as shipped, “settle 0” the same with `--timeout-settle 0`, \
`agent-browser` 0.41.2. “raw CDP” is the baseline: bare commands behind a loop over stdio, without waits and checks. “session tools” are those of `--toolsets session`, which answer without a snapshot. On Firefox and WebKit the baseline is the minimum of their protocol for the same operation, with its checks: a click finds its element, scrolls it into view and tests whether another element covers it, and a navigation waits for `load`; “raw, settled” is the same with a wait after a click, two frames and 16 ms without a change, which is what Playhouse waits for, and what its targets refer to; “settle 0” is Playhouse with `--timeout-settle 0`. \
Memory is proportional set size, of each server alone; processor time is that of the server with its helpers, without the browser. \
A further context is measured with the browser switches of each server. Tokens are o200k, those of tools without annotations. [soak.md](soak.md) has the memory after many calls, [decision 15](decisions/0015-performance-targets.md) the missed targets with their reasons.\n\nMachine: {}. Command: `bench {}`. {}\n",
        output_of("date", &["+%Y-%m-%d %H:%M"]),
        plan.rounds,
        machine(),
        plan.command,
        size.unwrap_or_default(),
    )
}

fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory
        .split_whitespace()
        .nth(1)
        .and_then(|kb| kb.parse().ok());
    let memory = memory.unwrap_or(0.0_f64) / (1024.0 * 1024.0);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!(
        "{cores} cores, {}, {memory:.0} GB, load {} at the end",
        model.map_or("an unknown processor", |(_, model)| model),
        load.split(' ').next().unwrap_or_default()
    )
}

fn version(browser: &std::path::Path) -> String {
    let version = output_of(&browser.display().to_string(), &["--version"]);
    let name = browser.file_name().unwrap_or_default().to_string_lossy();
    format!("{name} ({version})")
}

fn output_of(program: &str, args: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "it is waited for at once")]
    let output = std::process::Command::new(program).args(args).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
