//! The test harness: runs the functions with `#[testkit::test]`, with the arguments of Rust's harness. A test whose prerequisites are
//! missing is reported as ignored, with the reason; with the variable `CI`, it fails.
//!
//! Tests that are slow or require more than Chromium and Node are ignored unless they are requested: `--ignored` runs only those, `--include-ignored`
//! all. Those of `make nightly` are ignored unless the variable `NIGHTLY` is set. The times of a run are in `target/tests/`.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{env, fs, panic};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::client::end_idle_servers;
use crate::engine::Engine;
use crate::prerequisites::{Prerequisite, variable};
use crate::versions::print_products;

pub use inventory::submit;

inventory::collect!(Test);

/// A function that is registered by `#[testkit::test]`.
pub struct Test {
    /// The path of the function, with the crate.
    pub path: &'static str,
    /// The prerequisites.
    pub required: &'static [Prerequisite],
    /// The browsers on which the test does not hold, with the reasons.
    pub excluded: &'static [(Engine, &'static str)],
    /// The browsers on which the test runs only in `make nightly`.
    pub nightly: &'static [Engine],
    /// Whether the test runs only in `make nightly`.
    pub is_nightly: bool,
    /// Whether the test takes half a minute or more: it starts before those whose time is not known, and `make test` omits it.
    pub is_slow: bool,
    /// The function.
    pub run: Run,
}

/// How often a test is run.
#[derive(Clone, Copy)]
pub enum Run {
    /// Once, with all of its prerequisites.
    Once(fn()),
    /// Once for each browser among its prerequisites.
    ForEachEngine(fn(Engine)),
}

/// The tests that the arguments select.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Requested {
    /// Those that require at most Chromium and Node, except slow ones.
    Basic,
    /// Those that are chosen by a part of their names and require at most Chromium and Node.
    Named,
    /// Those that are slow or require more.
    Extra,
    All,
}

/// A test, or its instance for one engine.
struct Case {
    name: String,
    required: Vec<Prerequisite>,
    /// The reason why it does not hold on its engine.
    exclusion: Option<&'static str>,
    is_nightly: bool,
    is_slow: bool,
    run: Box<dyn FnOnce() + Send>,
}

/// The durations of tests.
type Times = Arc<Mutex<Vec<(Duration, String)>>>;

/// Runs the registered tests that the arguments of the process select, and exits.
///
/// # Panics
/// If a server of the pool does not exit, or exits with an error.
pub fn main() -> ! {
    let mut arguments = Arguments::from_args();
    let requested = match (arguments.ignored, arguments.include_ignored) {
        (true, _) => Requested::Extra,
        (false, true) => Requested::All,
        (false, false) if arguments.filter.is_some() => Requested::Named,
        (false, false) => Requested::Basic,
    };
    // A test mostly waits for its browser.
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    arguments.test_threads = arguments.test_threads.or(Some(cores + 1));
    // The ignored flag of each test decides.
    (arguments.ignored, arguments.include_ignored) = (false, false);

    let mut cases: Vec<Case> = inventory::iter::<Test>
        .into_iter()
        .flat_map(cases)
        .collect();
    cases.retain(|case| requested != Requested::Extra || case.is_extra() || case.is_slow);
    // The tests that took longest in the last run start first, so that none runs alone at the end. In the first run, those marked as slow.
    let last = last_times();
    let rank = |case: &Case| last.iter().position(|(_, name)| *name == case.name);
    cases.sort_by_cached_key(|case| {
        let rank = rank(case).unwrap_or(usize::MAX);
        (rank, !case.is_slow, case.name.clone())
    });

    if !arguments.list {
        let requires = |engine: &Engine| {
            let browser = Prerequisite::Browser(*engine);
            let mut cases = cases.iter();
            cases.any(|case| {
                case.required.contains(&browser) && case.reason_to_ignore(requested).is_none()
            })
        };
        print_products(Engine::ALL.into_iter().filter(requires));
    }
    keep_panics();
    let times = Times::default();
    let trials = cases
        .into_iter()
        .map(|case| case.trial(requested, times.clone()));
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    if !arguments.list {
        save(&times.lock().expect("not poisoned"));
    }
    assert!(end_idle_servers(), "a server of the pool failed to exit");
    conclusion.exit()
}

/// Returns whether this is a run of `make nightly`, with all tests and their whole input.
pub fn is_nightly() -> bool {
    variable("NIGHTLY").is_some_and(|value| value != "0")
}

/// Returns the size of a test's input: a tenth of `whole`, and all of it in `make nightly`.
pub fn input_size(whole: usize) -> usize {
    match is_nightly() {
        true => whole,
        false => whole.div_ceil(10),
    }
}

/// Returns the step with which a test goes through its inputs: `step`, and 1 in `make nightly`.
pub fn input_step(step: usize) -> usize {
    if is_nightly() { 1 } else { step }
}

/// Runs an async test in a runtime of its own.
///
/// # Panics
/// If there are no threads left.
pub fn block_on(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("threads").block_on(test);
}

