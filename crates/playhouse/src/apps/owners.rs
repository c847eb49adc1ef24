//! The notes of those for whom a server runs: files in one folder, each locked as long as its writer lives. `apps` writes them; the
//! supervisor of an app, another process, reads from their locks whether anybody is left.

use std::fs::{self, File, TryLockError};
use std::path::Path;

/// The variable by which a command is told the folder.
pub(crate) const FOLDER: &str = "_PLAYHOUSE_OWNERS";
/// The extension of a note.
pub(crate) const EXTENSION: &str = "lease";
/// The file that is locked while a note is written or a server started or stopped.
pub(crate) const LOCK: &str = "lock";

#[cfg(unix)]
/// Whether one of them lives, or that cannot be told.
pub(crate) fn are_alive(folder: &Path) -> bool {
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
