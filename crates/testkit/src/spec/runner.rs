//! Runs spec files through a server: one process per set of flags and worker, a new tab (or, where
//! the file asks for it, a new browser) per case.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::compare::{self, Placeholders};
use super::document::{Case, Document, Setup, Step};
use super::expectations::Expectations;
use super::schema::misfit;
use crate::client::{CallResult, Client, Launch};
use crate::markdown::fenced;
use crate::requirement::variable;
use crate::site::Site;

/// Which specs to run, and with what.
pub struct Runner {
    command: Vec<String>,
    folders: Vec<PathBuf>,
    expectations: PathBuf,
    update: bool,
    filter: Option<String>,
    engine: String,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// How many cases ran.
    pub cases: usize,
    /// How many failed as it is written down.
    pub known: usize,
    /// How many files were rewritten.
    pub rewritten: usize,
    /// What went wrong, ready to print.
    pub failures: Vec<String>,
}

impl Runner {
    /// Runs specs with the server `program`. The environment has a say:
    /// `PLAYHOUSE_SPEC_SERVER="node cli.js --headless …"` takes another server instead (and the
    /// expectations `oracle.txt`), `PLAYHOUSE_SPEC_ENGINE=firefox` another browser (and
    /// `firefox.txt`), `PLAYHOUSE_SPEC_LOG=file` writes down each case with its time, `UPDATE_EXPECT=1` rewrites the replies, `SPEC=text` runs only the
    /// cases whose file or title contains the text.
    pub fn new(program: &str) -> Self {
        let other = variable("PLAYHOUSE_SPEC_SERVER").filter(|command| !command.is_empty());
        let engine = variable("PLAYHOUSE_SPEC_ENGINE").filter(|engine| !engine.is_empty());
        let engine = match &other {
            Some(_) => "oracle".to_owned(),
            None => engine.unwrap_or_else(|| "chromium".to_owned()),
        };
        let own = [program, "--headless", "--isolated"];
        let browser = (engine != "chromium").then_some(["--browser", engine.as_str()]);
        Self {
            command: match &other {
                Some(command) => command.split_whitespace().map(str::to_owned).collect(),
                None => own
                    .into_iter()
                    .chain(browser.into_iter().flatten())
                    .map(str::to_owned)
                    .collect(),
            },
            engine,
            folders: Vec::new(),
            expectations: PathBuf::new(),
            update: variable("UPDATE_EXPECT").is_some_and(|value| value != "0"),
            filter: variable("SPEC"),
        }
    }

    /// Adds every `.md` below this folder.
    pub fn folder(mut self, path: impl AsRef<Path>) -> Self {
        self.folders.push(path.as_ref().to_owned());
        self
    }

    /// Where the lists of known failures stand, `chromium.txt` and others.
    pub fn expectations(mut self, folder: impl AsRef<Path>) -> Self {
        self.expectations = folder.as_ref().join(format!("{}.txt", self.engine));
        self
    }

    /// Runs them all.
    pub async fn run(self) -> Report {
        let mut report = Report::default();
        let mut documents = Vec::new();
        for folder in &self.folders {
            for path in spec_files(folder) {
                let name = path
                    .strip_prefix(folder)
                    .unwrap_or(&path)
                    .display()
                    .to_string();
                match Document::read(&path) {
                    Ok(document) => documents.push((name, document)),
                    Err(fault) => report.failures.push(fault),
                }
            }
        }
        documents.sort_by(|(_, one), (_, other)| {
            one.setup.cmp(&other.setup).then(one.path.cmp(&other.path))
        });
        let workers = std::thread::available_parallelism()
            .map_or(1, |cores| cores.get().min(4))
            .min(documents.len());
        let run = Arc::new(Run {
            queue: Mutex::new(documents.into()),
            runner: self,
        });
        let mut tasks = JoinSet::new();
        for _ in 0..workers {
            tasks.spawn(work(run.clone()));
        }
        let outcomes = tasks.join_all().await.concat();
        run.runner.judge(outcomes, &mut report);
        report
    }

    fn wants(&self, name: &str) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| name.contains(filter.as_str()))
    }

    fn judge(&self, outcomes: Vec<Outcome>, report: &mut Report) {
        let expected = Expectations::read(&self.expectations);
        let mut seen = BTreeSet::new();
        for outcome in outcomes {
            report.cases += outcome.title.is_some() as usize;
            report.rewritten += outcome.rewritten as usize;
            let Some(name) = outcome.title else { continue };
            match (expected.reason(&name), outcome.faults.is_empty()) {
                (Some(_), false) => report.known += 1,
                (Some(reason), true) => {
                    report.failures.push(format!(
                        "{name}\n  passes now; take it out of {} ({reason})",
                        self.expectations.display()
                    ));
                }
                (None, false) => report
                    .failures
                    .push(format!("{name}\n{}", outcome.faults.concat())),
                (None, true) => {}
            }
            seen.insert(name);
        }
        if self.filter.is_none() {
            let unknown = expected.names().filter(|name| !seen.contains(*name));
            report.failures.extend(
                unknown.map(|name| {
                    format!("{}: there is no case `{name}`", self.expectations.display())
                }),
            );
        }
    }
}

