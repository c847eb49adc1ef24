//! The debugging pipe on the file descriptors 3 and 4, and a process group with a guard process.
//!
//! Processes that do not exit are killed: by the thread that waits for the browser while this process runs, by the guard afterwards.

use super::command;
use crate::launch::profile::Profile;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wire::{Connection, EventStream};

/// The guard process, which waits until this process has ended, and then kills the rest of its group, including itself.
const GUARD: &str = "while read -r _; do :; done; sleep 2; kill -s KILL 0";

/// This process's ends of the debugging pipe.
pub(crate) struct Pipe {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Pipe {
    /// Connects to a browser that uses the pipe.
    pub(crate) async fn connect(self) -> wire::Result<(Connection, EventStream)> {
        Connection::pipe(self.reader, self.writer)
    }

    /// Returns the reading end alone, as a stream.
    pub(crate) fn into_reader(self) -> tokio::fs::File {
        tokio::fs::File::from_std(self.reader.into())
    }
}

/// The ends that the browser inherits: the one that it reads, and the one that it writes.
pub(super) struct BrowserEnds([OwnedFd; 2]);

pub(super) fn pipe() -> io::Result<(Pipe, BrowserEnds)> {
    let (browser_reads, writer) = io::pipe()?;
    let (reader, browser_writes) = io::pipe()?;
    let ends = BrowserEnds([browser_reads.into(), browser_writes.into()]);
    let pipe = Pipe {
        reader: reader.into(),
        writer: writer.into(),
    };
    Ok((pipe, ends))
}

/// The process group of a browser.
#[derive(Debug)]
pub(super) struct Group {
    /// `None` after the last process has ended. Until then the number is not reused, because the group contains a child that was not reaped.
    id: Mutex<Option<Pid>>,
    guard: Mutex<Option<Guard>>,
}

impl Group {
    /// Starts the browser in a group of its own.
    pub(super) fn start(
        mut command: Command,
        BrowserEnds(pipe): BrowserEnds,
        profile: &Profile,
    ) -> io::Result<(Self, Child)> {
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
        let browser = match browser {
            Ok(browser) => browser,
            Err(error) => {
                if let Some(guard) = guard {
                    guard.end();
                }
                return Err(error);
            }
        };
        let first = guard.as_ref().map_or(browser.id().cast_signed(), Guard::id);
        let group = Self {
            id: Mutex::new(Pid::from_raw(first)),
            guard: Mutex::new(guard),
        };
        Ok((group, browser))
    }

    fn id(&self) -> MutexGuard<'_, Option<Pid>> {
        self.id.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the processes of the group. <https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>
    #[cfg(target_os = "linux")]
    pub(super) fn members(&self) -> Vec<Pid> {
        let Some(group) = *self.id() else {
            return Vec::new();
        };
        let is_member = |process: Pid| {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
            let stat = stat.unwrap_or_default();
            // The name, in parentheses, can contain anything.
            let mut rest = stat.rsplit(") ").next().unwrap_or_default().split(' ');
            rest.nth(2).and_then(|it| it.parse().ok()) == Some(group.as_raw_nonzero().get())
        };
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        all.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
            .filter(|process| is_member(*process))
            .collect()
    }

    pub(super) fn kill(&self) {
        if let Some(id) = *self.id() {
            // All processes may have ended at this moment.
            let _ = rustix::process::kill_process_group(id, Signal::KILL);
        }
    }

    /// Kills what is left after the browser has ended, and reaps the browser.
    pub(super) fn end(&self, browser: &mut Child) -> io::Result<ExitStatus> {
        let mut id = self.id();
        if let Some(id) = id.take() {
            let _ = rustix::process::kill_process_group(id, Signal::KILL);
        }
        let status = browser.wait();
        let guard = self
            .guard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(guard) = guard {
            guard.end();
        }
        status
    }
}

/// Waits until the child has ended without reaping it, so that its number is not reused.
pub(super) fn wait(child: &mut Child) {
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
#[derive(Debug)]
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
