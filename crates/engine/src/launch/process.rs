//! A browser process: in a group of its own, ended with its owner, its last words kept.

use crate::error::{Error, Result};
use crate::task::{self, Task};
use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::watch;

/// Lines of the browser's own output that are kept for an error.
const KEPT_LINES: usize = 60;

/// A running browser. Dropping it kills the process with its whole group.
#[derive(Debug)]
pub(crate) struct Process {
    group: rustix::process::Pid,
    exited: watch::Receiver<Option<String>>,
    output: Output,
    _watcher: Task,
    readers: [Task; 2],
    /// Goes with the process.
    profile: Mutex<Option<tempfile::TempDir>>,
}

/// The last lines that a process printed.
#[derive(Debug, Clone, Default)]
struct Output {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// How many of its streams are at their end.
    ended: watch::Sender<usize>,
}

/// Both ends of the debugging pipe that stay with us.
pub(crate) struct Pipe {
    pub(crate) reader: OwnedFd,
    pub(crate) writer: OwnedFd,
}

impl Process {
    /// Starts `program` with the debugging pipe on its file descriptors 3 and 4.
    pub(crate) fn start(
        program: &Path,
        args: &[String],
        env: &[(String, String)],
        profile: Option<tempfile::TempDir>,
    ) -> Result<(Self, Pipe)> {
        let failed = |error: std::io::Error| Error::LaunchFailed {
            reason: if error.kind() == std::io::ErrorKind::NotFound {
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
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the door that the rule points at"
        )]
        let mut command = tokio::process::Command::new(program);
        command
            .args(args)
            .envs(env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let (read_end, write_end) = (browser_reads.as_raw_fd(), browser_writes.as_raw_fd());
        let parent = rustix::process::getpid();
        #[expect(
            unsafe_code,
            reason = "file descriptors 3 and 4 and the death signal can only be set between fork and exec"
        )]
        // SAFETY: only async-signal-safe calls between fork and exec, and no allocation.
        unsafe {
            command.pre_exec(move || before_exec(read_end, write_end, parent));
        }
        let mut child = spawn_for_good(command).map_err(failed)?;
        drop((browser_reads, browser_writes));
        let group = child
            .id()
            .and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()))
            .expect("a child that was not waited for has an id");
        let output = Output::default();
        let readers = [
            output.collect(child.stdout.take()),
            output.collect(child.stderr.take()),
        ];
        let (report, exited) = watch::channel(None);
        let watcher = task::spawn("browser process", async move {
            let reason = match child.wait().await {
                Ok(status) => describe(status),
                Err(error) => error.to_string(),
            };
            report.send_replace(Some(reason));
        });
        let process = Self {
            group,
            exited,
            output,
            _watcher: watcher,
            readers,
            profile: Mutex::new(profile),
        };
        Ok((process, Pipe { reader, writer }))
    }

    /// Waits for the process to end, and tells how.
    pub(crate) async fn exit(&self) -> String {
        let mut exited = self.exited.clone();
        let reason = match exited.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone(),
            // The watcher lives as long as we do.
            Err(_) => None,
        };
        reason.unwrap_or_default()
    }

    /// What the process printed last; of one that has ended, all of it.
    pub(crate) async fn last_words(&self) -> String {
        let mut ended = self.output.ended.subscribe();
        let all = ended.wait_for(|ended| *ended == self.readers.len());
        // A helper may hold the streams open longer than the browser lives.
        let _ = tokio::time::timeout(Duration::from_secs(1), all).await;
        self.output.text()
    }

    /// Waits for the process to end by itself, at most `grace`, then kills its group. Its temporary profile goes too.
    pub(crate) async fn end(&self, grace: Duration) {
        let mut exited = self.exited.clone();
        let by_itself = exited.wait_for(Option::is_some);
        if tokio::time::timeout(grace, by_itself).await.is_err() {
            self.kill();
            // A killed process is gone as soon as the kernel gets to it.
            let _ = exited.wait_for(Option::is_some).await;
        }
        if let Some(profile) = self.take_profile() {
            // Only a panic in there could fail.
            let _ = tokio::task::spawn_blocking(|| remove(profile)).await;
        }
    }

    fn take_profile(&self) -> Option<tempfile::TempDir> {
        self.profile
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn kill(&self) {
        if self.exited.borrow().is_none() {
            // It may have ended this very moment.
            let _ = rustix::process::kill_process_group(self.group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if let Some(profile) = self.take_profile() {
            remove(profile);
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

    fn collect(&self, stream: Option<impl AsyncRead + Unpin + Send + 'static>) -> Task {
        let output = self.clone();
        task::spawn("browser output", async move {
            let Some(stream) = stream else { return };
            let mut lines = BufReader::new(stream).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let mut kept = output.lines.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() == KEPT_LINES {
                    kept.pop_front();
                }
                kept.push_back(line);
            }
            output.ended.send_modify(|ended| *ended += 1);
        })
    }
}

/// Starts the command from a thread that lives as long as we do: the kernel sends a child its death signal when the thread ends that
/// started it.
fn spawn_for_good(mut command: tokio::process::Command) -> std::io::Result<tokio::process::Child> {
    type Job = Box<dyn FnOnce() + Send>;
    static LAUNCHER: LazyLock<Option<mpsc::Sender<Job>>> = LazyLock::new(|| {
        let (jobs, queue) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new().name("browser launcher".to_owned());
        let started = thread.spawn(move || queue.into_iter().for_each(|job| job()));
        started.is_ok().then_some(jobs)
    });
    let Some(launcher) = &*LAUNCHER else {
        return command.spawn();
    };
    let runtime = tokio::runtime::Handle::current();
    let (answer, started) = mpsc::channel();
    let job: Job = Box::new(move || {
        let _runtime = runtime.enter();
        // Whoever asked waits right below.
        let _ = answer.send(command.spawn());
    });
    let gone = || std::io::Error::other("the thread that starts browsers is gone");
    launcher.send(job).map_err(|_| gone())?;
    started.recv().map_err(|_| gone())?
}

fn before_exec(read_end: i32, write_end: i32, parent: rustix::process::Pid) -> std::io::Result<()> {
    #[expect(unsafe_code, reason = "plain system calls on numbers that are ours")]
    // SAFETY: fcntl, dup2 and close are async-signal-safe; the numbers are open file descriptors of this process.
    unsafe {
        // Both go out of the way first: one of them may be 3 or 4 already.
        let read_end = libc::fcntl(read_end, libc::F_DUPFD, 10);
        let write_end = libc::fcntl(write_end, libc::F_DUPFD, 10);
        if read_end < 0
            || write_end < 0
            || libc::dup2(read_end, 3) < 0
            || libc::dup2(write_end, 4) < 0
        {
            return Err(std::io::Error::last_os_error());
        }
        libc::close(read_end);
        libc::close(write_end);
    }
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // The parent may have died before the signal was set.
        if rustix::process::getppid() != Some(parent) {
            return Err(std::io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    Ok(())
}

fn pipe() -> std::io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

fn describe(status: ExitStatus) -> String {
    format!("the browser process ended: {status}")
}

/// The browser's helpers may still write for a moment after it was killed.
fn remove(profile: tempfile::TempDir) {
    let path = profile.keep();
    for _ in 0..20 {
        match std::fs::remove_dir_all(&path) {
            Ok(()) => return,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(_) => std::thread::sleep(Duration::from_millis(25)),
        }
    }
    tracing::warn!(path = %path.display(), "the temporary profile could not be removed");
}
