//! Tasks in applications (`crates/testkit/applications`) of programs and frameworks that others wrote: each is installed from a registry, started
//! with new data, and used by the answers alone. What the task changed is read from the application's own data.

mod app;
mod table;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::client::Launch;
use crate::engine::Engine;
use crate::prerequisites::{playwright_mcp, variable};
use crate::tasks::{Outcome, Server, Task, read_tasks};
use app::App;

/// The timeout of a call.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server, and the applications in which it does tasks.
pub struct Applications {
    program: PathBuf,
    engine: Engine,
    filter: Option<String>,
}

/// What was done.
pub struct ApplicationsReport {
    /// The outcome of each task, by application.
    pub outcomes: BTreeMap<String, Outcome>,
    /// The failures, ready to print.
    pub failures: Vec<String>,
}

impl Applications {
    /// Does tasks with `program` on `engine`. `APPLICATION=text` selects the applications whose names contain the text.
    pub fn new(program: impl AsRef<Path>, engine: Engine) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            engine,
            filter: variable("APPLICATION").filter(|filter| !filter.is_empty()),
        }
    }

    /// Does the tasks one after the other, so that their times are comparable.
    pub async fn run(self) -> ApplicationsReport {
        let tasks = read_tasks(&folder().join("tasks.md"));
        let is_selected = |name: &str| match &self.filter {
            Some(filter) => name.contains(filter.as_str()),
            None => true,
        };
        let mut report = ApplicationsReport {
            outcomes: BTreeMap::new(),
            failures: Vec::new(),
        };
        let mut peer = BTreeMap::new();
        for (name, task) in tasks.iter().filter(|(name, _)| is_selected(name)) {
            let outcome = self.perform(name, task, Server::Playhouse).await;
            let exclusion = task.exclusion(self.engine);
            match (&outcome.failure, exclusion) {
                (Some(why), None) => report.failures.push(format!("{name}: {why}")),
                (None, Some(reason)) => report.failures.push(format!(
                    "{name}: the task is done, but tasks.md excludes it: {reason}"
                )),
                _ => {}
            }
            report.outcomes.insert(name.clone(), outcome);
            if self.engine == Engine::Chromium {
                let outcome = self.perform(name, task, Server::Playwright).await;
                peer.insert(name.clone(), outcome);
            }
        }
        assert!(!report.outcomes.is_empty(), "no application is selected");
        table::save(self.engine, &report.outcomes, &tasks);
        if self.engine == Engine::Chromium {
            table::save_peer(&peer, &tasks);
        }
        table::write(&tasks);
        report
    }

    /// Starts an application, does its task, and compares its data.
    async fn perform(&self, name: &str, task: &Task, server: Server) -> Outcome {
        let app = App::start(name, self.engine).await;
        let launch = match server {
            Server::Playhouse => Launch::new(&self.program)
                .with_default_answers()
                .args(["--headless", "--isolated"])
                .args(self.engine.args()),
            Server::Playwright => {
                let browser = self.engine.executable();
                Launch::new("node")
                    .args([playwright_mcp().as_os_str()])
                    .args(["--headless", "--isolated", "--no-sandbox"])
                    .args([format!("--executable-path={}", browser.display())])
            }
        };
        let client = launch.limit(TIMEOUT).start().await;
        fs::write(client.workspace().join("upload.txt"), "a file").expect("the workspace is ours");
        let mut outcome = task.perform(&client, server, None, &app.url()).await;
        if outcome.failure.is_none() {
            outcome.failure = app.check(&task.blocks).await.err();
        }
        outcome
    }
}

impl ApplicationsReport {
    /// Prints a summary; panics with all failures if there are any.
    #[expect(clippy::print_stderr, reason = "a summary of many tasks in one test")]
    pub fn finish(self) {
        match self.failures.is_empty() {
            true => eprintln!("{self}"),
            false => panic!("{self}"),
        }
    }
}

impl fmt::Display for ApplicationsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        for (name, outcome) in &self.outcomes {
            let (calls, time) = (outcome.calls, outcome.time.as_secs_f64());
            let is_done = if outcome.failure.is_none() {
                ""
            } else {
                ", not done"
            };
            writeln!(f, "{name:<16} {calls} calls, {time:.1} s{is_done}")?;
        }
        let count = self.outcomes.len();
        write!(f, "{count} tasks, {} failures", self.failures.len())
    }
}

/// Returns the folder with the applications' files.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("applications")
}

/// Returns the folder in which `make applications` installs the packages.
fn installation() -> PathBuf {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/applications");
    target.canonicalize().unwrap_or(target)
}

/// Returns whether the packages are installed.
pub(crate) fn is_installed() -> bool {
    installation().join("ready").is_file()
}