impl Report {
    /// Prints a summary; panics with all failures when there is one.
    #[expect(clippy::print_stderr, reason = "a summary of many cases in one test")]
    pub fn finish(self) {
        eprintln!(
            "{} spec cases, {} known to fail, {} files rewritten, {} failures",
            self.cases,
            self.known,
            self.rewritten,
            self.failures.len()
        );
        assert!(
            self.failures.is_empty(),
            "\n\n{}\n\nIf the new replies are right, rewrite them with UPDATE_EXPECT=1.\n",
            self.failures.join("\n")
        );
    }
}

struct Run {
    queue: Mutex<VecDeque<(String, Document)>>,
    runner: Runner,
}

/// What came of one case, or (without title) of rewriting a file.
#[derive(Clone)]
struct Outcome {
    title: Option<String>,
    faults: Vec<String>,
    rewritten: bool,
}

impl Run {
    /// The next file, if possible one for a server that runs already.
    fn next(&self, setup: Option<&Setup>) -> Option<(String, Document)> {
        let mut queue = self.queue.lock().expect("not poisoned");
        let same = queue
            .iter()
            .position(|(_, document)| Some(&document.setup) == setup)
            .unwrap_or(0);
        queue.remove(same)
    }
}

async fn work(run: Arc<Run>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let mut server: Option<(Setup, Server)> = None;
    while let Some((name, document)) = run.next(server.as_ref().map(|(setup, _)| setup)) {
        let mut edits = Vec::new();
        for case in &document.cases {
            let title = format!("{name} > {}", case.title);
            if !run.runner.wants(&title) {
                continue;
            }
            if server
                .as_ref()
                .is_none_or(|(setup, running)| *setup != document.setup || running.broken)
            {
                // The old one first, so that there is one browser less at a time.
                drop(server.take());
                server = Some((
                    document.setup.clone(),
                    Server::start(&run.runner.command, &document.setup).await,
                ));
            }
            let (_, running) = server.as_mut().expect("started above");
            let mut attempt = Attempt {
                file: &document.path,
                faults: Vec::new(),
                edits: &mut edits,
                update: run.runner.update,
            };
            let began = std::time::Instant::now();
            running.run(case, &document.setup, &mut attempt).await;
            if let Some(path) = variable("PLAYHOUSE_SPEC_LOG") {
                use std::io::Write as _;
                let line = format!(
                    "{} {:>6} ms  {title}\n{}",
                    if attempt.faults.is_empty() {
                        "ok  "
                    } else {
                        "FAIL"
                    },
                    began.elapsed().as_millis(),
                    attempt.faults.concat()
                );
                let file = fs::File::options().create(true).append(true).open(path);
                let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
            }
            outcomes.push(Outcome {
                title: Some(title),
                faults: attempt.faults,
                rewritten: false,
            });
        }
        if !edits.is_empty() {
            rewrite(&document, edits);
            outcomes.push(Outcome {
                title: None,
                faults: Vec::new(),
                rewritten: true,
            });
        }
    }
    outcomes
}

/// Replies to write anew: where they stand, and the block that belongs there.
type Edits = Vec<(std::ops::Range<usize>, String)>;

fn rewrite(document: &Document, mut edits: Edits) {
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = document.text.clone();
    for (range, block) in edits {
        text.replace_range(range, &block);
    }
    fs::write(&document.path, text)
        .unwrap_or_else(|error| panic!("{}: {error}", document.path.display()));
}

/// One case on its way.
struct Attempt<'a> {
    file: &'a Path,
    faults: Vec<String>,
    edits: &'a mut Edits,
    update: bool,
}

impl Attempt<'_> {
    fn fault(&mut self, line: usize, what: &str) {
        self.faults
            .push(format!("  {}:{line}: {what}\n", self.file.display()));
    }
}

struct Server {
    client: Client,
    /// By the tool whose answers have to fit.
    output_schemas: BTreeMap<String, Value>,
    is_fresh: bool,
    /// Whether it failed to answer, so that nothing more can be expected of it.
    broken: bool,
}

