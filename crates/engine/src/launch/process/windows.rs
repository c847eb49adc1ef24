//! The debugging pipe as two named pipes, whose handles the browser inherits, and a job object, with which all of its processes end.

use crate::launch::profile::Profile;
use job::Job;
use std::fs::File;
use std::io;
use std::os::windows::io::{AsHandle as _, AsRawHandle as _};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
use uuid::Uuid;
use wire::{Connection, EventStream};

/// The switch of Chromium for a debugging pipe.
const DEBUGGING_PIPE: &str = "--remote-debugging-pipe";
/// The switch for the handles that Chromium reads and writes, in this order.
const PIPE_HANDLES: &str = "--remote-debugging-io-pipes";
/// How long killed processes may take to disappear, and the interval between checks.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// This process's ends of the debugging pipe.
pub(crate) struct Pipe {
    reader: NamedPipeServer,
    writer: NamedPipeServer,
}

impl Pipe {
    /// Connects to a browser that uses the pipe.
    pub(crate) async fn connect(self) -> io::Result<(Connection, EventStream)> {
        // The other ends are open; without this, the runtime would not notice.
        self.reader.connect().await?;
        self.writer.connect().await?;
        Ok(Connection::streams(self.reader, self.writer))
    }

    /// Returns the reading end alone, as a stream.
    pub(crate) fn into_reader(self) -> NamedPipeServer {
        self.reader
    }
}

/// The ends that the browser inherits: the one that it reads, and the one that it writes.
pub(super) struct BrowserEnds([File; 2]);

/// Creates the pipes and opens their other ends at once. Each has one instance, so no other process can open it afterwards.
pub(super) fn pipe() -> io::Result<(Pipe, BrowserEnds)> {
    let (name, mut options) = (Uuid::new_v4(), ServerOptions::new());
    options.first_pipe_instance(true).max_instances(1);
    let path = |end| format!(r"\\.\pipe\playhouse-{name}-{end}");
    let writer = options.access_inbound(false).create(path("in"))?;
    let browser_reads = File::options().read(true).open(path("in"))?;
    options.access_inbound(true).access_outbound(false);
    let reader = options.create(path("out"))?;
    let browser_writes = File::options().write(true).open(path("out"))?;
    let ends = BrowserEnds([browser_reads, browser_writes]);
    Ok((Pipe { reader, writer }, ends))
}

/// The job of a browser.
#[derive(Debug)]
pub(super) struct Group(Job);

impl Group {
    /// Starts the browser in a job of its own.
    pub(super) fn start(
        mut command: Command,
        BrowserEnds(pipe): BrowserEnds,
        _: &Profile,
    ) -> io::Result<(Self, Child)> {
        if command.get_args().any(|arg| arg == DEBUGGING_PIPE) {
            // The other way, descriptors of the C runtime, is not available in Rust.
            let [reads, writes] = pipe.each_ref().map(|end| end.as_raw_handle().addr());
            command.arg(format!("{PIPE_HANDLES}={reads},{writes}"));
        }
        let job = Job::new()?;
        let inherited = pipe.each_ref().map(File::as_handle);
        let browser = job.spawn(&mut command, &inherited)?;
        Ok((Self(job), browser))
    }

    pub(super) fn kill(&self) {
        self.0.kill();
    }

    /// Kills what is left after the browser has ended, and returns how the browser ended.
    pub(super) fn end(&self, browser: &mut Child) -> io::Result<ExitStatus> {
        self.kill();
        let killed = Instant::now();
        while !self.0.is_empty() && killed.elapsed() < KILL_TIMEOUT {
            std::thread::sleep(POLL_INTERVAL);
        }
        browser.wait()
    }
}

/// Waits until the browser has ended.
pub(super) fn wait(browser: &mut Child) {
    let _ = browser.wait();
}
