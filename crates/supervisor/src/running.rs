//! The running processes of an app, as seen by their supervisor.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{WaitOptions, wait};
use task::Task;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app::App;
use crate::error::AppError;
use crate::logs::{Logs, Stream};
use crate::process_tree::ProcessTree;
use crate::processes::Identity;
use crate::state::Exit;

/// How long a process outside the app may keep its output open.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);
/// The interval between checks of an app whose first process has ended, because the end of the others is not notified.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How long a line may stay incomplete before it is interleaved with lines of the other stream.
const PARTIAL_LINE_TIMEOUT: Duration = Duration::from_millis(200);
/// The size of a read, in bytes.
const CHUNK_BYTES: usize = 32 * 1024;

pub(crate) struct Running {
    pub(crate) leader: Identity,
    pub(crate) processes: Arc<ProcessTree>,
    exit: Option<Exit>,
    children: Signal,
    readers: [Task; 2],
}

impl Running {
    /// Starts the app on a port, in its own process group.
    pub(crate) fn start(app: &App, port: u16, logs: &Arc<Logs>) -> Result<Self, AppError> {
        let failed = |source: io::Error| AppError::NotStarted {
            program: app.command.first().cloned().unwrap_or_default(),
            cwd: app.cwd.clone(),
            reason: source.to_string(),
        };
        // Created before the child, so that no signal is missed.
        let children = signal(SignalKind::child()).map_err(failed)?;
        let mut child = command(app, port).spawn().map_err(failed)?;
        let pid = child.id();
        let leader = Identity::of_child(pid).unwrap_or_else(|| Identity {
            pid,
            started: String::new(),
        });
        let stdout = child
            .stdout
            .take()
            .map(tokio::process::ChildStdout::from_std);
        let stderr = child
            .stderr
            .take()
            .map(tokio::process::ChildStderr::from_std);
        Ok(Self {
            processes: Arc::new(ProcessTree::supervised(&app.folder, leader.clone())),
            leader,
            exit: None,
            children,
            readers: [
                read(stdout.and_then(io::Result::ok), Stream::Stdout, logs),
                read(stderr.and_then(io::Result::ok), Stream::Stderr, logs),
            ],
        })
    }

    /// Waits until the app has ended: its first process, and, if that succeeded, all processes that it started.
    pub(crate) async fn ended(&mut self) -> Exit {
        loop {
            self.reap();
            match &self.exit {
                Some(exit) if exit.code != Some(0) || self.processes.members().is_empty() => {
                    return exit.clone();
                }
                Some(_) => {
                    let _ = tokio::time::timeout(POLL_INTERVAL, self.children.recv()).await;
                }
                None => {
                    self.children.recv().await;
                }
            }
        }
    }

    /// Ends all processes, reads the remaining output, and returns the processes that could not be ended.
    pub(crate) async fn end(mut self, grace: Duration) -> Vec<u32> {
        let processes = self.processes.clone();
        let ending = processes.end(grace);
        tokio::pin!(ending);
        let left = loop {
            tokio::select! {
                left = &mut ending => break left,
                _ = self.children.recv() => self.reap(),
            }
        };
        self.reap();
        let [stdout, stderr] = self.readers;
        let _ = tokio::time::timeout(OUTPUT_TIMEOUT, async {
            stdout.ended().await;
            stderr.ended().await;
        })
        .await;
        left
    }

    /// Reaps all ended processes, including orphans.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid.as_raw_nonzero().get() == self.leader.pid.cast_signed() {
                self.exit = Some(Exit {
                    code: status.exit_status(),
                    signal: status.terminating_signal(),
                });
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "an app outlives the process that starts it: its supervisor ends it, or the next command"
)]
fn command(app: &App, port: u16) -> Command {
    let words: Vec<String> = app
        .command
        .iter()
        .map(|word| word.replace("{port}", &port.to_string()))
        .collect();
    let mut command = match &words[..] {
        [line] if line.contains(char::is_whitespace) => {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", line]);
            shell
        }
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        [] => Command::new(""),
    };
    command
        .current_dir(&app.cwd)
        .env(&app.port_env, port.to_string())
        // Many dev servers open a browser when they are ready.
        .env("BROWSER", "none")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command
}

fn read(
    stream: Option<impl AsyncRead + Unpin + Send + 'static>,
    which: Stream,
    logs: &Arc<Logs>,
) -> Task {
    let logs = logs.clone();
    task::spawn("app output", async move {
        let Some(mut stream) = stream else { return };
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut begun = false;
        loop {
            let reading = stream.read(&mut chunk);
            let pause = tokio::time::sleep(if begun {
                PARTIAL_LINE_TIMEOUT
            } else {
                Duration::MAX
            });
            tokio::select! {
                read = reading => match read {
                    Ok(length @ 1..) => begun = logs.write(which, &chunk[..length]),
                    _ => break,
                },
                () = pause => {
                    logs.pause(which);
                    begun = false;
                }
            }
        }
        logs.pause(which);
    })
}
