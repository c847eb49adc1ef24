//! The columns of the report: the measured servers, and how each is started on a browser.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::process_stats::{Depth, MARK, ProcessStats, fresh_mark};
use testkit::{CallResult, Client, Engine, Launch};

use crate::plan::Browser;
use crate::steps::{Step, Vocabulary};

/// A measured server.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// The name for `--servers`.
    pub(crate) key: &'static str,
    /// The name in the table.
    pub(crate) title: &'static str,
    pub(crate) vocabulary: Vocabulary,
    program: PathBuf,
    args: Vec<String>,
}

/// The folder in which the other servers are installed.
const PEERS: &str = "target/bench/peers/node_modules";
/// Playhouse with a rule about domains, which is not a column of the table.
pub(crate) const WITH_RULES: &str = "ours-rules";
/// The call timeout, longer than the slowest call.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the servers that support a browser, the baseline first, and a remark about each that does not.
pub(crate) fn all(browser: &Browser) -> (Vec<Server>, Vec<String>) {
    let servers = match browser.engine {
        Engine::Chromium => for_chromium(&browser.path),
        Engine::Firefox => without_peers("raw BiDi", browser),
        Engine::Webkit => without_peers("raw WebDriver", browser),
    };
    present(servers)
}

/// Returns the installed servers, and a remark about each other.
fn present(servers: Vec<Server>) -> (Vec<Server>, Vec<String>) {
    let (present, missing): (Vec<_>, Vec<_>) = servers.into_iter().partition(Server::is_there);
    let words = missing.iter().map(|server| {
        format!(
            "{} is not installed ({})",
            server.title,
            server.program.display()
        )
    });
    let words = words.collect();
    (present, words)
}

/// Returns the servers for Firefox and WebKit: Playhouse with and without settling. The others support only their own builds of them.
fn without_peers(floor: &'static str, browser: &Browser) -> Vec<Server> {
    let path = browser.path.display().to_string();
    let name = browser.engine.name();
    let ours = ["--headless", "--isolated", "--toolsets", "browser"];
    let ours = [&ours[..], &["--browser", name, "--executable-path", &path]].concat();
    let ours = Server {
        key: "ours",
        title: "playhouse",
        vocabulary: Vocabulary::Playwright,
        program: beside("playhouse"),
        args: ours.into_iter().map(str::to_owned).collect(),
    };
    let unsettled = Server {
        key: "ours0",
        title: "settle 0",
        ..ours.with(&["--timeout-settle", "0"])
    };
    let bare = bare(floor, path);
    let settled = Server {
        key: "floor-settled",
        title: "raw, settled",
        vocabulary: Vocabulary::SettledFloor,
        ..bare.clone()
    };
    vec![bare, settled, ours, unsettled]
}

fn bare(title: &'static str, browser: String) -> Server {
    Server {
        key: "floor",
        title,
        vocabulary: Vocabulary::Baseline,
        program: beside("baseline"),
        args: vec![browser],
    }
}

fn beside(program: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a program knows where it is");
    own.with_file_name(program)
}

fn for_chromium(browser: &Path) -> Vec<Server> {
    let browser = browser.display().to_string();
    let peers = std::env::current_dir()
        .expect("a working directory")
        .join(PEERS);
    let playwright = peers.join("@playwright/mcp/cli.js").display().to_string();
    let isolated = ["--headless", "--isolated", "--executable-path", &browser];
    let shipped: Vec<&str> = [&[playwright.as_str()], &isolated[..], &["--no-sandbox"]].concat();
    let unsettled = [&shipped[..], &["--timeout-settle", "0"]].concat();
    let own = |args: &[&str]| {
        args.iter()
            .map(|&arg| arg.to_owned())
            .collect::<Vec<String>>()
    };
    vec![
        bare("raw CDP", browser.clone()),
        Server {
            key: "pw",
            title: "@playwright/mcp",
            vocabulary: Vocabulary::Playwright,
            program: "node".into(),
            args: own(&shipped),
        },
        Server {
            key: "pw0",
            title: "settle 0",
            vocabulary: Vocabulary::Playwright,
            program: "node".into(),
            args: own(&unsettled),
        },
        Server {
            key: "ab",
            title: "agent-browser",
            vocabulary: Vocabulary::AgentBrowser,
            program: peers.join("agent-browser/bin").join(agent_browser()),
            args: own(&["mcp"]),
        },
        Server {
            key: "ours",
            title: "playhouse",
            vocabulary: Vocabulary::Playwright,
            program: beside("playhouse"),
            args: [own(&isolated), own(&["--toolsets", "browser"])].concat(),
        },
        Server {
            key: "session",
            title: "its `session` tools",
            vocabulary: Vocabulary::Session,
            program: beside("playhouse"),
            args: [own(&isolated), own(&["--toolsets", "browser,session"])].concat(),
        },
    ]
}

