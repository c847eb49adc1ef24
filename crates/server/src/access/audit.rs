//! The audit log (`--audit-log`): one line of JSON for each call, in a hash chain. The format and its guarantees are described in docs/security.md.

mod arguments;
mod chain;
mod entry;
#[cfg(test)]
mod tests;
mod verify;

pub(crate) use arguments::shown;
pub(crate) use entry::{Decision, Entry, Outcome};
pub(crate) use verify::{Intact, Verdict, verify};

use crate::timestamp::timestamp;
use chain::{Link, check, hex};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use verify::MAX_LINE;

/// The beginning of a record: a file with another beginning is not an audit log.
const BEGINNING: &[u8] = b"{\"seq\":";

/// An open audit log, which this process has locked.
#[derive(Debug)]
pub(crate) struct AuditLog {
    state: Mutex<State>,
    /// Whether the last record could not be written.
    has_failed: AtomicBool,
}

#[derive(Debug)]
struct State {
    file: File,
    /// The size of the complete lines, in bytes.
    length: u64,
    link: Link,
    /// Records of completed calls that could not be written, oldest first.
    unwritten: Vec<Map<String, Value>>,
}

/// Why the audit log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    /// The file cannot be opened.
    #[error("cannot open the audit log {}: {error}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Another server has locked it.
    #[error(
        "the audit log {} is in use by another server: give each server a file of its own (--audit-log)",
        _0.display()
    )]
    InUse(PathBuf),
    /// Its last line is not a record.
    #[error(
        "the audit log {} cannot be continued: the last line is not an intact record. See `playhouse audit verify {}`, and begin a new file",
        _0.display(),
        _0.display()
    )]
    Flawed(PathBuf),
}

/// A record could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct WriteError(String);

impl AuditLog {
    /// Opens a log for appending, or creates one. The rest of an unfinished record is recorded and reported.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let unusable = |error| OpenError::Unusable {
            path: path.to_owned(),
            error,
        };
        let mut file = open(path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        restrict(&file).map_err(unusable)?;
        let end = end(&mut file).map_err(unusable)?;
        let End { link, length, torn } = end.ok_or_else(|| OpenError::Flawed(path.to_owned()))?;
        let mut state = State {
            file,
            length,
            link,
            unwritten: Vec::new(),
        };
        if !torn.is_empty() {
            tracing::warn!(
                file = %path.display(),
                bytes = torn.len(),
                "the last record of the audit log is unfinished: a server was killed while it wrote it",
            );
            state.add_after(&torn).map_err(unusable)?;
        }
        Ok(Self {
            state: Mutex::new(state),
            has_failed: AtomicBool::new(false),
        })
    }

    /// Writes records that could not be written before. If that fails, calls that must be recorded are rejected.
    pub(crate) async fn ready(self: &Arc<Self>) -> Result<(), WriteError> {
        if !self.has_failed.load(Ordering::Acquire) {
            return Ok(());
        }
        let log = self.clone();
        let caught_up = tokio::task::spawn_blocking(move || log.catch_up()).await;
        caught_up.unwrap_or_else(|panic| Err(WriteError(panic.to_string())))
    }

    fn catch_up(&self) -> Result<(), WriteError> {
        let mut state = self.state();
        let caught_up = state.catch_up();
        self.note(caught_up)
    }

    /// Appends the record of a call. If that fails, the record is kept, and written before the next one.
    pub(crate) fn append(&self, record: Map<String, Value>) -> Result<(), WriteError> {
        let mut state = self.state();
        state.unwritten.push(record);
        let caught_up = state.catch_up();
        self.note(caught_up)
    }

    fn note(&self, written: io::Result<()>) -> Result<(), WriteError> {
        self.has_failed.store(written.is_err(), Ordering::Release);
        written.map_err(|error| WriteError(error.to_string()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn catch_up(&mut self) -> io::Result<()> {
        while let Some(record) = self.unwritten.first() {
            let (mut line, next) = self.link.seal(record);
            line.push('\n');
            self.write(line.as_bytes())?;
            self.link = next;
            self.unwritten.remove(0);
        }
        Ok(())
    }

    /// Adds a record about the rest of an unfinished record.
    fn add_after(&mut self, torn: &[u8]) -> io::Result<()> {
        let members = json!({
            "time": timestamp(SystemTime::now()),
            "event": "unfinished-record",
            "torn": { "bytes": torn.len(), "sha256": hex(&Sha256::digest(torn)) },
        });
        let members = members.as_object().cloned().unwrap_or_default();
        let (line, next) = self.link.seal(&members);
        self.write(format!("\n{line}\n").as_bytes())?;
        self.link = next;
        Ok(())
    }

    /// Appends lines completely, or not at all.
    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        match self.file.write_all(lines) {
            Ok(()) => {
                self.length += u64::try_from(lines.len()).unwrap_or_default();
                Ok(())
            }
            Err(error) => {
                // The disk may have had room for a part of it.
                self.file.set_len(self.length)?;
                Err(error)
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Restricts access to the owner.
#[cfg(unix)]
fn restrict(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut permissions = file.metadata()?.permissions();
    if permissions.mode() & 0o777 != 0o600 {
        permissions.set_mode(0o600);
        file.set_permissions(permissions)?;
    }
    Ok(())
}

/// The file has the permissions of its folder.
#[cfg(not(unix))]
fn restrict(_: &File) -> io::Result<()> {
    Ok(())
}

/// The end of a log.
struct End {
    link: Link,
    /// The size including an unfinished record.
    length: u64,
    /// The rest of an unfinished record.
    torn: Vec<u8>,
}

/// Finds the last record of a file; `None`: the data after it is not the beginning of a record.
fn end(file: &mut File) -> io::Result<Option<End>> {
    let length = file.metadata()?.len();
    let window = length.min(2 * u64::try_from(MAX_LINE).unwrap_or(u64::MAX));
    file.seek(SeekFrom::Start(length - window))?;
    let mut tail = Vec::new();
    io::Read::by_ref(file).take(window).read_to_end(&mut tail)?;
    let (mut link, mut after) = (Link::default(), 0);
    let mut ends: Vec<_> = (0..tail.len()).filter(|&at| tail[at] == b'\n').collect();
    let is_whole = window == length;
    while let Some(line_end) = ends.pop() {
        let begin = ends.last().map(|before| before + 1);
        // The first line of the window may be incomplete.
        let Some(begin) = begin.or(is_whole.then_some(0)) else {
            break;
        };
        if let Ok(sealed) = check(&tail[begin..line_end]) {
            (link, after) = (
                Link {
                    seq: sealed.seq,
                    hash: sealed.hash,
                },
                line_end + 1,
            );
            break;
        }
    }
    let torn = tail.split_off(after);
    let first = torn.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_beginning = first.starts_with(BEGINNING) || BEGINNING.starts_with(first);
    let has_record = link.seq > 0 || is_whole;
    let is_torn = has_record && is_beginning && torn.last() != Some(&b'\n');
    Ok((torn.is_empty() && has_record || is_torn).then_some(End { link, length, torn }))
}
