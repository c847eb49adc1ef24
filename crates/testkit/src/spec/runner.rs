//! Running spec files on a server, with a new tab (or, if the file requires it, a new browser) per case.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::compare::{self, Placeholders};
use super::document::{Case, Document, Setup, Step};
use super::expectations::Expectations;
use super::queue;
use super::report::{Log, Outcome, Report};
use super::schema::misfit;
use super::selection::select;
use crate::client::{CallResult, Client, Launch};
use crate::engine::Engine;
use crate::harness::is_nightly;
use crate::markdown::fenced;
use crate::prerequisites::{updates_expectations, variable};
use crate::site::Site;

/// The name of the expectations of another server.
const ORACLE: &str = "oracle";
/// The result of `browser_tabs` after the last tab was closed.
const NO_TABS: &str = "No open tabs";
/// The error of `browser_tabs` when no tab is open.
const NO_TAB: &str = "Tab 0 not found";

/// The specs to run, and the server.
pub struct Runner {
    command: Vec<String>,
    /// The name of the engine, or of another server.
    name: &'static str,
    /// The engine, unless it is another server.
    engine: Option<Engine>,
    folders: Vec<PathBuf>,
    expectations: PathBuf,
    results: Option<PathBuf>,
    update: bool,
    filter: Option<String>,
}

impl Runner {
    /// Creates a runner with the server `program` on an engine. Environment variables: `SPEC=text` selects the cases whose file or title
    /// contains the text, `UPDATE_EXPECT=1` rewrites the replies to those on Chromium, and `PLAYHOUSE_SPEC_SERVER="node cli.js --headless
    /// …"` uses another server (and the expectations `oracle.txt`). Returns `None` if that leaves nothing to run for this engine.
    pub fn new(program: &str, engine: Engine) -> Option<Self> {
        let other = variable("PLAYHOUSE_SPEC_SERVER").filter(|command| !command.is_empty());
        let update = updates_expectations();
        if engine != Engine::Chromium && (other.is_some() || update) {
            return None;
        }
        let own = [
            program,
            "--headless",
            "--isolated",
            "--content-boundaries",
            "off",
        ]
        .into_iter();
        let own = own.chain(engine.args().iter().copied());
        let own = own.chain(engine.keeping().iter().copied());
        Some(Self {
            engine: other.is_none().then_some(engine),
            name: match &other {
                Some(_) => ORACLE,
                None => engine.name(),
            },
            command: match &other {
                Some(command) => command.split_whitespace().map(str::to_owned).collect(),
                None => own.map(str::to_owned).collect(),
            },
            folders: Vec::new(),
            expectations: PathBuf::new(),
            results: None,
            update,
            filter: variable("SPEC"),
        })
    }

    /// Adds every `.md` file below this folder.
    pub fn folder(mut self, path: impl AsRef<Path>) -> Self {
        self.folders.push(path.as_ref().to_owned());
        self
    }

    /// Sets the folder of the lists of known failures, `chromium.txt` and others.
    pub fn expectations(mut self, folder: impl AsRef<Path>) -> Self {
        self.expectations = folder.as_ref().join(format!("{}.txt", self.name));
        self
    }

    /// Sets the folder of the logs of cases with their times and tools, `chromium.txt` and others.
    pub fn results(mut self, folder: impl AsRef<Path>) -> Self {
        self.results = Some(folder.as_ref().join(format!("{}.txt", self.name)));
        self
    }

    /// Runs the specs, together with those of other runners of this process.
    pub async fn run(self) -> Report {
        let began = Instant::now();
        let mut faults = Vec::new();
        let mut titles = BTreeSet::new();
        let mut documents = Vec::new();
        for folder in &self.folders {
            for (name, document) in documents_in(folder) {
                match document {
                    Ok(mut document) => {
                        document.cases.retain(|case| {
                            let title = format!("{name} > {}", case.title);
                            let is_wanted = self.wants(&title);
                            titles.insert(title);
                            is_wanted
                        });
                        documents.push((name, document));
                    }
                    Err(fault) => faults.push(fault),
                }
            }
        }
        documents.retain(|(_, document)| !document.cases.is_empty());
        let is_other = self.engine.is_some_and(|engine| engine != Engine::Chromium);
        if is_other && self.filter.is_none() && !is_nightly() {
            let expected = Expectations::read(&self.expectations);
            select(&mut documents, |case| expected.reason(case).is_some());
        }
        let log = Log::new(self.results.as_deref(), &self.expectations);
        let run = Arc::new(Run { runner: self, log });
        let outcomes = queue::run(&run, documents).await;
        let Runner {
            name,
            engine,
            expectations,
            ..
        } = &run.runner;
        let mut report = Report::new(name, *engine, expectations, outcomes, &titles);
        report.failures.extend(faults);
        report.took = began.elapsed();
        report
    }

