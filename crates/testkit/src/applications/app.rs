//! One application, with new data in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::engine::Engine;
use crate::grid::unused_port;
use crate::processes::Processes;

use super::{folder, installation};

/// How long an application may take to start on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(180);
/// How long it may take to end by itself.
const END_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// An application that runs. It is killed when this is dropped.
pub(super) struct App {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl App {
    /// Copies the files of an application, runs its `start.sh`, and waits until it answers at the path that the first line of the script
    /// names.
    pub(super) async fn start(name: &str, engine: Engine) -> Self {
        // Below the installed packages, where Node finds them.
        let copy = installation().join(format!("run/{name}-{}", engine.name()));
        if copy.exists() {
            fs::remove_dir_all(&copy).expect("the data of the last run are removed");
        }
        copy_folder(&folder().join(name), &copy);
        let port = unused_port();
        let log = fs::File::create(copy.join("log")).expect("the folder is ours");
        let mut command = shell(&copy, port);
        command.arg("start.sh");
        command.stdout(log.try_clone().expect("a file")).stderr(log);
        // The processes of an application end together.
        command.process_group(0).kill_on_drop(true);
        let child = command.spawn().expect("a shell");
        let app = Self {
            child,
            port,
            folder: copy,
        };
        app.answer().await;
        app
    }

    /// Returns its URL, without a slash at the end.
    pub(super) fn url(&self) -> String {
        url(self.port)
    }

    async fn answer(&self) {
        let script = fs::read_to_string(self.folder.join("start.sh")).expect("a start.sh");
        let path = script
            .lines()
            .find_map(|line| line.strip_prefix("# Ready: "));
        let ready = format!("{}{}", self.url(), path.unwrap_or("/"));
        let answered = async {
            loop {
                let mut curl = shell(&self.folder, self.port);
                curl.args([
                    "-c",
                    "curl --silent --fail --output /dev/null --max-time 60 \"$0\"",
                ]);
                let status = curl.arg(&ready).status().await;
                if status.is_ok_and(|status| status.success()) {
                    return;
                }
                sleep(POLL_INTERVAL).await;
            }
        };
        if timeout(START_TIMEOUT, answered).await.is_err() {
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            panic!("{ready} does not answer:\n{log}");
        }
    }

    /// Runs each command among the blocks in the folder, and compares its output with the block below it.
    ///
    /// # Errors
    /// The first difference.
    pub(super) async fn check(&self, blocks: &[(String, String)]) -> Result<(), String> {
        for pair in blocks.chunks(2) {
            let [(_, command), (_, expected)] = pair else {
                panic!("a block with a command is followed by one with its output");
            };
            let mut shell = shell(&self.folder, self.port);
            let output = shell.args(["-c", command]).output().await;
            let output = output.expect("a shell");
            let stdout = String::from_utf8_lossy(&output.stdout);
            if stdout.trim() != expected.trim() {
                let stderr = String::from_utf8_lossy(&output.stderr);
                return Err(format!(
                    "its data are\n{stdout}{stderr}instead of\n{expected}"
                ));
            }
        }
        Ok(())
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let Some(id) = self.child.id() else { return };
        let processes = Processes::from(id);
        let group = i32::try_from(id).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::TERM);
        }
        let until = std::time::Instant::now() + END_TIMEOUT;
        while !processes.have_ended() && std::time::Instant::now() < until {
            std::thread::sleep(POLL_INTERVAL);
        }
        processes.kill();
    }
}

/// Returns a shell in a folder, for which the installed programs are in the PATH.
#[expect(
    clippy::disallowed_methods,
    reason = "the process ends with the application"
)]
fn shell(folder: &Path, port: u16) -> Command {
    let installed = installation();
    let path = format!(
        "{0}/python/bin:{0}/node_modules/.bin:{1}",
        installed.display(),
        crate::prerequisites::variable("PATH").unwrap_or_default()
    );
    let mut command = Command::new("sh");
    command.current_dir(folder).stdin(Stdio::null());
    command.env("PATH", path).env("HOME", folder);
    command.env("PORT", port.to_string()).env("URL", url(port));
    command
}

fn url(port: u16) -> String {
    format!("http://localhost:{port}")
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it can be made");
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries.flatten() {
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy_folder(&path, &copy),
            false => drop(fs::copy(&path, &copy).expect("it can be copied")),
        }
    }
}
