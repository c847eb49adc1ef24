//! Private directories, and files that are locked.

use std::fs::{self, File, TryLockError};
use std::io;
use std::ops::Deref;
use std::path::Path;
use tempfile::TempPath;

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

/// A temporary file that is removed when this is dropped, or later by another process if this one is killed.
#[derive(Debug)]
pub struct TemporaryFile {
    path: TempPath,
    /// Locked while the file is in use. Other programs write to it nevertheless, except on Windows, where it is not locked.
    _lock: File,
}

impl TemporaryFile {
    /// The prefix of the names.
    pub(super) const PREFIX: &str = "playhouse-file-";

    /// Creates an empty file.
    pub(crate) fn create(suffix: &str) -> io::Result<Self> {
        loop {
            let file = tempfile::Builder::new()
                .prefix(Self::PREFIX)
                .suffix(suffix)
                .tempfile()?;
            let (lock, path) = file.into_parts();
            let is_taken = cfg!(unix) && matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
            // Until it was locked, another process could remove it.
            if !is_taken && path.exists() {
                return Ok(Self { path, _lock: lock });
            }
        }
    }

    /// Removes a file of a process that has ended.
    pub(super) fn remove_stale(path: &Path) {
        if cfg!(unix)
            && let Ok(file) = File::options().write(true).open(path)
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(path);
        }
    }
}

impl Deref for TemporaryFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for TemporaryFile {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_file_is_removed_once_its_process_has_ended() {
        let file = TemporaryFile::create(".webm").unwrap();
        let other = fs::write(&file, "written by another program");
        other.unwrap();
        TemporaryFile::remove_stale(&file);
        assert!(file.exists());
        let TemporaryFile { path, _lock: lock } = file;
        let path = path.keep().unwrap();
        drop(lock);
        TemporaryFile::remove_stale(&path);
        assert!(!path.exists());
    }
}
