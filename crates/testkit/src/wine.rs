//! The server for Windows, run by Wine, and a Chrome for it: a stand-in that passes its debugging pipe to a Chromium of this machine.
//! `make wine` installs Wine and builds both programs.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Child;
use tokio::task::JoinSet;

use crate::client::Launch;
use crate::engine::Engine;
use crate::prerequisites::from_path;

const TARGET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target");
/// How long the first program may take, which waits for the services of Windows.
const TIMEOUT: Duration = Duration::from_secs(120);

fn server() -> PathBuf {
    Path::new(TARGET).join("cross/x86_64-pc-windows-gnu/debug/playhouse.exe")
}

/// The folder with the file system of Windows.
fn prefix() -> PathBuf {
    Path::new(TARGET).join("wine")
}

pub(crate) fn is_installed() -> bool {
    from_path("wine").is_some() && server().is_file() && prefix().join("ready").is_file()
}

/// Returns the server for Windows with these arguments, not started.
///
/// # Panics
/// If Wine or the server is missing.
pub fn launch_under_wine(args: &[&str]) -> Launch {
    let there = |path: PathBuf| path.canonicalize().expect("`make wine` makes it");
    Launch::new(from_path("wine").expect("Wine is installed"))
        .env("WINEPREFIX", &there(prefix()).display().to_string())
        .env("WINEDEBUG", "-all")
        .args([there(server())])
        .args(args.iter().copied())
        .limit(TIMEOUT)
}

/// Returns a file of this machine as a path of Windows.
pub fn path_under_wine(file: &Path) -> String {
    format!("Z:{}", file.display()).replace('/', "\\")
}

/// What the stand-ins for Chrome need: a Chromium for each, and a listener for their helpers.
pub struct StandIn {
    browsers: String,
    helpers: TcpListener,
    /// Ended when this is dropped, with its browsers.
    _browsers: JoinSet<()>,
}

impl StandIn {
    /// Listens for stand-ins, and starts a Chromium for each.
    pub async fn start() -> Self {
        let browsers = listen().await;
        let address = address(&browsers);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Ok((stream, _)) = browsers.accept().await {
                let profile = tempfile::tempdir().expect("a temporary folder");
                let mut browser = chromium(&profile, stream);
                let _ = browser.wait().await;
            }
        });
        Self {
            browsers: address,
            helpers: listen().await,
            _browsers: tasks,
        }
    }

    /// Sets the variables that the stand-in reads.
    pub fn configure(&self, launch: Launch) -> Launch {
        launch
            .env("STAND_IN_BROWSER", &self.browsers)
            .env("STAND_IN_HELPER", &address(&self.helpers))
    }

    /// Waits for the helper of a stand-in, a process that it starts and does not end.
    pub async fn helper(&self) -> Running {
        Running(self.helpers.accept().await.expect("a connection").0)
    }
}

/// A process at the other end of a connection.
pub struct Running(TcpStream);

impl Running {
    /// Waits until the process has ended, however.
    pub async fn ended(mut self) {
        let mut nothing = Vec::new();
        let ended = tokio::time::timeout(TIMEOUT, self.0.read_to_end(&mut nothing)).await;
        // A killed process may reset the connection.
        let _ = ended.expect("the process ends");
    }
}

async fn listen() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    listener.expect("a free port")
}

fn address(listener: &TcpListener) -> String {
    listener.local_addr().expect("it listens").to_string()
}

/// Starts a Chromium whose debugging pipe is a connection.
fn chromium(profile: &TempDir, stream: TcpStream) -> Child {
    let program = Engine::Chromium.find().expect("Chromium is installed");
    let stream = stream.into_std().expect("a socket");
    stream.set_nonblocking(false).expect("a socket");
    let other = stream.try_clone().expect("a socket");
    #[expect(clippy::disallowed_methods, reason = "it ends with the connection")]
    tokio::process::Command::new("sh")
        .args([
            "-c",
            "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
        ])
        .arg(program)
        .args([
            "--headless",
            "--no-sandbox",
            "--remote-debugging-pipe",
            "--no-startup-window",
            "--no-first-run",
            "--disable-dev-shm-usage",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .stdin(Stdio::from(OwnedFd::from(stream)))
        .stdout(Stdio::from(OwnedFd::from(other)))
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("a shell")
}
