//! Private directories, and files that are locked.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

/// Creates a directory and those above it for the owner only.
pub(crate) fn make_private(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Opens a file for writing; creates it if it is missing.
pub(super) fn create_file(path: &Path) -> io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
}

/// Creates and locks a file; `None` if locks are not supported, `Err` if another process holds the lock.
pub(super) fn lock(path: &Path) -> Result<Option<File>, ()> {
    let Ok(file) = create_file(path) else {
        return Ok(None);
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(()),
        Err(TryLockError::Error(error)) => {
            tracing::debug!(%error, path = %path.display(), "a file cannot be locked");
            Ok(None)
        }
    }
}
