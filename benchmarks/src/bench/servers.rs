//! The columns of the report: the measured servers, and how each is started on a browser.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::process_stats::{Depth, MARK, ProcessStats, fresh_mark};
use testkit::{CallResult, Client, Launch, Processes, Site};

use super::steps::{Step, calls, steps};
use super::workloads::rows;
use super::{Browser, Plan};
use crate::{beside, megabytes, milliseconds};

/// A measured server.
#[derive(Clone)]
pub(crate) struct Server {
    /// The name for `--servers`.
    pub(crate) key: &'static str,
    /// The name in the table.
    pub(crate) title: &'static str,
    /// The section of `calls.txt`.
    tools: &'static str,
    /// The program and its arguments.
    command: Vec<String>,
    site: &'static Site,
}

/// Playhouse with a rule about domains, which is not a column of the table.
pub(crate) const WITH_RULES: &str = "ours-rules";
/// How long a server is idle before its memory is measured.
const REST: Duration = Duration::from_millis(500);

/// Returns the selected and installed servers of a group of `servers.txt`, the baseline first. Others than Playhouse support only their own builds of Firefox and WebKit.
pub(crate) fn installed(
    plan: &Plan,
    group: &str,
    browser: &Browser,
    site: &'static Site,
) -> Vec<Server> {
    let peers = std::path::absolute("target/bench/peers/node_modules");
    let machine = std::env::consts::ARCH.replace("x86_64", "x64");
    let variables = [
        ("$HERE", beside("").display().to_string()),
        ("$PEERS", peers.unwrap_or_default().display().to_string()),
        ("$OS", std::env::consts::OS.replace("macos", "darwin")),
        ("$MACHINE", machine.replace("aarch64", "arm64")),
        ("$BROWSER", browser.path.display().to_string()),
        ("$ENGINE", browser.engine.name().to_owned()),
    ];
    let insert = |text: String, (name, value): &(_, String)| text.replace(name, value);
    let word = |word: &str| variables.iter().fold(word.to_owned(), insert);
    let mut servers = Vec::new();
    for row in rows(include_str!("servers.txt")) {
        let is_selected = plan.servers.is_empty() || plan.servers.iter().any(|it| it == row[1]);
        if is_selected && row[0].split(' ').any(|name| name == group) {
            let server = Server {
                key: row[1],
                title: row[2],
                tools: row[3],
                command: row[4].split(' ').map(word).collect(),
                site,
            };
            match server.file().is_file() {
                true => servers.push(server),
                false => eprintln!("Left out, because it is not installed: {}", row[2]),
            }
        }
    }
    servers
}

impl Server {
    /// Returns the program, or the script that it runs: the first absolute path.
    pub(crate) fn file(&self) -> &Path {
        let mut words = self.command.iter().map(Path::new);
        words.find(|word| word.is_absolute()).expect("a path")
    }

    /// Returns the server with further arguments.
    pub(crate) fn with(&self, args: &[&str]) -> Self {
        let mut server = self.clone();
        let args = args.iter().map(|&arg| arg.to_owned());
        server.command.extend(args);
        server
    }

    /// Returns the server with its command line and its mark.
    pub(crate) fn launch(&self, mark: &str) -> Launch {
        let launch = Launch::new(&self.command[0]).args(&self.command[1..]);
        launch.env(MARK, mark).limit(Duration::from_secs(60))
    }

    /// Starts the server and initializes the connection, without a browser.
    pub(crate) async fn start(&self) -> Running {
        let mark = fresh_mark().0;
        // As installed: tests turn it off.
        let launch = self.launch(&mark).env("PLAYHOUSE_CHANGES", "on");
        let start = Instant::now();
        let client = launch.spawn();
        client.initialize(json!({})).await;
        Running {
            key: self.key,
            tools: self.tools,
            site: self.site,
            list: client.list_tools().await,
            listed: milliseconds(start),
            start,
            client,
            mark,
        }
    }
}

/// A running server.
pub(crate) struct Running {
    pub(crate) key: &'static str,
    pub(crate) tools: &'static str,
    pub(crate) site: &'static Site,
    client: Client,
    pub(crate) start: Instant,
    /// The result of `tools/list`, and its time from the start, in milliseconds.
    list: Vec<Value>,
    pub(crate) listed: f64,
    mark: String,
}

