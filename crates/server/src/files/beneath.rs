//! Opening files below a folder without following links, so that a link that is created after the check of the path has no effect.

use crate::access::protected::real;
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::path::Component;
use std::path::Path;

/// The purpose of opening a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    /// The file is created if it is missing. An existing file is not truncated.
    Write,
    /// The file must not exist.
    Create,
    /// Writes are appended; the file is created if it is missing.
    Append,
}

/// The mode of files that only their owner may read.
pub(super) const PRIVATE_FILE: u32 = 0o600;
/// The mode of folders that only their owner may read.
pub(super) const PRIVATE_FOLDER: u32 = 0o700;
/// The mode of other files, before the umask.
pub(super) const FILE: u32 = 0o666;
pub(super) const FOLDER: u32 = 0o777;

/// Opens the file that the path resolves to.
pub(super) fn open(path: &Path, wanted: Use, mode: u32) -> io::Result<File> {
    let mut options = File::options();
    match wanted {
        Use::Read => options.read(true),
        Use::Write => options.write(true).create(true).truncate(false),
        Use::Create => options.write(true).create_new(true),
        Use::Append => options.append(true).create(true),
    };
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    let _ = mode;
    options.open(path)
}

/// Creates a folder that must not exist; links in the path are followed.
pub(super) fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    make(path, mode, false)
}

/// Creates a folder and the missing folders above it; links in the path are followed.
pub(super) fn make_folders(path: &Path, mode: u32) -> io::Result<()> {
    make(path, mode, true)
}

fn make(path: &Path, mode: u32, recursive: bool) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(recursive);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
    let _ = mode;
    builder.create(path)
}

/// Opens the regular file at this path below the folder. Both must be resolved: no link is followed.
#[cfg(unix)]
pub(super) fn open_beneath(folder: &Path, path: &Path, wanted: Use, mode: u32) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, openat};
    let flags = match wanted {
        Use::Read => OFlags::RDONLY,
        Use::Write => OFlags::WRONLY | OFlags::CREATE,
        Use::Create => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
        Use::Append => OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND,
    };
    // Opening a pipe would block until the other end is open.
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let (above, name) = split(folder, path)?;
    let above = descend(folder, above, None)?;
    let file = openat(&above, name, flags, Mode::from_raw_mode(mode as _))?;
    let file = File::from(file);
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

#[cfg(not(unix))]
pub(super) fn open_beneath(_: &Path, path: &Path, wanted: Use, mode: u32) -> io::Result<File> {
    open(path, wanted, mode)
}

/// Creates a folder below another one, and the missing folders between them. Both must be resolved.
#[cfg(unix)]
pub(super) fn make_folders_beneath(folder: &Path, path: &Path, mode: u32) -> io::Result<()> {
    let below = path.strip_prefix(folder).map_err(io::Error::other)?;
    descend(folder, below, Some(mode)).map(drop)
}

#[cfg(not(unix))]
pub(super) fn make_folders_beneath(_: &Path, path: &Path, mode: u32) -> io::Result<()> {
    make_folders(path, mode)
}

/// Creates a folder that must not exist, in an existing folder.
#[cfg(unix)]
pub(super) fn make_folder_beneath(folder: &Path, path: &Path, mode: u32) -> io::Result<()> {
    let (above, name) = split(folder, path)?;
    let above = descend(folder, above, None)?;
    let mode = rustix::fs::Mode::from_raw_mode(mode as _);
    Ok(rustix::fs::mkdirat(&above, name, mode)?)
}

#[cfg(not(unix))]
pub(super) fn make_folder_beneath(_: &Path, path: &Path, _: u32) -> io::Result<()> {
    make_folder(path, 0)
}

/// Returns an open parent folder of a path below a folder, and the last name of the path.
#[cfg(unix)]
fn split<'a>(folder: &Path, path: &'a Path) -> io::Result<(&'a Path, &'a std::ffi::OsStr)> {
    let below = path.strip_prefix(folder).map_err(io::Error::other)?;
    let parts = below.parent().zip(below.file_name());
    parts.ok_or_else(|| io::ErrorKind::IsADirectory.into())
}

/// Opens a path below a folder, one name at a time, without following links. With `make`, missing folders are created with that mode.
#[cfg(unix)]
fn descend(folder: &Path, below: &Path, make: Option<u32>) -> io::Result<rustix::fd::OwnedFd> {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    // A folder that may be searched need not be readable.
    #[cfg(target_os = "linux")]
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = openat(CWD, folder, flags, Mode::empty())?;
    for component in below.components() {
        let Component::Normal(name) = component else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if let Some(mode) = make {
            match mkdirat(&at, name, Mode::from_raw_mode(mode as _)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        at = openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(at)
}

/// Returns whether the path is below the folder, with all links resolved.
pub(super) fn lies_in(path: &Path, folder: &Path) -> bool {
    match (real(path), real(folder)) {
        (Some(path), Some(folder)) => path.starts_with(folder),
        _ => false,
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn a_link_that_came_after_the_check_leads_nowhere() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (folder, outside) = (folder.path(), outside.path());
        std::fs::write(outside.join("secret"), "1").unwrap();
        symlink(outside, folder.join("sub")).unwrap();
        symlink(outside.join("secret"), folder.join("file")).unwrap();
        for below in ["sub/secret", "sub/new", "file"] {
            for wanted in [Use::Read, Use::Write, Use::Create, Use::Append] {
                let opened = open_beneath(folder, &folder.join(below), wanted, FILE);
                assert!(opened.is_err(), "{below}");
            }
        }
        assert!(make_folders_beneath(folder, &folder.join("sub/new"), FOLDER).is_err());
        assert!(make_folder_beneath(folder, &folder.join("sub/new"), FOLDER).is_err());
        assert_eq!(std::fs::read(outside.join("secret")).unwrap(), b"1");
        assert!(!outside.join("new").exists());
        let own = folder.join("own");
        assert!(open_beneath(folder, &own, Use::Create, PRIVATE_FILE).is_ok());
        assert!(open_beneath(folder, &own, Use::Create, PRIVATE_FILE).is_err());
        for wanted in [Use::Read, Use::Write, Use::Append] {
            assert!(open_beneath(folder, &own, wanted, FILE).is_ok());
        }
        let mode = own.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, PRIVATE_FILE);
    }

    #[test]
    fn folders_are_private_to_their_owner() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, deep) = (folder.path(), folder.path().join("a/b"));
        make_folders_beneath(folder, &deep, PRIVATE_FOLDER).unwrap();
        make_folders_beneath(folder, &deep, PRIVATE_FOLDER).unwrap();
        for made in [deep, folder.join("a")] {
            let mode = made.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, PRIVATE_FOLDER);
        }
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let pipe = folder.join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        for wanted in [Use::Read, Use::Write] {
            assert!(open_beneath(folder, &pipe, wanted, FILE).is_err());
        }
        let opened = open_beneath(folder, folder, Use::Read, FILE);
        assert_eq!(opened.unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }
}
