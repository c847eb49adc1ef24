//! An app, and what a command is asked to do with it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a command is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Start,
    Restart,
    Status,
    Shutdown,
}

impl Request {
    /// What an option of the interface asks for.
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
    /// What it is called, in its project.
    pub name: String,
    /// Where it is run.
    pub cwd: PathBuf,
    /// The folder with the notes of those for whom it is started: it ends when none of them lives.
    pub owners: Option<PathBuf>,
    /// Where its state and its logs are: one folder for each user, project and name.
    pub folder: PathBuf,
    /// The program and its arguments; a single word with spaces in it is a line for the shell. `{port}` stands for the port.
    pub command: Vec<String>,
    /// The environment variable that tells the port.
    pub port_env: String,
    /// What its output says when it is ready, with the named groups `port` or `url` where that tells them; else it is ready when it
    /// answers HTTP.
    pub ready_pattern: Option<String>,
    /// The path that is asked for.
    pub ready_path: String,
    /// How long it may take to be ready.
    pub ready_timeout: Duration,
    /// How long it may take to end before it is killed.
    pub stop_timeout: Duration,
    /// Whether it is started again when it crashes.
    pub restart_on_crash: bool,
    /// Size of a log, in bytes, at which it is rotated.
    pub log_limit: u64,
}
