//! Errors of the commands of `playhouse app`.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::port;
use crate::processes::table;
use crate::state::Exit;

/// An error of a command. A supervisor reports it to its command through a pipe, as JSON.
#[derive(Clone, Debug, Error, Serialize, Deserialize)]
pub enum AppError {
    #[error("{0}")]
    Usage(String),
    #[error(
        "nothing to start: give the app's command after `--`, as in `playhouse app -- npm run dev`"
    )]
    NoCommand,
    #[error(
        "cannot use the folder {} for the state and the logs of the app: {reason}. Set the environment variable XDG_STATE_HOME to a folder that can be written",
        folder.display()
    )]
    NoFolder { folder: PathBuf, reason: String },
    #[error("cannot start the app's supervisor: {0}")]
    NoSupervisor(String),
    #[error("cannot start `{program}` in {}: {reason}", cwd.display())]
    NotStarted {
        program: String,
        cwd: PathBuf,
        reason: String,
    },
    #[error("the app {exit} before it was ready{}", find_cause(lines))]
    Ended { exit: Exit, lines: String },
    #[error(
        "the app was not ready within {waited} ms: {obstacle}{}",
        find_cause(lines)
    )]
    NotReady {
        waited: u128,
        obstacle: String,
        lines: String,
    },
    #[error("{}{}", conflict(*tried, taken.as_ref()), find_cause(lines))]
    PortTaken {
        tried: usize,
        /// The port, if known.
        taken: Option<Taken>,
        lines: String,
    },
    #[error("no free port: {0}")]
    NoPort(String),
    #[error("the app was shut down while it started")]
    ShutDown,
    #[error("another command is already running for this app")]
    Busy,
    #[error("the app did not end, not even when it was killed: {pids:?}")]
    NotStopped { pids: Vec<u32> },
}

impl AppError {
    pub(crate) fn no_folder(folder: &Path, source: &io::Error) -> Self {
        Self::NoFolder {
            folder: folder.to_owned(),
            reason: source.to_string(),
        }
    }

    /// Returns the value of the field `error`.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Usage(_) | Self::NoCommand => "USAGE",
            Self::NoFolder { .. } => "STATE_UNAVAILABLE",
            Self::NoSupervisor(_) | Self::NotStarted { .. } | Self::Ended { .. } => "START_FAILED",
            Self::NotReady { .. } => "START_TIMEOUT",
            Self::PortTaken { .. } | Self::NoPort(_) => "NO_PORT",
            Self::ShutDown => "SHUT_DOWN",
            Self::Busy => "BUSY",
            Self::NotStopped { .. } => "SHUTDOWN_FAILED",
        }
    }

    /// Returns the exit status of the app, if its end is the error.
    pub(crate) fn exit(&self) -> Option<&Exit> {
        match self {
            Self::Ended { exit, .. } => Some(exit),
            _ => None,
        }
    }
}

/// A port that another process uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    pub(crate) port: u16,
    /// The command line and the number of the process, if known.
    by: Option<String>,
}

impl Taken {
    /// Returns the owner of a port; `None` if the port is free.
    pub(crate) fn of(port: u16) -> Option<Self> {
        if port::is_free(port) {
            return None;
        }
        let by = table::listener(port).map(|holder| match table::command(holder.pid) {
            Some(command) => format!("`{command}` (pid {})", holder.pid),
            None => format!("the process {}", holder.pid),
        });
        Some(Self { port, by })
    }

    /// Returns the first port in these lines that is in use.
    pub(crate) fn named(lines: &str) -> Option<Self> {
        let numbers = lines.split(|char: char| !char.is_ascii_digit());
        let ports = numbers.filter_map(|number| number.parse().ok());
        // A smaller number is usually a line, a column, or a code.
        ports.filter(|&port| port >= 80).find_map(Self::of)
    }
}

fn conflict(tried: usize, taken: Option<&Taken>) -> String {
    match taken {
        Some(Taken { port, by }) => format!(
            "port {port} is in use by {}: stop it, or let the app use the assigned port ({{port}} in its arguments, or PORT)",
            by.as_deref().unwrap_or("another process")
        ),
        None => {
            format!(
                "no port of the {tried} that were tried stayed free until the app listened on it"
            )
        }
    }
}

fn find_cause(lines: &str) -> String {
    if lines.is_empty() {
        ", without a word".to_owned()
    } else {
        format!(". Its last output:\n{lines}")
    }
}
