//! A browser process with all that it starts, which ends with its owner, and whose last output is kept.
//!
//! Chromium exits cleanly when its debugging pipe closes, which happens however this process ends. Processes that do not exit are killed,
//! by means of the system ([`system::Group`]).

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::Pipe;

#[cfg(unix)]
use super::openers::hide_openers;
use super::profile::Profile;
use crate::error::{Error, Result};
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::process::{ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use system::{BrowserEnds, Group};
use task::{self, Task};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::{oneshot, watch};

/// The number of output lines that are kept for an error.
const MAX_OUTPUT_LINES: usize = 60;
/// How long the helpers of a browser may outlive it: some write to its profile until the end.
const HELPER_EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// A running browser. Dropping it kills all of its processes.
#[derive(Debug)]
pub(crate) struct Process {
    group: Arc<Group>,
    profile: Arc<Profile>,
    exited: watch::Receiver<Option<String>>,
    output: Output,
    readers: [Task; 2],
}

/// The last output lines of a process.
#[derive(Debug, Clone, Default)]
struct Output {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// The number of streams that have ended.
    ended: watch::Sender<usize>,
    printed: watch::Sender<u64>,
}

/// The messages of the thread that has started a browser.
struct Started {
    group: Arc<Group>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// Dropped when all output has been read.
    reading: mpsc::Sender<()>,
    exited: watch::Receiver<Option<String>>,
}

impl Process {
    /// Starts `program` with the debugging pipe, which Chromium uses if it has the switch `--remote-debugging-pipe`. Errors name it as
    /// `name`.
    pub(crate) async fn start(
        name: &str,
        program: &Path,
        args: &[String],
        env: &[(String, String)],
        profile: Profile,
    ) -> Result<(Self, Pipe)> {
        let failed = |error: io::Error| Error::LaunchFailed {
            reason: if error.kind() == io::ErrorKind::NotFound {
                format!(
                    "Failed to launch {name} because executable doesn't exist at {}",
                    program.display()
                )
            } else {
                format!("Failed to launch {}: {error}", program.display())
            },
            log: String::new(),
        };
        let (pipe, ends) = system::pipe().map_err(failed)?;
        let mut command = command(program);
        command
            .args(args)
            .envs(env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        {
            let path = env.iter().rev().find(|(name, _)| name == "PATH");
            let path = path.map(|(_, path)| path.as_str());
            hide_openers(&mut command, profile.dir(), path).map_err(failed)?;
        }
        let profile = Arc::new(profile);
        let (started, starting) = oneshot::channel();
        let used = profile.clone();
        let supervising = std::thread::Builder::new()
            .name("browser".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || supervise(command, ends, &used, started));
        supervising.map_err(failed)?;
        let gone = || io::Error::other("the thread that starts it is gone");
        let started = starting.await.map_err(|_| failed(gone()))?;
        let started = started.map_err(|error| {
            profile.clear();
            failed(error)
        })?;
        let output = Output::default();
        let stdout = started.stdout.map(tokio::process::ChildStdout::from_std);
        let stderr = started.stderr.map(tokio::process::ChildStderr::from_std);
        let readers = [
            output.collect(stdout.and_then(io::Result::ok), started.reading.clone()),
            output.collect(stderr.and_then(io::Result::ok), started.reading),
        ];
        let process = Self {
            group: started.group,
            profile,
            exited: started.exited,
            output,
            readers,
        };
        Ok((process, pipe))
    }

    /// Waits for the process to end, and returns how.
    pub(crate) async fn exit(&self) -> String {
        let mut exited = self.exited.clone();
        let reason = match exited.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone(),
            // Only after a panic in the thread that waits for it.
            Err(_) => None,
        };
        reason.unwrap_or_default()
    }

    /// Returns the processes of the browser.
    #[cfg(target_os = "linux")]
    pub(super) fn members(&self) -> Vec<rustix::process::Pid> {
        self.group.members()
    }

    /// Returns the last output of the process; after its end, including the rest.
    pub(crate) async fn recent_output(&self) -> String {
        let mut ended = self.output.ended.subscribe();
        let all = ended.wait_for(|ended| *ended == self.readers.len());
        // A helper may keep the streams open longer than the browser runs.
        let _ = tokio::time::timeout(Duration::from_secs(1), all).await;
        self.output.text()
    }

    /// Returns the result of `find` in a line of output; `None` if the process has ended without it.
    pub(crate) async fn wait_for_output<T>(&self, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut printed = self.output.printed.subscribe();
        let mut exited = self.exited.clone();
        loop {
            printed.mark_unchanged();
            if let Some(found) = self.output.text().lines().find_map(&find) {
                return Some(found);
            }
            tokio::select! {
                // The sender is a field of `self`.
                _ = printed.changed() => {}
                _ = exited.wait_for(Option::is_some) => return None,
            }
        }
    }

    /// Returns whether the profile is temporary.
    pub(crate) fn is_temporary(&self) -> bool {
        self.profile.is_temporary()
    }

    /// Returns whether the browser must exit by itself, so that its profile is complete.
    pub(crate) fn must_exit_cleanly(&self) -> bool {
        self.profile.must_be_saved()
    }

    /// Marks the profile as free soon, before the browser is closed.
    pub(crate) fn leave(&self) {
        self.profile.leave();
    }

    /// Waits for the process to exit, at most `grace`, then kills all of its processes. Returns when all processes have ended and the temporary
    /// profile is removed.
    pub(crate) async fn end(&self, grace: Duration) {
        if tokio::time::timeout(grace, self.exit()).await.is_err() {
            self.group.kill();
            // A killed process ends as soon as the kernel handles it.
            self.exit().await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The waiting thread cleans up.
        self.group.kill();
    }
}

impl Output {
    fn text(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines
            .iter()
            .fold(String::new(), |text, line| text + line + "\n")
    }

    fn collect(
        &self,
        stream: Option<impl AsyncRead + Unpin + Send + 'static>,
        reading: mpsc::Sender<()>,
    ) -> Task {
        let output = self.clone();
        task::spawn("browser output", async move {
            let _reading = reading;
            let Some(stream) = stream else { return };
            let mut lines = BufReader::new(stream).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let mut kept = output.lines.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() == MAX_OUTPUT_LINES {
                    kept.pop_front();
                }
                kept.push_back(line);
                drop(kept);
                output.printed.send_modify(|count| *count += 1);
            }
            output.ended.send_modify(|ended| *ended += 1);
        })
    }
}

/// Starts a browser, waits for its end, and ends and removes what it left behind.
fn supervise(
    command: Command,
    ends: BrowserEnds,
    profile: &Profile,
    started: oneshot::Sender<io::Result<Started>>,
) {
    profile.restore();
    let (group, mut browser) = match Group::start(command, ends, profile) {
        Ok(running) => running,
        Err(error) => {
            // The caller may be cancelled.
            let _ = started.send(Err(error));
            return;
        }
    };
    let group = Arc::new(group);
    let (reading, read) = mpsc::channel();
    let (report, exited) = watch::channel(None);
    let delivered = started.send(Ok(Started {
        group: group.clone(),
        stdout: browser.stdout.take(),
        stderr: browser.stderr.take(),
        reading,
        exited,
    }));
    if delivered.is_err() {
        group.kill();
    }
    system::wait(&mut browser);
    // Nothing is ever sent: the channel closes when all output streams have ended, and with them all their writers.
    let _ = read.recv_timeout(HELPER_EXIT_TIMEOUT);
    let status = group.end(&mut browser);
    if status.as_ref().is_ok_and(ExitStatus::success) {
        profile.save();
    }
    profile.clear();
    report.send_replace(Some(match status {
        Ok(status) => describe(status),
        Err(error) => error.to_string(),
    }));
}

fn command(program: &Path) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door that the rule points at"
    )]
    Command::new(program)
}

fn describe(status: ExitStatus) -> String {
    format!("the browser process ended: {status}")
}
