//! The columns: which servers are measured, and how each is started on a given browser.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::process_stats::{Depth, MARK, ProcessStats, fresh_mark};
use testkit::{CallResult, Client, Engine, Launch};

use crate::plan::Browser;
use crate::steps::{Step, Vocabulary};

/// A server that is measured.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// As `--servers` names it.
    pub(crate) key: &'static str,
    /// As the table names it.
    pub(crate) title: &'static str,
    pub(crate) vocabulary: Vocabulary,
    program: PathBuf,
    args: Vec<String>,
}

/// Where the peers are installed.
const PEERS: &str = "target/bench/peers/node_modules";
/// Ours with a rule about domains; it is no column of the table.
pub(crate) const WITH_RULES: &str = "ours-rules";
/// Longer than the slowest of all calls.
const LIMIT: Duration = Duration::from_secs(60);

/// Those that can be run here on a browser, the floor first, and a word about each that cannot.
pub(crate) fn all(browser: &Browser) -> (Vec<Server>, Vec<String>) {
    let servers = match browser.engine {
        Engine::Chromium => for_chromium(&browser.path),
        Engine::Firefox => without_peers("raw BiDi", browser),
        Engine::Webkit => without_peers("raw WebDriver", browser),
    };
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

/// The peers drive neither a Firefox nor a WebKit that is not their own: us, and us where nothing is waited for after an action.
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

    /// The same server with these further arguments.
    pub(crate) fn with(&self, args: &[&str]) -> Self {
        let mut server = self.clone();
        server.args.extend(args.iter().map(|&arg| arg.to_owned()));
        server
    }

    /// The program that the server is.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// What the program is started with.
    pub(crate) fn args(&self) -> &[String] {
        &self.args
    }

    /// Starts the server and shakes hands; no browser yet.
    pub(crate) async fn start(&self, browser: &Path) -> Running {
        let (mark, folder) = fresh_mark();
        let start = Instant::now();
        let client = Launch::new(&self.program)
            .args(&self.args)
            .env(MARK, &mark)
            // What agent-browser is told by its environment; the others do not read it.
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

/// A server that runs.
pub(crate) struct Running {
    pub(crate) vocabulary: Vocabulary,
    client: Client,
    /// From spawn to the answer of `tools/list`.
    pub(crate) listed: Duration,
    pub(crate) started: Instant,
    pub(crate) tools: Vec<Value>,
    /// The last one seen.
    pub(crate) snapshot: String,
    mark: String,
    _folder: TempDir,
}

/// What a step came to.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) took: Duration,
    pub(crate) answers: Vec<CallResult>,
}

impl Running {
    /// Does one step, and tells how long it took and what was answered.
    pub(crate) async fn step(&mut self, step: &Step) -> Result<Outcome, String> {
        let mut snapshot = std::mem::take(&mut self.snapshot);
        let outcome = self.step_in(None, &mut snapshot, step).await;
        self.snapshot = snapshot;
        outcome
    }

    /// The same in a session, whose last snapshot this is.
    pub(crate) async fn step_in(
        &self,
        session: Option<&str>,
        snapshot: &mut String,
        step: &Step,
    ) -> Result<Outcome, String> {
        let calls = self.vocabulary.calls(step, snapshot)?;
        let mut outcome = Outcome::default();
        let start = Instant::now();
        for (tool, mut arguments) in calls {
            if let Some(session) = session {
                arguments[self.vocabulary.session_parameter()] = session.into();
            }
            outcome.answers.push(self.call(tool, arguments).await?);
        }
        outcome.took = start.elapsed();
        if let (Step::Look, [answer]) = (step, outcome.answers.as_slice()) {
            *snapshot = answer.snapshot().unwrap_or_else(|| answer.text.clone());
        }
        Ok(outcome)
    }

    /// Calls a tool; an error is one.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<CallResult, String> {
        let answer = self.client.try_call(tool, arguments).await;
        let answer = answer.map_err(|why| format!("{tool}: {why}"))?;
        if answer.is_error {
            let lines: Vec<&str> = answer.text.lines().take(3).collect();
            return Err(format!("{tool}: {}", lines.join(" ")));
        }
        Ok(answer)
    }

    /// Looks at the page, and fails when it does not show each of these.
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

    /// Ends it, and whatever it has left running.
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