/// What answers have shown of a page, in the default session or another.
#[derive(Default)]
pub(crate) struct View {
    pub(crate) session: Option<String>,
    /// The last snapshot. With compact answers, it begins with what has changed since.
    pub(crate) snapshot: String,
}

impl View {
    fn update(&mut self, answer: &CallResult) {
        let whole = answer.section("Snapshot");
        let is_linked = whole.is_some_and(|whole| answer.linked_file(whole).is_some());
        if let (Some(whole), false) = (answer.snapshot(), is_linked) {
            self.snapshot = whole;
        } else if let Some(changes) = answer.section("Changes") {
            self.snapshot = format!("{changes}\n{}", self.snapshot);
        } else if is_linked || answer.section("Page").is_some() {
            // A new document that the answer does not show.
            self.snapshot.clear();
        }
    }
}

/// The duration of calls, in milliseconds, and their answers.
pub(crate) type Outcome = Result<(f64, Vec<CallResult>), String>;

impl Running {
    /// Runs steps one after the other.
    pub(crate) async fn run(&self, view: &mut View, text: &str, n: usize) -> Outcome {
        let (mut sum, mut all) = (0.0, Vec::new());
        for step in steps(text, self.site, n) {
            let (spent, answers) = self.step(view, &step).await?;
            sum += spent;
            all.extend(answers);
        }
        Ok((sum, all))
    }

    async fn step(&self, view: &mut View, step: &Step) -> Outcome {
        let (is_compact, verb) = (self.tools == "compact", &*step.verb);
        // The answers so far show the page.
        if is_compact && matches!(verb, "see" | "read") && !view.snapshot.is_empty() {
            return Ok((0.0, Vec::new()));
        }
        let calls = calls(self.tools, step, &view.snapshot)?;
        let (start, mut answers) = (Instant::now(), Vec::new());
        for (tool, mut arguments) in calls {
            if let Some(session) = &view.session {
                arguments["sessionId"] = session.as_str().into();
            }
            answers.push(self.call(&tool, arguments).await?);
        }
        let spent = milliseconds(start);
        if is_compact {
            answers.iter().for_each(|answer| view.update(answer));
        } else if matches!(verb, "see" | "snapshot" | "outline" | "read") {
            let answer = &answers[0];
            view.snapshot = answer.snapshot().unwrap_or_else(|| answer.text.clone());
        }
        Ok((spent, answers))
    }

    /// Calls a tool; an error result is an error.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<CallResult, String> {
        let answer = self.client.try_call(tool, arguments).await;
        let answer = answer.map_err(|why| format!("{tool}: {why}"))?;
        let lines: Vec<&str> = answer.text.lines().take(3).collect();
        match answer.is_error {
            true => Err(format!("{tool}: {}", lines.join(" "))),
            false => Ok(answer),
        }
    }

    /// Takes a snapshot, and fails if it does not contain this text.
    pub(crate) async fn expect(&self, view: &mut View, text: &str) -> Result<(), String> {
        self.run(view, "see", 0).await?;
        let is_shown = view.snapshot.contains(text);
        let why = || format!("the page does not show {text:?}");
        is_shown.then_some(()).ok_or_else(why)
    }

    pub(crate) fn stats(&self, depth: Depth) -> ProcessStats {
        ProcessStats::take(&self.mark, depth)
    }

    /// Returns the memory of the idle server and of its browsers, in megabytes.
    pub(crate) async fn memory(&self) -> [f64; 2] {
        tokio::time::sleep(REST).await;
        let stats = self.stats(Depth::Memory);
        [stats.servers, stats.browsers].map(|cost| megabytes(cost.memory))
    }

    /// Returns the tool list as a model sees it: without annotations and schema dialect, which are for clients.
    pub(crate) fn tools_text(&self) -> String {
        let mut list = self.list.clone();
        for tool in &mut list {
            let annotations = tool.as_object_mut();
            annotations.map(|tool| tool.shift_remove("annotations"));
            let schema = tool["inputSchema"].as_object_mut();
            schema.map(|schema| schema.shift_remove("$schema"));
        }
        list.iter().map(|tool| format!("{tool}\n")).collect()
    }

    /// Ends the server and the processes that it left running.
    pub(crate) async fn end(self) {
        if self.tools == "agent-browser" {
            drop(self.call("agent_browser_close", json!({})).await);
        }
        self.client.end().await;
        for pid in ProcessStats::take(&self.mark, Depth::Quick).pids() {
            Processes::from(pid).kill();
        }
    }
}