impl Server {
    async fn start(command: &[String], setup: &Setup) -> Self {
        let (program, args) = command.split_first().expect("a command names a program");
        let client = Launch::new(program)
            .args(args)
            .args(&setup.args)
            .start()
            .await;
        let tools = client.list_tools().await.into_iter();
        let output_schemas = tools.filter_map(|mut tool| {
            let schema = tool.get_mut("outputSchema")?.take();
            Some((tool["name"].as_str()?.to_owned(), schema))
        });
        Self {
            output_schemas: output_schemas.collect(),
            client,
            is_fresh: true,
            broken: false,
        }
    }

    async fn run(&mut self, case: &Case, setup: &Setup, attempt: &mut Attempt<'_>) {
        let site = Site::start().await;
        let names = Placeholders::new(&site, self.client.workspace(), setup.any_refs);
        for (path, resource) in &case.resources {
            let mut resource = resource.clone();
            resource.body = names
                .fill(&String::from_utf8_lossy(&resource.body))
                .into_bytes();
            site.add(path, resource);
        }
        for (name, content) in &case.files {
            fs::write(self.client.workspace().join(name), names.fill(content))
                .expect("the workspace can be written");
        }
        if let Err(why) = self.clear(setup.own_browser).await {
            self.broken = true;
            return attempt.fault(0, &format!("before the case: {why}"));
        }
        if let Some(path) = &case.start {
            match self
                .client
                .try_call("browser_navigate", json!({ "url": site.url(path) }))
                .await
            {
                Ok(answer) if answer.is_error => {
                    attempt.fault(0, &format!("opening the page: {}", answer.text))
                }
                Ok(_) => {}
                Err(why) => {
                    self.broken = true;
                    return attempt.fault(0, &format!("opening the page: {why}"));
                }
            }
        }
        for step in &case.steps {
            let arguments: Value = serde_json::from_str(&names.fill(&step.arguments))
                .expect("was parsed when it was read");
            match self.client.try_call(&step.tool, arguments).await {
                Ok(answer) => {
                    check(step, &answer, &names, attempt);
                    let schema = self.output_schemas.get(&step.tool);
                    if let Some(schema) = schema.filter(|_| !answer.is_error)
                        && let Some(misfit) = misfit(schema, &answer.raw["structuredContent"])
                    {
                        let what = format!("{} breaks its output schema: {misfit}", step.tool);
                        attempt.fault(step.line, &what);
                    }
                }
                Err(why) => {
                    self.broken = true;
                    return attempt.fault(
                        step.line,
                        &format!("{}: {why}\n{}", step.tool, self.client.stderr()),
                    );
                }
            }
        }
    }

    /// Leaves one empty tab, or no browser at all.
    async fn clear(&mut self, own_browser: bool) -> Result<(), String> {
        if std::mem::take(&mut self.is_fresh) {
            return Ok(());
        }
        if own_browser {
            return self.tool("browser_close", json!({})).await.map(drop);
        }
        let mut tabs = self
            .tool("browser_tabs", json!({ "action": "new" }))
            .await?;
        while tabs.result().lines().count() > 1 {
            tabs = self
                .tool("browser_tabs", json!({ "action": "close", "index": 0 }))
                .await?;
        }
        Ok(())
    }

    async fn tool(&self, tool: &str, arguments: Value) -> Result<CallResult, String> {
        match self.client.try_call(tool, arguments).await {
            Ok(answer) if answer.is_error => Err(format!("{tool}: {}", answer.text)),
            Ok(answer) => Ok(answer),
            Err(why) => Err(format!("{tool}: {why}")),
        }
    }
}

fn check(step: &Step, answer: &CallResult, names: &Placeholders, attempt: &mut Attempt<'_>) {
    let shows_all = step
        .replies
        .iter()
        .any(|reply| reply.part == super::part::Part::Whole);
    let expects_error = step.replies.iter().any(|reply| reply.part.expects_error());
    if !shows_all && answer.is_error != expects_error {
        let what = if answer.is_error {
            "is an error"
        } else {
            "is not an error"
        };
        attempt.fault(
            step.line,
            &format!("{} {what}:\n{}", step.tool, names.mask(&answer.text)),
        );
    }
    for reply in &step.replies {
        let actual = names.mask(&reply.part.of(answer));
        if compare::matches(&reply.text, &actual) {
            continue;
        }
        if attempt.update {
            attempt
                .edits
                .push((reply.block.clone(), fenced(&reply.info, &actual)));
        } else {
            let difference = compare::difference(&reply.text, &actual);
            let what = format!(
                "{} answers otherwise (- expected, + answered):\n{difference}",
                step.tool
            );
            attempt.fault(reply.line, &what);
        }
    }
}

fn spec_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            found.extend(spec_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}
