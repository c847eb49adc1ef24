//! The outside judge of snapshots: pages of widget libraries that others wrote (`crates/testkit/widgets`). A script that shares no code with
//! the server lists what a person can act on and read in a page; this compares the list with the snapshot, and the snapshot with that of
//! `@playwright/mcp`. Differences are listed by page with their reasons; an unlisted one fails the run.

mod findings;
mod judge;
mod lines;
mod page;
mod table;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tokio::task::JoinSet;

use crate::engine::Engine;
use crate::harness::is_nightly;
use crate::prerequisites::{updates_expectations, variable};
use crate::tasks::read_tasks;
use findings::Listed;
pub use judge::{Counts, Judgement};
use page::Browsers;

/// The pages that are judged outside of `make nightly`: an editor, labels that draw their controls, a grid, and shadow roots.
const SAMPLE: [&str; 5] = ["ag-grid", "antd", "mui", "tiptap", "webawesome"];

/// A server, and the pages on which its snapshots are judged.
pub struct Widgets {
    program: PathBuf,
    engine: Engine,
    /// The file with the listed differences.
    listed: PathBuf,
    filter: Option<String>,
}

/// What the judge found on all pages.
pub struct WidgetsReport {
    /// By page.
    pub judgements: BTreeMap<String, Judgement>,
    /// The failures, ready to print.
    pub failures: Vec<String>,
}

impl Widgets {
    /// Judges `program` on `engine`: a handful of pages, and all in `make nightly`. `folder` has a list of differences for each engine.
    /// `WIDGETS=text` selects the pages whose names contain the text, `UPDATE_EXPECT=1` writes the differences.
    pub fn new(program: impl AsRef<Path>, engine: Engine, folder: impl AsRef<Path>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            engine,
            listed: folder.as_ref().join(format!("{}.md", engine.name())),
            filter: variable("WIDGETS").filter(|filter| !filter.is_empty()),
        }
    }

    /// Judges the pages.
    pub async fn run(self) -> WidgetsReport {
        let mut names = page_names();
        names.retain(|name| match &self.filter {
            Some(filter) => name.contains(filter.as_str()),
            None => is_nightly() || updates_expectations() || SAMPLE.contains(&name.as_str()),
        });
        assert!(!names.is_empty(), "no page is selected");
        let workers = std::thread::available_parallelism()
            .map_or(2, usize::from)
            .clamp(1, 4);
        let queue = Arc::new(Mutex::new(VecDeque::from(names)));
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("widgets/tasks.md");
        let tasks_of_pages = Arc::new(read_tasks(&file));
        let mut tasks = JoinSet::new();
        for _ in 0..workers {
            let (queue, program, engine) = (queue.clone(), self.program.clone(), self.engine);
            let tasks_of_pages = tasks_of_pages.clone();
            tasks.spawn(async move {
                let browsers = Browsers::start(&program, engine).await;
                let mut judgements = Vec::new();
                loop {
                    let Some(name) = queue.lock().expect("not poisoned").pop_front() else {
                        return judgements;
                    };
                    let judgement = browsers.judge(&name, tasks_of_pages.get(&name)).await;
                    judgements.push((name, judgement));
                }
            });
        }
        let mut failures = Vec::new();
        let mut judgements = BTreeMap::new();
        for (name, judgement) in tasks.join_all().await.into_iter().flatten() {
            match judgement {
                Ok(judgement) => drop(judgements.insert(name, judgement)),
                Err(why) => failures.push(format!("{name} cannot be judged: {why}")),
            }
        }
        let mut listed = Listed::read(&self.listed);
        failures.extend(listed.compare(&judgements));
        if updates_expectations() {
            listed.write(&self.listed);
        }
        let report = WidgetsReport {
            judgements,
            failures,
        };
        table::save(self.engine, &report.judgements, &page_names());
        if is_nightly() && self.filter.is_none() {
            table::write(&page_names());
        }
        report
    }
}

impl WidgetsReport {
    /// Prints a summary; panics with all failures if there are any.
    #[expect(clippy::print_stderr, reason = "a summary of many pages in one test")]
    pub fn finish(self) {
        match self.failures.is_empty() {
            true => eprintln!("{self}"),
            false => panic!("{self}"),
        }
    }
}

impl fmt::Display for WidgetsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        for (name, judgement) in &self.judgements {
            writeln!(f, "{name:<20} {}", judgement.counts)?;
        }
        let differences: usize = self
            .judgements
            .values()
            .map(|it| it.differences.len())
            .sum();
        write!(
            f,
            "{} pages: {differences} differences, {} failures",
            self.judgements.len(),
            self.failures.len()
        )
    }
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}

/// Returns the folder of the built pages.
pub(crate) fn folder() -> PathBuf {
    target().join("widgets")
}

/// Returns the names of the built pages.
fn page_names() -> Vec<String> {
    let ready =
        fs::read_to_string(folder().join("ready")).expect("`make widgets` builds the pages");
    let mut names: Vec<_> = ready.lines().map(str::to_owned).collect();
    names.sort();
    names
}
