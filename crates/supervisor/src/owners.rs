//! The leases of the processes that use a server: files in one folder, each locked while its process runs. The MCP server writes them; the
//! supervisor of an app, another process, checks their locks.

#[cfg(unix)]
use std::{
    fs::{self, File, TryLockError},
    path::Path,
};

/// The environment variable with the folder.
pub const FOLDER: &str = "_PLAYHOUSE_OWNERS";
/// The extension of a lease.
pub const EXTENSION: &str = "lease";
/// The file that is locked while a lease is written, or the server is started or stopped.
pub const LOCK: &str = "lock";

/// Returns whether at least one process runs, or that is unknown.
#[cfg(unix)]
pub fn are_alive(folder: &Path) -> bool {
    let Ok(lock) = File::open(folder.join(LOCK)) else {
        return true;
    };
    // Another process is starting or stopping the server.
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