fn cases(test: &'static Test) -> Vec<Case> {
    // The crate is the test binary.
    let (_, name) = test.path.split_once("::").unwrap_or(("", test.path));
    let function = match test.run {
        Run::Once(function) => {
            return vec![Case {
                name: name.to_owned(),
                required: test.required.to_vec(),
                exclusion: None,
                is_nightly: test.is_nightly,
                is_slow: test.is_slow,
                run: Box::new(function),
            }];
        }
        Run::ForEachEngine(function) => function,
    };
    let (mut browsers, mut others) = (Vec::new(), Vec::new());
    for required in test.required {
        match required {
            Prerequisite::Browser(engine) => browsers.push((*engine, None)),
            other => others.push(*other),
        }
    }
    let excluded = test.excluded.iter();
    browsers.extend(excluded.map(|(engine, reason)| (*engine, Some(*reason))));
    let on_engine = |(engine, exclusion)| Case {
        name: format!("{name}::{}", Engine::name(engine)),
        required: [&[Prerequisite::Browser(engine)], &others[..]].concat(),
        exclusion,
        is_nightly: test.is_nightly || test.nightly.contains(&engine),
        is_slow: test.is_slow,
        run: Box::new(move || function(engine)),
    };
    browsers.into_iter().map(on_engine).collect()
}

impl Case {
    /// Returns whether the test requires more than Chromium and Node.
    fn is_extra(&self) -> bool {
        self.required.iter().any(|required| required.is_extra())
    }

    /// Returns whether the test runs only in `make nightly`.
    fn is_nightly(&self) -> bool {
        self.is_nightly || self.required.iter().any(|required| required.is_nightly())
    }

    fn missing(&self) -> Option<String> {
        self.required.iter().find_map(|required| required.missing())
    }

    fn reason_to_ignore(&self, requested: Requested) -> Option<String> {
        if let Some(exclusion) = self.exclusion {
            return Some(exclusion.to_owned());
        }
        if self.is_nightly() && !is_nightly() {
            return Some("run by `make nightly`".to_owned());
        }
        let is_omitted = match requested {
            Requested::Basic => self.is_extra() || self.is_slow,
            Requested::Named => self.is_extra(),
            Requested::Extra | Requested::All => false,
        };
        if is_omitted {
            return Some("run by `make ci`".to_owned());
        }
        match variable("CI") {
            Some(_) => None,
            None => self.missing(),
        }
    }

    fn trial(self, requested: Requested, times: Times) -> Trial {
        let name = self.name.clone();
        Trial::ignorable_test(self.name.clone(), move || {
            if let Some(reason) = self.reason_to_ignore(requested) {
                return Ok(Completion::ignored_with(reason));
            }
            if let Some(missing) = self.missing() {
                return Err(missing.into());
            }
            let start = Instant::now();
            let outcome = caught(self.run);
            let took = start.elapsed();
            times.lock().expect("not poisoned").push((took, name));
            outcome.map(|()| Completion::Completed)
        })
    }
}

thread_local! {
    /// Whether this is the thread of a test.
    static IS_TEST: Cell<bool> = const { Cell::new(false) };
    /// The last panic of the test.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Stores the message and location of a test's panic, instead of printing it between the results of other tests.
fn keep_panics() {
    let write = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !IS_TEST.get() || variable("RUST_BACKTRACE").is_some() {
            write(panic);
        }
        PANIC.replace(panic.to_string());
    }));
}

fn caught(test: impl FnOnce()) -> Result<(), Failed> {
    IS_TEST.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(test));
    IS_TEST.set(false);
    outcome.map_err(|_| PANIC.take().into())
}

/// Returns the times of earlier runs, the longest first.
fn last_times() -> Vec<(Duration, String)> {
    let text = fs::read_to_string(times_file()).unwrap_or_default();
    let times = text.lines().filter_map(|line| {
        let (seconds, name) = line.trim().split_once(" s  ")?;
        Some((
            Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?,
            name.to_owned(),
        ))
    });
    times.collect()
}

/// Writes the times of this run, and earlier times of tests that were not run, the longest first.
fn save(times: &[(Duration, String)]) {
    let is_old = |(_, name): &(_, String)| times.iter().all(|(_, run)| run != name);
    let mut all: Vec<_> = last_times().into_iter().filter(is_old).collect();
    all.extend_from_slice(times);
    all.sort_by(|one, other| other.cmp(one));
    let lines = all
        .iter()
        .map(|(time, name)| format!("{:>8.2} s  {name}\n", time.as_secs_f64()));
    let path = times_file();
    // The times are optional.
    let _ = path.parent().map(fs::create_dir_all);
    let _ = fs::write(path, lines.collect::<String>());
}

/// `target/tests/PACKAGE-NAME.txt`.
fn times_file() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    // `target/debug/deps/NAME-HASH`.
    let target = program.ancestors().nth(3).unwrap_or(Path::new("."));
    let name = program.file_stem().unwrap_or_default().to_string_lossy();
    let name = name.rsplit_once('-').map_or(&*name, |(name, _)| name);
    let package = variable("CARGO_PKG_NAME").unwrap_or_default();
    target.join("tests").join(format!("{package}-{name}.txt"))
}
