//! Output for users who run a command in a terminal.

use std::{
    io::{self, IsTerminal, Write},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// The interval between updates of a progress line.
const TICK: Duration = Duration::from_millis(100);

/// A line on stderr that is replaced by the next one; invisible if stderr is not a terminal.
pub(super) struct ProgressLine {
    is_visible: bool,
    /// The number of characters that are shown.
    width: usize,
    drawn: Option<Instant>,
}

impl ProgressLine {
    pub(super) fn new() -> Self {
        Self {
            is_visible: io::stderr().is_terminal(),
            width: 0,
            drawn: None,
        }
    }

    /// Shows the text, unless the last one is younger than a tick.
    pub(super) fn update(&mut self, text: impl FnOnce() -> String) {
        let is_due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= TICK);
        if self.is_visible && is_due {
            self.draw(&text());
            self.drawn = Some(Instant::now());
        }
    }

    fn draw(&mut self, text: &str) {
        // Spaces replace the rest of a longer line, because not every terminal has a sequence for that.
        let _ = write!(io::stderr(), "\r{text:width$}\r{text}", width = self.width);
        self.width = text.chars().count();
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.width > 0 {
            self.draw("");
        }
    }
}

/// A progress line that shows how long an operation takes, until it is dropped.
pub(super) struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

/// Shows a progress line about an operation.
pub(super) fn progress(doing: &'static str) -> Progress {
    let (ending, ended) = mpsc::channel();
    let thread = thread::Builder::new().name("progress".to_owned());
    let shown = thread.spawn(move || {
        let start = Instant::now();
        let mut line = ProgressLine::new();
        for mark in ['|', '/', '-', '\\'].into_iter().cycle() {
            line.update(|| format!("{mark} {doing} ({} s)", start.elapsed().as_secs()));
            if ended.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                break;
            }
        }
    });
    Progress(shown.ok().map(|thread| (ending, thread)))
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((ending, thread)) = self.0.take() {
            drop(ending);
            let _ = thread.join();
        }
    }
}

/// The message for a user who starts the server by hand.
const GREETING: &str = concat!(
    "Playhouse ",
    env!("CARGO_PKG_VERSION"),
    ", an MCP server that gives AI agents real browsers.
It waits for the messages of a client on stdin; Ctrl+C ends it. You may want one of these:

  playhouse setup claude              add it to a client (cursor, vscode, windsurf, codex)
  playhouse try https://example.com   open a page and print what an agent sees
  playhouse doctor                    check which browsers work
  playhouse --help                    all commands and options
"
);

/// Prints what the server is and what to type, if a user started it in a terminal.
pub(super) fn greet() {
    if io::stdin().is_terminal() {
        let _ = io::stderr().write_all(GREETING.as_bytes());
    }
}
