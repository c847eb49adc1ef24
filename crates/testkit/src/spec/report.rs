//! The report of a run: the result of each case, and a summary.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use super::expectations::Expectations;
use crate::engine::Engine;
use crate::versions::outdated_entries;

/// The result of one case, or (without title) of rewriting a file.
#[derive(Clone)]
pub(super) struct Outcome {
    pub(super) title: Option<String>,
    pub(super) tools: BTreeSet<String>,
    pub(super) faults: Vec<String>,
    pub(super) rewritten: bool,
    pub(super) took: Duration,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// The engine, or `oracle`.
    pub name: &'static str,
    /// The engine, unless the specs ran on another server.
    engine: Option<Engine>,
    /// The number of cases that were run.
    pub cases: usize,
    /// The number of known failures.
    pub known: usize,
    /// The number of rewritten files.
    pub rewritten: usize,
    /// The failures, ready to print.
    pub failures: Vec<String>,
    /// The known failures that did not occur.
    outdated: Vec<String>,
    /// The duration, in which other engines may have run too.
    pub took: Duration,
    /// The durations of the cases, added up.
    worked: Duration,
}

impl Outcome {
    /// Creates the result for a rewritten file.
    pub(super) fn rewritten() -> Self {
        Self {
            title: None,
            tools: BTreeSet::new(),
            faults: Vec::new(),
            rewritten: true,
            took: Duration::ZERO,
        }
    }

    /// Creates the result for a file whose cases could not be run.
    pub(super) fn failed(file: &str, fault: &str) -> Self {
        Self {
            title: Some(file.to_owned()),
            tools: BTreeSet::new(),
            faults: vec![fault.to_owned()],
            rewritten: false,
            took: Duration::ZERO,
        }
    }
}

impl Report {
    /// Compares the results with the known failures, each of which must be one of all cases.
    pub(super) fn new(
        name: &'static str,
        engine: Option<Engine>,
        expectations: &Path,
        outcomes: Vec<Outcome>,
        cases: &BTreeSet<String>,
    ) -> Self {
        let mut report = Self {
            name,
            engine,
            ..Self::default()
        };
        let expected = Expectations::read(expectations);
        for outcome in outcomes {
            report.cases += outcome.title.is_some() as usize;
            report.rewritten += outcome.rewritten as usize;
            report.worked += outcome.took;
            let Some(case) = outcome.title else { continue };
            match (expected.reason(&case), outcome.faults.is_empty()) {
                (Some(_), false) => report.known += 1,
                (Some(_), true) if expected.may_pass(&case) => {}
                (Some(reason), true) => {
                    let list = expectations.display();
                    let entry = format!("{case}\n  passes, but {list} lists it ({reason})");
                    report.outdated.push(entry);
                }
                (None, false) => report
                    .failures
                    .push(format!("{case}\n{}", outcome.faults.concat())),
                (None, true) => {}
            }
        }
        let unknown = expected.names().filter(|case| !cases.contains(*case));
        report.failures.extend(
            unknown.map(|case| format!("{}: there is no case `{case}`", expectations.display())),
        );
        report
    }

    /// Prints a summary; panics with all failures if there are any.
    #[expect(clippy::print_stderr, reason = "a summary of many cases in one test")]
    pub fn finish(mut self) {
        let outdated = std::mem::take(&mut self.outdated);
        self.failures.extend(match self.engine {
            Some(engine) => outdated_entries(engine, outdated),
            None => outdated,
        });
        let failed = self.failures.len();
        eprintln!(
            "{}: {} spec cases in {} s ({} s added up), {} pass, {} known to fail, {} files rewritten, {failed} failures",
            self.name,
            self.cases,
            self.took.as_secs(),
            self.worked.as_secs(),
            self.cases.saturating_sub(self.known + failed),
            self.known,
            self.rewritten,
        );
        assert!(
            self.failures.is_empty(),
            "\n\n{}\n\nIf the new replies are right, rewrite them with UPDATE_EXPECT=1.\n",
            self.failures.join("\n")
        );
    }
}

/// Logs each case when it ends, so that the progress of a run that hangs is known.
pub(super) struct Log {
    file: Option<Mutex<fs::File>>,
    expected: Expectations,
}

impl Log {
    /// Creates the log file; without a path, nothing is logged.
    pub(super) fn new(path: Option<&Path>, expectations: &Path) -> Self {
        let create = |path: &Path| {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::File::create(path)
        };
        Self {
            file: path.map(|path| {
                let file = create(path);
                Mutex::new(file.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
            }),
            expected: Expectations::read(expectations),
        }
    }

    /// Logs `pass | listed | FAIL`, the time, the case, its tools, and the failure below it.
    pub(super) fn add(&self, outcome: &Outcome) {
        let (Some(file), Some(case)) = (&self.file, &outcome.title) else {
            return;
        };
        let what = match (outcome.faults.is_empty(), self.expected.reason(case)) {
            (true, _) => "pass",
            (false, Some(_)) => "listed",
            (false, None) => "FAIL",
        };
        let tools: Vec<_> = outcome.tools.iter().map(String::as_str).collect();
        let line = format!(
            "{what:<6} {:>6} ms  {case}  [{}]\n{}",
            outcome.took.as_millis(),
            tools.join(" "),
            outcome.faults.concat()
        );
        let mut file = file.lock().expect("not poisoned");
        file.write_all(line.as_bytes())
            .expect("the file of results can be written");
    }
}
