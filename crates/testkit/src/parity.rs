//! The comparison with `@playwright/mcp`: the same calls to two servers on the same pages. Scenarios are Markdown files; docs/testing.md
//! describes them. An intended difference is listed in the scenario with its reason; an unlisted or outdated one fails the run.

mod change;
mod coverage;
mod everywhere;
mod normal;
mod scenario;
mod server;

use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tokio::task::JoinSet;

use crate::engine::Engine;
use crate::harness::is_nightly;
use crate::prerequisites::{updates_expectations, variable};
use change::Change;
pub use coverage::Coverage;
use everywhere::Everywhere;
use scenario::{Document, Scenario};
use server::Server;

/// Two servers to compare, and the scenarios.
pub struct Parity {
    ours: Vec<String>,
    theirs: Vec<String>,
    folder: PathBuf,
    filter: Option<String>,
    /// Whether only every tenth scenario is run.
    is_sample: bool,
    update: bool,
    workers: usize,
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct ParityReport {
    /// The number of scenarios that were run.
    pub scenarios: usize,
    /// The number of calls to each server.
    pub calls: usize,
    /// The number of answers with listed differences.
    pub known: usize,
    /// The number of rewritten files.
    pub rewritten: usize,
    /// The coverage of flags and tools; only after a complete run.
    pub coverage: Option<Coverage>,
    /// The failures, ready to print.
    pub failures: Vec<String>,
}

impl Parity {
    /// Compares `ours` with `theirs`, program and arguments each, in every tenth scenario of `folder`, and in all of them in `make nightly`.
    /// Both servers get the same browser, headless and isolated, besides the arguments of a scenario. Environment variables:
    /// `PARITY=text` selects the scenarios whose file or title contains the text, `UPDATE_EXPECT=1` writes the differences.
    pub fn new(ours: &[&str], theirs: &[&str], folder: impl AsRef<Path>) -> Self {
        let browser = Engine::Chromium.executable();
        let browser = format!("--executable-path={}", browser.display());
        let flags = ["--headless", "--isolated", "--no-sandbox", &browser];
        let with_flags = |command: &[&str]| {
            let words = command.iter().chain(&flags);
            words.map(|word| (*word).to_owned()).collect()
        };
        let filter = variable("PARITY").filter(|filter| !filter.is_empty());
        let update = updates_expectations();
        Self {
            ours: with_flags(ours),
            theirs: with_flags(theirs),
            folder: folder.as_ref().to_owned(),
            is_sample: filter.is_none() && !update && !is_nightly(),
            filter,
            update,
            // Each worker has two servers and two browsers.
            workers: std::thread::available_parallelism()
                .map_or(2, |cores| 2 * cores.get().clamp(1, 4)),
        }
    }

