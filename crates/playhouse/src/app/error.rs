//! Why a server command could not do what it was asked to.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::state::Exit;

/// A supervisor tells its command; so it goes through a pipe, as JSON.
#[derive(Clone, Debug, Error, Serialize, Deserialize)]
pub(crate) enum AppError {
    #[error("{0}")]
    Usage(String),
    #[error(
        "nothing to start: give the app's command after `--`, as in `playhouse app -- npm run dev`"
    )]
    NoCommand,
    #[error("cannot use the folder {} for the state and the logs of the app: {reason}", folder.display())]
    NoFolder { folder: PathBuf, reason: String },
    #[error("cannot start the app's supervisor: {0}")]
    NoSupervisor(String),
    #[error("cannot start `{program}` in {}: {reason}", cwd.display())]
    NotStarted {
        program: String,
        cwd: PathBuf,
        reason: String,
    },
    #[error("the app {exit} before it was ready{}", said(lines))]
    Ended { exit: Exit, lines: String },
    #[error("the app was not ready within {waited} ms: {obstacle}{}", said(lines))]
    NotReady {
        waited: u128,
        obstacle: String,
        lines: String,
    },
    #[error(
        "no port of the {tried} that were tried stayed free until the app listened on it{}",
        said(lines)
    )]
    PortTaken { tried: usize, lines: String },
    #[error("there is no free port: {0}")]
    NoPort(String),
    #[error("the app was shut down while it started")]
    ShutDown,
    #[error("another command is under way with this app")]
    Busy,
    #[error("the app did not end, not even when it was killed: {pids:?}")]
    NotStopped { pids: Vec<u32> },
}

impl AppError {
    pub(super) fn no_folder(folder: &Path, source: &io::Error) -> Self {
        Self::NoFolder {
            folder: folder.to_owned(),
            reason: source.to_string(),
        }
    }

    /// What stands in the field `error`.
    pub(super) fn code(&self) -> &'static str {
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

    /// How the app ended, if that is what went wrong.
    pub(super) fn exit(&self) -> Option<&Exit> {
        match self {
            Self::Ended { exit, .. } => Some(exit),
            _ => None,
        }
    }
}

fn said(lines: &str) -> String {
    if lines.is_empty() {
        ", without a word".to_owned()
    } else {
        format!(". Its last output:\n{lines}")
    }
}
