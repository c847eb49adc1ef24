//! The processes of a running command: its process group, on Windows its job.

use std::io;
use std::process::ExitStatus;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

/// The piped stdout and stderr of a process.
pub(super) type Outputs = (Option<ChildStdout>, Option<ChildStderr>);

/// A process and those that it started, killed when dropped before the process has ended.
pub(super) struct CommandGroup {
    child: Option<Child>,
    #[cfg(windows)]
    job: Option<job::Job>,
}

impl CommandGroup {
    /// Starts the command in a group of its own, and returns its outputs.
    pub(super) fn start(mut command: Command) -> io::Result<(Self, Outputs)> {
        #[cfg(unix)]
        command.process_group(0);
        #[cfg(windows)]
        let job = job::Job::new()?;
        #[cfg(windows)]
        command.creation_flags(job::SUSPENDED);
        let mut child = command.spawn()?;
        #[cfg(windows)]
        if let Some(id) = child.id() {
            job.adopt(id).inspect_err(|_| {
                let _ = child.start_kill();
            })?;
        }
        let outputs = (child.stdout.take(), child.stderr.take());
        let group = Self {
            child: Some(child),
            #[cfg(windows)]
            job: Some(job),
        };
        Ok((group, outputs))
    }

    /// Returns the number of the process; `None` after its end.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.as_ref()?.id()
    }

    /// Waits for the end of the process. The processes that it started continue to run, as intended.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        let Some(child) = &mut self.child else {
            return Err(io::Error::other("it has ended"));
        };
        let status = child.wait().await;
        self.child = None;
        #[cfg(windows)]
        if let Some(job) = self.job.take() {
            job.release();
        }
        status
    }

    /// Kills the processes.
    pub(super) async fn kill(&mut self) {
        self.signal();
        if let Some(mut child) = self.child.take() {
            let _ = child.wait().await;
        }
    }

    fn signal(&mut self) {
        // The process was not reaped, so its number has not been reused.
        let Some(child) = &mut self.child else { return };
        #[cfg(windows)]
        if let Some(job) = &self.job {
            job.kill();
        }
        #[cfg(unix)]
        if let Some(pid) = child.id().and_then(|id| i32::try_from(id).ok())
            && let Some(pid) = rustix::process::Pid::from_raw(pid)
        {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        let _ = child.start_kill();
    }
}

impl Drop for CommandGroup {
    fn drop(&mut self) {
        self.signal();
    }
}
