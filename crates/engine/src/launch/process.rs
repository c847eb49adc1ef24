//! A browser process with its process group, which ends with its owner, and whose last output is kept.
//!
//! Chromium exits cleanly when its debugging pipe closes, which happens however this process ends. Processes that do not exit are killed:
//! by the thread that waits for the browser while this process runs, by a guard process afterwards. Unix only.

use super::profile::Profile;
use crate::error::{Error, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use task::{self, Task};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::{oneshot, watch};

/// The number of output lines that are kept for an error.
const MAX_OUTPUT_LINES: usize = 60;
/// How long the helpers of a browser may outlive it: some write to its profile until the end.
const HELPER_EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The guard process, which waits until this process has ended, and then kills the rest of its group, including itself.
const GUARD: &str = "while read -r _; do :; done; sleep 2; kill -s KILL 0";

/// A running browser. Dropping it kills its process group.
#[derive(Debug)]
pub(crate) struct Process {
    group: Arc<Group>,
    profile: Arc<Profile>,
    exited: watch::Receiver<Option<String>>,
    output: Output,
    readers: [Task; 2],
}

/// This process's ends of the debugging pipe.
pub(crate) struct Pipe {
    pub(crate) reader: OwnedFd,
    pub(crate) writer: OwnedFd,
}

/// A process group; `None` after its last process has ended. Until then its number is not reused, because it contains a child that was not
/// reaped.
#[derive(Debug)]
struct Group(Mutex<Option<Pid>>);

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
    /// Starts `program` with the debugging pipe on its file descriptors 3 and 4.
    pub(crate) async fn start(
        program: &Path,
        args: &[String],
        env: &[(String, String)],
        profile: Profile,
    ) -> Result<(Self, Pipe)> {
        let failed = |error: io::Error| Error::LaunchFailed {
            reason: if error.kind() == io::ErrorKind::NotFound {
                format!(
                    "Failed to launch chromium because executable doesn't exist at {}",
                    program.display()
                )
            } else {
                format!("Failed to launch {}: {error}", program.display())
            },
            log: String::new(),
        };
        let (browser_reads, writer) = pipe().map_err(failed)?;
        let (reader, browser_writes) = pipe().map_err(failed)?;
        let mut command = command(program);
        command
            .args(args)
            .envs(env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let profile = Arc::new(profile);
        let (started, starting) = oneshot::channel();
        let used = profile.clone();
        let supervising = std::thread::Builder::new()
            .name("browser".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || supervise(command, [browser_reads, browser_writes], &used, started));
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
        Ok((process, Pipe { reader, writer }))
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

    /// Marks the profile as free soon, before the browser is closed.
    pub(crate) fn leave(&self) {
        self.profile.leave();
    }

    /// Waits for the process to exit, at most `grace`, then kills its group. Returns when all processes have ended and the temporary
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

impl Group {
    fn id(&self) -> MutexGuard<'_, Option<Pid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kill(&self) {
        if let Some(id) = *self.id() {
            // All processes may have ended at this moment.
            let _ = rustix::process::kill_process_group(id, Signal::KILL);
        }
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
    mut command: Command,
    pipe: [OwnedFd; 2],
    profile: &Profile,
    started: oneshot::Sender<io::Result<Started>>,
) {
    let guard = Guard::start();
    let lock = profile.lock();
    let descriptors = [
        Some(pipe[0].as_raw_fd()),
        Some(pipe[1].as_raw_fd()),
        lock.as_ref().map(AsRawFd::as_raw_fd),
    ];
    command.process_group(guard.as_ref().map_or(0, Guard::id));
    #[expect(
        unsafe_code,
        reason = "which file descriptors a process inherits can only be said between fork and exec"
    )]
    // SAFETY: only async-signal-safe calls between fork and exec, and no allocation.
    unsafe {
        command.pre_exec(move || hand_over(descriptors));
    }
    let browser = command.spawn();
    drop((pipe, lock));
    let mut browser = match browser {
        Ok(browser) => browser,
        Err(error) => {
            if let Some(guard) = guard {
                guard.end();
            }
            // The caller may be cancelled.
            let _ = started.send(Err(error));
            return;
        }
    };
    let first = guard.as_ref().map_or(browser.id().cast_signed(), Guard::id);
    let group = Arc::new(Group(Mutex::new(Pid::from_raw(first))));
    let (reading, read) = mpsc::channel();
    let (report, exited) = watch::channel(None);
    let told = started.send(Ok(Started {
        group: group.clone(),
        stdout: browser.stdout.take(),
        stderr: browser.stderr.take(),
        reading,
        exited,
    }));
    if told.is_err() {
        group.kill();
    }
    wait_without_reaping(&browser);
    // Nothing is ever sent: the channel closes when all output streams have ended, and with them all their writers.
    let _ = read.recv_timeout(HELPER_EXIT_TIMEOUT);
    let status = {
        let mut id = group.id();
        if let Some(id) = id.take() {
            let _ = rustix::process::kill_process_group(id, Signal::KILL);
        }
        let status = browser.wait();
        if let Some(guard) = guard {
            guard.end();
        }
        status
    };
    profile.clear();
    report.send_replace(Some(match status {
        Ok(status) => describe(status),
        Err(error) => error.to_string(),
    }));
}

/// Waits until the child has ended without reaping it, so that its number is not reused.
fn wait_without_reaping(child: &Child) {
    let Some(id) = Pid::from_raw(child.id().cast_signed()) else {
        return;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(
        rustix::process::waitid(WaitId::Pid(id), options),
        Err(rustix::io::Errno::INTR)
    ) {}
}

/// The guard process, which leads the browser's process group. It outlives this process by two seconds.
struct Guard {
    process: Child,
    /// Closing it signals the end of this process.
    _alive: Option<std::process::ChildStdin>,
}

impl Guard {
    /// `None` without a shell: then only the pipe ends the browser.
    fn start() -> Option<Self> {
        let mut command = command(Path::new("/bin/sh"));
        command
            .args(["-c", GUARD, "playhouse-guard"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        match command.spawn() {
            Ok(mut process) => Some(Self {
                _alive: process.stdin.take(),
                process,
            }),
            Err(error) => {
                tracing::debug!(%error, "the browser has no guard process");
                None
            }
        }
    }

    fn id(&self) -> i32 {
        self.process.id().cast_signed()
    }

    fn end(mut self) {
        // The child was not reaped, so the number is still its own.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn command(program: &Path) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door that the rule points at"
    )]
    Command::new(program)
}

/// Passes the pipe to the new process as descriptors 3 and 4, and the lock of its profile as any descriptor.
fn hand_over([reads, writes, lock]: [Option<i32>; 3]) -> io::Result<()> {
    // They are moved first: one of them may be 3 or 4 already.
    let away = |descriptor: Option<i32>| {
        let Some(descriptor) = descriptor else {
            return Ok(-1);
        };
        #[expect(unsafe_code, reason = "a plain system call on a number that is ours")]
        // SAFETY: fcntl is async-signal-safe; the number is an open file descriptor of this process.
        match unsafe { libc::fcntl(descriptor, libc::F_DUPFD, 10) } {
            -1 => Err(io::Error::last_os_error()),
            moved => Ok(moved),
        }
    };
    let (reads, writes) = (away(reads)?, away(writes)?);
    away(lock)?;
    #[expect(unsafe_code, reason = "plain system calls on numbers that are ours")]
    // SAFETY: dup2 and close are async-signal-safe; the numbers are open file descriptors of this process.
    unsafe {
        if libc::dup2(reads, 3) < 0 || libc::dup2(writes, 4) < 0 {
            return Err(io::Error::last_os_error());
        }
        libc::close(reads);
        libc::close(writes);
    }
    Ok(())
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

fn describe(status: ExitStatus) -> String {
    format!("the browser process ended: {status}")
}
