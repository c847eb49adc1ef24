//! A browser with a debugging port, as a remote endpoint.

use crate::engine::Engine;
use crate::eventually;
use crate::prerequisites::{Prerequisite, chromium_with_extensions};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use wire::Connection;
use wire::cdp::target;

/// How long the browser may take to report its port.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A Chromium with a debugging port, which is killed when this is dropped.
pub struct RemoteBrowser {
    process: Child,
    port: u16,
    path: String,
    profile: tempfile::TempDir,
}

impl RemoteBrowser {
    /// Returns the folder of the profile.
    pub fn profile(&self) -> &std::path::Path {
        self.profile.path()
    }

    /// Starts a browser on a free port.
    pub async fn start() -> Self {
        Self::on_port(0).await
    }

    /// Starts a browser on that port.
    pub async fn on_port(port: u16) -> Self {
        Self::of_program(&Engine::Chromium.executable(), port, &[]).await
    }

    /// Starts a browser with the extension in a folder.
    pub(crate) async fn with_extension(folder: &str) -> Self {
        Prerequisite::Extensions.demand();
        let program = chromium_with_extensions().expect("it is there");
        let args = [
            format!("--load-extension={folder}"),
            "--disable-features=DisableLoadExtensionCommandLineSwitch".to_owned(),
        ];
        Self::of_program(&program, 0, &args).await
    }

    async fn of_program(program: &Path, port: u16, args: &[String]) -> Self {
        let profile = tempfile::tempdir().expect("a temporary folder");
        #[expect(
            clippy::disallowed_methods,
            reason = "this browser must not be one of the engine's"
        )]
        let mut command = Command::new(behind_script(program));
        if !program.ends_with("chromium-headless-shell") {
            command.arg("--headless");
        }
        let process = command
            .args(args)
            .args(["--no-first-run", "--no-sandbox", "about:blank"])
            .arg(format!("--remote-debugging-port={port}"))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the browser starts");
        let file = profile.path().join("DevToolsActivePort");
        let (port, path) = eventually(async || {
            let text = std::fs::read_to_string(&file).ok()?;
            let (port, path) = text.split_once('\n')?;
            Some((port.parse().expect("a number"), path.trim().to_owned()))
        })
        .await;
        Self {
            process,
            port,
            path,
            profile,
        }
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address as `http://…`.
    pub fn http(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the address as `ws://…`.
    pub fn web_socket(&self) -> String {
        format!("ws://127.0.0.1:{}{}", self.port, self.path)
    }

    /// Returns the number of browser contexts besides the default one.
    pub async fn contexts(&self) -> usize {
        let (connection, _events) = Connection::websocket(&self.web_socket(), &[], TIMEOUT)
            .await
            .expect("it listens");
        let contexts = connection.root().call(&target::GetBrowserContexts {}).await;
        connection.close();
        contexts.expect("it answers").browser_context_ids.len()
    }

    /// Returns whether the browser runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Kills the browser, and waits until it has ended.
    pub async fn kill(mut self) {
        self.process.kill().await.expect("a child can be killed");
    }
}

/// Returns the program of a wrapper script: killing Debian's script would not end the browser.
fn behind_script(program: &Path) -> std::path::PathBuf {
    let name = program.file_name().unwrap_or_default();
    let real = Path::new("/usr/lib/chromium").join(name);
    if real.is_file() {
        real
    } else {
        program.to_owned()
    }
}
