//! An app, and the commands of the interface.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A command of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Start,
    Restart,
    Status,
    Shutdown,
}

impl Request {
    /// Returns the command of an option.
    pub fn of_option(option: &str) -> Option<Self> {
        Some(match option {
            "--start" => Self::Start,
            "--restart" => Self::Restart,
            "--status" => Self::Status,
            "--shutdown" => Self::Shutdown,
            _ => return None,
        })
    }
}

/// An app, and how it is run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct App {
    /// The name, unique in its project.
    pub name: String,
    /// The working directory.
    pub cwd: PathBuf,
    /// The folder with the leases of those that use the app: it is stopped when all of their processes have ended.
    pub owners: Option<PathBuf>,
    /// The folder of its state and its logs: one for each user, project and name.
    pub folder: PathBuf,
    /// The program and its arguments; a single word with spaces is a shell command. `{port}` is replaced by the port.
    pub command: Vec<String>,
    /// The environment variable with the port.
    pub port_env: String,
    /// A pattern of the output of a ready app, with the named groups `port` or `url` if the output contains them; without a pattern, the
    /// app is ready when it responds to HTTP requests.
    pub ready_pattern: Option<String>,
    /// The path of the health check.
    pub ready_path: String,
    /// How long the app may take to become ready.
    pub ready_timeout: Duration,
    /// How long the app may take to end before it is killed.
    pub stop_timeout: Duration,
    /// Whether the app is restarted after a crash.
    pub restart_on_crash: bool,
    /// The size of a log, in bytes, at which it is rotated.
    pub log_limit: u64,
}