/// Returns the servers whose answers are compared on Chromium, and a remark about each that is not installed.
pub(crate) fn for_tokens(browser: &Path) -> (Vec<Server>, Vec<String>) {
    let path = browser.display().to_string();
    let devtools =
        Path::new(PEERS).join("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js");
    let devtools = Server {
        key: "cdt",
        title: "chrome-devtools-mcp",
        vocabulary: Vocabulary::DevTools,
        program: "node".into(),
        args: [
            &std::path::absolute(devtools)
                .expect("a working directory")
                .display()
                .to_string(),
            "--headless",
            "--isolated",
            "--no-page-id-routing",
            "--no-usage-statistics",
            "--chrome-arg=--no-sandbox",
            "--executable-path",
            &path,
        ]
        .map(str::to_owned)
        .to_vec(),
    };
    let mut servers = for_chromium(browser);
    servers.retain(|server| matches!(server.key, "pw" | "ab"));
    let ours = Server {
        key: "ours",
        title: "playhouse",
        vocabulary: Vocabulary::Compact,
        program: beside("playhouse"),
        args: [
            "--headless",
            "--isolated",
            "--executable-path",
            &path,
            "--answers",
            "compact",
        ]
        .map(str::to_owned)
        .to_vec(),
    };
    servers.insert(0, ours);
    servers.insert(2, devtools);
    present(servers)
}

fn agent_browser() -> String {
    let system = if cfg!(target_os = "macos") {
        "darwin"
    } else {
        "linux"
    };
    let machine = if cfg!(target_arch = "aarch64") {
        "arm64"
    } else {
        "x64"
    };
    format!("agent-browser-{system}-{machine}")
}

impl Server {
    fn is_there(&self) -> bool {
        match self.program.to_str() {
            Some("node") => Path::new(&self.args[0]).is_file(),
            _ => self.program.is_file(),
        }
    }

    /// Returns the server with further arguments.
    pub(crate) fn with(&self, args: &[&str]) -> Self {
        let mut server = self.clone();
        server.args.extend(args.iter().map(|&arg| arg.to_owned()));
        server
    }

    /// Returns the program of the server.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Returns the arguments of the program.
    pub(crate) fn args(&self) -> &[String] {
        &self.args
    }

    /// Starts the server and initializes the connection, without a browser.
    pub(crate) async fn start(&self, browser: &Path) -> Running {
        let (mark, folder) = fresh_mark();
        let start = Instant::now();
        let client = Launch::new(&self.program)
            .args(&self.args)
            .env(MARK, &mark)
            // As installed: tests turn it off.
            .env("PLAYHOUSE_CHANGES", "on")
            // The environment of agent-browser, which the others do not read.
            .env(
                "AGENT_BROWSER_EXECUTABLE_PATH",
                &browser.display().to_string(),
            )
            .env("AGENT_BROWSER_ARGS", "--no-sandbox")
            .env("AGENT_BROWSER_NAMESPACE", &mark)
            .env("AGENT_BROWSER_SESSION", "bench")
            .env(
                "AGENT_BROWSER_SCREENSHOT_DIR",
                &folder.path().display().to_string(),
            )
            .limit(LIMIT)
            .spawn();
        client.initialize(json!({})).await;
        let tools = client.list_tools().await;
        Running {
            vocabulary: self.vocabulary,
            client,
            listed: start.elapsed(),
            started: start,
            tools,
            snapshot: String::new(),
            mark,
            _folder: folder,
        }
    }
}

