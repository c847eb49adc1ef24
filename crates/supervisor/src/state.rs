//! The folder of an app: the state that its supervisor writes, the lock for changes, and the logs.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::DateTime;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::processes::Identity;

/// The state of an app, which only its supervisor writes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    /// The project.
    #[serde(default)]
    pub(crate) cwd: PathBuf,
    pub(crate) command: Vec<String>,
    pub(crate) supervisor: Identity,
    /// The first process, which leads the process group.
    pub(crate) app: Option<Identity>,
    /// The start time, in milliseconds since 1970.
    pub(crate) started: i64,
    pub(crate) port: Option<u16>,
    pub(crate) url: Option<String>,
    pub(crate) ready_path: String,
    /// A remark about a successful start.
    pub(crate) remark: Option<String>,
    /// The end time, in milliseconds since 1970.
    pub(crate) ended: Option<i64>,
    /// The exit status of an app that was not stopped.
    pub(crate) exit: Option<Exit>,
    /// The last lines of its output then.
    pub(crate) lines: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    Starting,
    Ready,
    Ended,
}

/// The exit status of a process: a code or a signal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "ended with code {code}"),
            (None, Some(signal)) => write!(f, "was ended by signal {signal}"),
            (None, None) => write!(f, "ended"),
        }
    }
}

/// The address of an app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AppAddress {
    pub(crate) url: String,
    pub(crate) port: u16,
}

impl State {
    pub(crate) fn address(&self) -> Option<AppAddress> {
        Some(AppAddress {
            url: self.url.clone()?,
            port: self.port?,
        })
    }

    /// Returns the end of a sentence about an app that does not run any more.
    pub(crate) fn how_it_ended(&self) -> String {
        let at = |ended| format!(" at {}", timestamp(ended));
        let at = self.ended.map(at).unwrap_or_default();
        match (&self.exit, self.phase) {
            (Some(exit), _) if self.lines.is_empty() => format!(": it {exit}{at}"),
            (Some(exit), _) => format!(": it {exit}{at}. Its last output:\n{}", self.lines),
            (None, Phase::Ended) => String::new(),
            (None, _) => ": its supervisor has terminated, so it was stopped".to_owned(),
        }
    }
}

/// The absolute paths of the logs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LogPaths {
    pub(crate) stdout: PathBuf,
    pub(crate) stderr: PathBuf,
    pub(crate) combined: PathBuf,
}

pub(crate) struct Folder(PathBuf);

/// The exclusive right to start or stop the app, which is released when the process ends in any way.
pub(crate) struct Lock(#[expect(dead_code, reason = "it is held, not used")] File);

impl Folder {
    /// Creates the folder if it is missing, readable only by its owner because of the logs.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Ok(Self(fs::canonicalize(path)?))
    }

    /// Returns a folder that may not exist.
    pub(crate) fn of(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Returns the canonical path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn logs(&self) -> LogPaths {
        LogPaths {
            stdout: self.0.join("stdout.log"),
            stderr: self.0.join("stderr.log"),
            combined: self.0.join("combined.log"),
        }
    }

    /// Reads the state; `None` if the file is missing or invalid.
    pub(crate) fn read(&self) -> Option<State> {
        let text = fs::read(self.0.join("state.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Writes the state atomically; on a full disk, overwrites the existing file, which has its space.
    pub(crate) fn write(&self, state: &State) -> io::Result<()> {
        let (path, new) = (self.0.join("state.json"), self.0.join("state.json.new"));
        let text = serde_json::to_vec_pretty(state)?;
        let written = private()
            .create(true)
            .truncate(true)
            .open(&new)
            .and_then(|mut file| file.write_all(&text))
            .and_then(|()| fs::rename(&new, &path));
        written.or_else(|_| {
            let _ = fs::remove_file(&new);
            let mut file = private().open(&path)?;
            file.write_all(&text)?;
            file.set_len(u64::try_from(text.len()).unwrap_or_default())
        })
    }

    /// Locks the folder; `None` while another process has the lock.
    pub(crate) fn lock(&self) -> io::Result<Option<Lock>> {
        let path = self.0.join("lock");
        let file = private().create(true).open(&path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock(file))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the file for the error of a failed supervisor.
    pub(crate) fn open_error_file(&self) -> io::Result<File> {
        let path = self.0.join("supervisor.log");
        private().create(true).truncate(true).open(&path)
    }
}

fn private() -> OpenOptions {
    let mut options = File::options();
    options.write(true).mode(0o600);
    options
}

/// Returns the current time, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// Formats a time: `2025-11-02T10:30:00Z`.
pub(crate) fn timestamp(milliseconds: i64) -> String {
    DateTime::from_timestamp_millis(milliseconds)
        .map(|time| time.format("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_default()
}
