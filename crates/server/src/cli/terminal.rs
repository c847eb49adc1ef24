//! Output for users who run a command in a terminal.

use std::{
    io::{self, IsTerminal, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

/// The interval between updates of a progress line.
const TICK: Duration = Duration::from_millis(100);

/// Shows a line on stderr about an operation that takes long, until it is finished or dropped; invisible if stderr is not a terminal.
pub(super) fn progress(doing: &'static str) -> ProgressBar {
    let progress = ProgressBar::new_spinner().with_message(doing);
    let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
    progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    progress.enable_steady_tick(TICK);
    progress
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