    /// Runs the scenarios.
    pub async fn run(self) -> ParityReport {
        let mut report = ParityReport::default();
        let everywhere = match Everywhere::read(&self.folder.join("everywhere.md")) {
            Ok(everywhere) => Arc::new(everywhere),
            Err(fault) => {
                report.failures.push(fault);
                return report;
            }
        };
        let mut documents = Vec::new();
        for path in scenario_files(&self.folder) {
            match Document::read(&path) {
                Ok(document) => documents.push(document),
                Err(fault) => report.failures.push(fault),
            }
        }
        let is_whole = self.filter.is_none() && !self.is_sample;
        if is_whole {
            match Coverage::of(&self.theirs, &self.folder.join("unplayed.md")).await {
                Ok(coverage) => report.coverage = Some(coverage),
                Err(fault) => report.failures.push(fault),
            }
        }
        let mut queue = VecDeque::new();
        for (file, document) in documents.iter_mut().enumerate() {
            for scenario in std::mem::take(&mut document.scenarios) {
                if let Some(coverage) = &mut report.coverage {
                    coverage.add(&scenario);
                }
                if self.wants(&scenario.name) {
                    queue.push_back((file, scenario));
                }
            }
        }
        if self.is_sample {
            queue = queue.into_iter().step_by(10).collect();
        }
        report.scenarios = queue.len();
        let update = self.update;
        let shared = Arc::new((Mutex::new(queue), self));
        let mut tasks = JoinSet::new();
        for _ in 0..shared.1.workers {
            tasks.spawn(work(shared.clone(), everywhere.clone()));
        }
        let mut outcomes = tasks.join_all().await.concat();
        outcomes.sort_by_key(|(file, outcome)| (*file, outcome.line));
        for (file, document) in documents.iter().enumerate() {
            let of_file = outcomes.iter().filter(|(of, _)| *of == file);
            let edits: Vec<_> = of_file
                .filter_map(|(_, outcome)| outcome.change.edit())
                .collect();
            if update && !edits.is_empty() {
                document.rewrite(edits);
                report.rewritten += 1;
            }
        }
        for (file, outcome) in outcomes {
            report.calls += 1;
            report.known += usize::from(matches!(outcome.change, Change::Known));
            if let Some(fault) = outcome.change.fault(update) {
                let place = documents[file].path.display();
                report.failures.push(format!(
                    "{place}:{}: {}\n{fault}",
                    outcome.line, outcome.call
                ));
            }
        }
        if is_whole {
            report.failures.extend(everywhere.unused());
            let coverage = report.coverage.iter().flat_map(Coverage::faults);
            report.failures.extend(coverage);
        }
        report
    }

    fn wants(&self, name: &str) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| name.contains(filter.as_str()))
    }
}

impl ParityReport {
    /// Prints a summary; panics with all failures if there are any.
    #[expect(
        clippy::print_stderr,
        reason = "a summary of many scenarios in one test"
    )]
    pub fn finish(self) {
        match self.failures.is_empty() {
            true => eprintln!("{self}"),
            false => panic!("{self}"),
        }
    }
}

impl fmt::Display for ParityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        let Self {
            scenarios,
            calls,
            known,
            rewritten,
            coverage,
            failures,
        } = self;
        if let Some(coverage) = coverage {
            write!(f, "{coverage}")?;
        }
        write!(
            f,
            "{calls} calls in {scenarios} scenarios: {known} differ for a reason, {} unexpectedly; {rewritten} files rewritten",
            failures.len()
        )
    }
}

/// The result of one call.
#[derive(Clone)]
struct Outcome {
    line: usize,
    call: String,
    change: Change,
}

type Queue = (Mutex<VecDeque<(usize, Scenario)>>, Parity);

async fn work(queue: Arc<Queue>, everywhere: Arc<Everywhere>) -> Vec<(usize, Outcome)> {
    let (queue, parity) = queue.as_ref();
    let mut outcomes = Vec::new();
    loop {
        let Some((file, scenario)) = queue.lock().expect("not poisoned").pop_front() else {
            return outcomes;
        };
        let played = play(&scenario, parity, &everywhere).await;
        outcomes.extend(played.into_iter().map(|outcome| (file, outcome)));
    }
}

/// Starts both servers, sends them the same calls at the same time, and compares their answers.
async fn play(scenario: &Scenario, parity: &Parity, everywhere: &Everywhere) -> Vec<Outcome> {
    let (mut ours, mut theirs) = tokio::join!(
        Server::prepare(&parity.ours, scenario),
        Server::prepare(&parity.theirs, scenario)
    );
    let mut outcomes = Vec::new();
    for step in &scenario.steps {
        let (own, other) = tokio::join!(ours.perform(&step.request), theirs.perform(&step.request));
        let (own, other) = (everywhere.ours(own), everywhere.theirs(other));
        outcomes.push(Outcome {
            line: step.line,
            call: step.text.clone(),
            change: Change::between(&other, &own, &step.listed),
        });
    }
    outcomes
}

fn scenario_files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .filter(|path| {
            path.file_stem()
                .is_some_and(|name| name != "everywhere" && name != "unplayed")
        })
        .collect();
    found.sort();
    found
}
