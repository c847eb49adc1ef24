//! The leases of those who use a server: files in one folder, each locked as long as its writer lives. The server of the MCP tools writes
//! them; the supervisor of an app, another process, reads from their locks whether one is left.

use std::fs::{self, File, TryLockError};
use std::path::Path;

/// The variable by which a command is told the folder.
pub const FOLDER: &str = "_PLAYHOUSE_OWNERS";
/// The extension of a note.
pub const EXTENSION: &str = "lease";
/// The file that is locked while a note is written or a server started or stopped.
pub const LOCK: &str = "lock";

#[cfg(unix)]
/// Whether one of them lives, or that cannot be told.
pub fn are_alive(folder: &Path) -> bool {
    let Ok(lock) = File::open(folder.join(LOCK)) else {
        return true;
    };
    // Somebody is starting or stopping the server.
    if lock.try_lock().is_err() {
        return true;
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return true;
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut notes = paths.filter(|path| path.extension().is_some_and(|end| end == EXTENSION));
    notes.any(|path| {
        File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    })
}
