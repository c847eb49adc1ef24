//! Measures the cost of tool calls: Playhouse, `@playwright/mcp` as shipped and without its settling, `agent-browser`, and bare commands as
//! the baseline, on the same pages in the same browser, in interleaved rounds; on Firefox and WebKit, which the others do not support as
//! installed, Playhouse alone. Each effect is checked. Only ratios are valid for other machines.

mod answers;
mod cold;
mod pages;
mod report;
mod servers;
mod steps;
mod traffic;
mod warm;
mod workloads;

use std::path::PathBuf;

use testkit::{Engine, Site};

use crate::USAGE;
use crate::samples::Samples;
use servers::{Server, WITH_RULES};
use workloads::{MANY_REQUESTS, METRICS};

/// A full Chromium and a headless shell.
const CHROMIUMS: [&str; 2] = ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"];

/// The selected measurements.
#[derive(Default)]
struct Plan {
    rounds: usize,
    /// Parts of names of metrics; none selects all.
    only: Vec<String>,
    /// Names of servers; none selects all.
    servers: Vec<String>,
    browsers: Vec<Browser>,
    /// The file of the report.
    output: Option<String>,
    /// The arguments.
    command: String,
}

/// A browser to measure on.
struct Browser {
    engine: Engine,
    path: PathBuf,
}

/// A round on one browser.
struct Round<'a> {
    plan: &'a Plan,
    number: usize,
    samples: Samples,
    /// The metric that is measured now.
    metric: &'static str,
}

/// `[--rounds N] [--only METRIC,…] [--servers NAME,…] [--browser chromium|firefox|webkit]… [--output FILE]`
pub(crate) async fn run(args: &[&str]) -> Result<(), String> {
    let plan = Plan::parse(args)?;
    // The site is served until the end.
    let site: &Site = Box::leak(Box::new(Site::start().await));
    pages::add(site);
    let (mut text, mut is_complete) = (String::new(), true);
    let print = |table: String| {
        println!("{table}");
        format!("\n{table}")
    };
    let has_rows = METRICS.iter().any(|metric| plan.wants(metric.key));
    for browser in plan.browsers.iter().filter(|_| has_rows) {
        let servers = servers::installed(&plan, browser.engine.name(), browser, site);
        let samples = measure(&plan, browser, &servers).await;
        if text.is_empty() {
            text = report::introduction(&plan, &servers);
        }
        text += &print(report::table(&plan, browser, &servers, &samples));
        is_complete &= samples.failures.is_empty();
    }
    let mut browsers = plan.browsers.iter();
    if let Some(chromium) = browsers.find(|browser| browser.engine == Engine::Chromium) {
        if plan.wants("answers") {
            let servers = servers::installed(&plan, "tokens", chromium, site);
            text += &print(answers::measure(site, &servers).await);
        }
        if plan.wants("http") {
            let mut servers = servers::installed(&plan, "chromium", chromium, site);
            servers.retain(|server| matches!(server.key, "pw" | "ours"));
            text += &print(traffic::measure(plan.rounds, &servers).await);
        }
    }
    if let Some(output) = &plan.output {
        std::fs::write(output, text).map_err(|error| format!("{output}: {error}"))?;
    }
    let why = || "Some figures are missing.".to_owned();
    is_complete.then_some(()).ok_or_else(why)
}

async fn measure(plan: &Plan, browser: &Browser, servers: &[Server]) -> Samples {
    let mut round = Round {
        plan,
        number: 0,
        samples: Samples::default(),
        metric: "",
    };
    while round.number < plan.rounds {
        let (number, path) = (round.number, browser.path.display());
        eprintln!("{path}: round {} of {}", number + 1, plan.rounds);
        let mut running = Vec::new();
        for server in servers {
            running.push(server.start().await);
            if server.key == "ours" && plan.wants(MANY_REQUESTS) {
                let mut server = server.with(&["--blocked-domains", "blocked.invalid"]);
                server.key = WITH_RULES;
                running.push(server.start().await);
            }
        }
        // The order rotates between rounds.
        let turn = number % running.len().max(1);
        running.rotate_left(turn);
        warm::measure(&mut round, &running).await;
        for running in running {
            running.end().await;
        }
        for server in servers {
            // The `session` tools are tools of the same server.
            if browser.engine == Engine::Chromium && server.key != "session" {
                cold::measure(&mut round, server).await;
            }
        }
        round.number += 1;
    }
    round.samples
}

impl Plan {
    fn parse(args: &[&str]) -> Result<Self, String> {
        let mut plan = Self::default();
        (plan.rounds, plan.command) = (5, args.join(" "));
        let mut engines = Vec::new();
        for pair in args.chunks(2) {
            let [option, value] = *pair else {
                return Err(format!("{} needs a value", pair[0]));
            };
            let list = value.split(',').map(str::to_owned);
            match option {
                "--rounds" => plan.rounds = value.parse().map_err(|_| USAGE.to_owned())?,
                "--only" => plan.only.extend(list),
                "--servers" => plan.servers.extend(list),
                "--browser" => engines.push(value),
                "--output" => plan.output = Some(value.to_owned()),
                _ => return Err(format!("unknown option {option}\n{USAGE}")),
            }
        }
        let is_selected = |name| engines.is_empty() || engines.contains(&name);
        for engine in Engine::ALL.into_iter().filter(|it| is_selected(it.name())) {
            let paths = match engine {
                Engine::Chromium => CHROMIUMS.map(PathBuf::from).to_vec(),
                engine => engine.find().into_iter().collect(),
            };
            let paths = paths.into_iter().filter(|path| path.is_file());
            let browsers = paths.map(|path| Browser { engine, path });
            plan.browsers.extend(browsers);
        }
        Ok(plan)
    }

    /// Returns whether this metric is selected.
    fn wants(&self, metric: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| metric.contains(only.as_str()))
    }
}

impl Round<'_> {
    /// Begins a metric, to which a failure belongs; returns whether it is selected.
    fn begin(&mut self, metric: &'static str) -> bool {
        self.metric = metric;
        self.plan.wants(metric)
    }

    /// Adds a value if its metric is selected.
    fn add(&mut self, metric: &'static str, server: &'static str, value: f64) {
        if self.plan.wants(metric) {
            self.samples.add((metric, server), self.number, value);
        }
    }

    /// Records that the metric that was begun last has no value.
    fn fail(&mut self, server: &'static str, why: String) {
        eprintln!("{}, {server}: {why}", self.metric);
        self.samples.failures.insert((self.metric, server, why));
    }
}