/// A running server.
pub(crate) struct Running {
    pub(crate) vocabulary: Vocabulary,
    client: Client,
    /// The time from the spawn to the result of `tools/list`.
    pub(crate) listed: Duration,
    pub(crate) started: Instant,
    pub(crate) tools: Vec<Value>,
    /// The last snapshot.
    pub(crate) snapshot: String,
    mark: String,
    _folder: TempDir,
}

/// Updates what is known of the page, newest first. A new document that the answer does not show leaves nothing.
fn update(snapshot: &mut String, answer: &CallResult) {
    let whole = answer.section("Snapshot");
    let is_linked = whole.is_some_and(|whole| answer.linked_file(whole).is_some());
    if let (Some(whole), false) = (answer.snapshot(), is_linked) {
        *snapshot = whole;
    } else if let Some(changes) = answer.section("Changes") {
        *snapshot = format!("{changes}\n{snapshot}");
    } else if is_linked || answer.section("Page").is_some() {
        snapshot.clear();
    }
}

/// The result of a step.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) took: Duration,
    pub(crate) answers: Vec<CallResult>,
}

impl Running {
    /// Runs one step, and returns its duration and its answers.
    pub(crate) async fn step(&mut self, step: &Step) -> Result<Outcome, String> {
        let mut snapshot = std::mem::take(&mut self.snapshot);
        let outcome = self.step_in(None, &mut snapshot, step).await;
        self.snapshot = snapshot;
        outcome
    }

    /// Runs one step in a session with the given last snapshot.
    pub(crate) async fn step_in(
        &self,
        session: Option<&str>,
        snapshot: &mut String,
        step: &Step,
    ) -> Result<Outcome, String> {
        let mut outcome = Outcome::default();
        let is_compact = self.vocabulary == Vocabulary::Compact;
        // The answers so far show the page.
        if matches!(step, Step::Look | Step::Read) && is_compact && !snapshot.is_empty() {
            return Ok(outcome);
        }
        let calls = self.vocabulary.calls(step, snapshot)?;
        let start = Instant::now();
        for (tool, mut arguments) in calls {
            if let Some(session) = session {
                arguments[self.vocabulary.session_parameter()] = session.into();
            }
            outcome.answers.push(self.call(tool, arguments).await?);
        }
        outcome.took = start.elapsed();
        if is_compact {
            for answer in &outcome.answers {
                update(snapshot, answer);
            }
        } else if let (Step::Look | Step::Snapshot | Step::Outline(_) | Step::Read, [answer]) =
            (step, outcome.answers.as_slice())
        {
            *snapshot = answer.snapshot().unwrap_or_else(|| answer.text.clone());
        }
        Ok(outcome)
    }

    /// Calls a tool; an error result is an error.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<CallResult, String> {
        let answer = self.client.try_call(tool, arguments).await;
        let answer = answer.map_err(|why| format!("{tool}: {why}"))?;
        if answer.is_error {
            let lines: Vec<&str> = answer.text.lines().take(3).collect();
            return Err(format!("{tool}: {}", lines.join(" ")));
        }
        Ok(answer)
    }

    /// Takes a snapshot, and fails if it does not contain each of these texts.
    pub(crate) async fn shows(&mut self, marks: &[String]) -> Result<(), String> {
        self.step(&Step::Look).await?;
        match marks
            .iter()
            .find(|mark| !self.snapshot.contains(mark.as_str()))
        {
            None => Ok(()),
            Some(mark) => Err(format!("the page does not show {mark:?}")),
        }
    }

    pub(crate) fn stats(&self, depth: Depth) -> ProcessStats {
        ProcessStats::take(&self.mark, depth)
    }

    /// Ends the server and the processes that it left running.
    pub(crate) async fn end(self) {
        if self.vocabulary == Vocabulary::AgentBrowser {
            drop(self.client.try_call("agent_browser_close", json!({})).await);
        }
        self.client.end().await;
        for pid in ProcessStats::take(&self.mark, Depth::Quick).pids() {
            #[expect(
                clippy::disallowed_methods,
                reason = "it ends what a measured server has left behind"
            )]
            let kill = std::process::Command::new("kill")
                .args(["-9", &pid.to_string()])
                .status();
            drop(kill);
        }
    }
}