    fn wants(&self, name: &str) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| name.contains(filter.as_str()))
    }
}

/// The specs of one runner while they run.
pub(super) struct Run {
    runner: Runner,
    log: Log,
}

impl Run {
    /// Returns the engine, unless the specs run on another server.
    pub(super) fn engine(&self) -> Option<Engine> {
        self.runner.engine
    }

    /// Runs the cases of a document on the server, after starting one if there is none or it cannot be used further.
    pub(super) async fn play(
        &self,
        name: &str,
        document: &Document,
        server: &mut Option<Server>,
    ) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        let mut edits = Vec::new();
        for case in &document.cases {
            if server.as_ref().is_some_and(|running| running.broken) {
                *server = None;
            }
            let running = match server {
                Some(running) => running,
                None => {
                    let started = Server::start(&self.runner.command, &document.setup).await;
                    server.insert(started)
                }
            };
            let mut attempt = Attempt {
                file: &document.path,
                faults: Vec::new(),
                edits: &mut edits,
                update: self.runner.update,
            };
            let began = Instant::now();
            running.run(case, &document.setup, &mut attempt).await;
            let outcome = Outcome {
                title: Some(format!("{name} > {}", case.title)),
                tools: case.tools(),
                faults: attempt.faults,
                rewritten: false,
                took: began.elapsed(),
            };
            self.log.add(&outcome);
            outcomes.push(outcome);
        }
        if !edits.is_empty() {
            rewrite(document, edits);
            outcomes.push(Outcome::rewritten());
        }
        outcomes
    }
}

/// Replacements of replies: ranges and their new blocks.
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

/// An attempt at one case.
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

pub(super) struct Server {
    client: Client,
    /// Whether the last case had a browser of its own.
    had_own_browser: bool,
    /// The output schemas by tool.
    output_schemas: BTreeMap<String, Value>,
    is_fresh: bool,
    /// Whether a request failed, so that the server cannot be used further.
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
            had_own_browser: false,
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
        // The next case must not use the browser of such a case.
        let had_own_browser = std::mem::replace(&mut self.had_own_browser, setup.own_browser);
        let own_browser = setup.own_browser || had_own_browser;
        if let Err(why) = self.clear(case, own_browser).await {
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
                    if let Some(schema) = schema
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

    /// Leaves no tab, an empty one for a case without a start page, or no browser.
    async fn clear(&mut self, case: &Case, own_browser: bool) -> Result<(), String> {
        if std::mem::take(&mut self.is_fresh) {
            return Ok(());
        }
        if own_browser {
            return self.tool("browser_close", json!({})).await.map(drop);
        }
        let close = json!({ "action": "close", "index": 0 });
        loop {
            match self.tool("browser_tabs", close.clone()).await {
                Ok(tabs) if !tabs.result().starts_with(NO_TABS) => {}
                Err(why) if !why.contains(NO_TAB) => return Err(why),
                _ => break,
            }
        }
        // A tab that is opened by the first step would be part of its reply.
        if case.start.is_none() {
            let new = json!({ "action": "new" });
            self.tool("browser_tabs", new).await?;
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

/// Returns the specs below a folder, by their relative paths.
pub(super) fn documents_in(folder: &Path) -> Vec<(String, Result<Document, String>)> {
    let mut documents = Vec::new();
    for path in spec_files(folder) {
        let name = path.strip_prefix(folder).unwrap_or(&path);
        documents.push((name.display().to_string(), Document::read(&path)));
    }
    documents
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
