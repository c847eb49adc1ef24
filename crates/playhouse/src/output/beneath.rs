//! What lies below a folder, and opening it: a link that somebody puts in its way after it was checked leads nowhere.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    /// From its beginning; it is made where it is not there.
    Write,
}

impl Use {
    fn options(self) -> OpenOptions {
        let mut options = OpenOptions::new();
        match self {
            Self::Read => options.read(true),
            Self::Write => options.write(true).create(true).truncate(true),
        };
        options
    }
}

/// Opens whatever the path leads to.
pub(super) fn open(path: &Path, wanted: Use) -> io::Result<File> {
    wanted.options().open(path)
}

/// Opens what lies at this path below the folder. Both have their links followed already: no other is followed any more.
/// <https://man7.org/linux/man-pages/man2/openat2.2.html>
#[cfg(target_os = "linux")]
pub(super) fn open_beneath(folder: &Path, path: &Path, wanted: Use) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
    use rustix::io::Errno;
    let below = path.strip_prefix(folder).map_err(io::Error::other)?;
    let flags = match wanted {
        Use::Read => OFlags::RDONLY,
        Use::Write => OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC,
    };
    let mode = match wanted {
        Use::Read => Mode::empty(),
        Use::Write => Mode::from_raw_mode(0o666),
    };
    let folder_flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(CWD, folder, folder_flags, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(&folder, below, flags | OFlags::CLOEXEC, mode, resolve) {
        Ok(file) => Ok(file.into()),
        // A kernel before 5.6, or a sandbox that does not know it.
        Err(Errno::NOSYS | Errno::PERM) => open(path, wanted),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open_beneath(_: &Path, path: &Path, wanted: Use) -> io::Result<File> {
    open(path, wanted)
}

/// Whether the path is below the folder, all links followed.
pub(super) fn lies_in(path: &Path, folder: &Path) -> bool {
    match (real(path), real(folder)) {
        (Some(path), Some(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// The path with its links followed, also those to what does not exist yet; `None` where they go in circles.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    let mut real = PathBuf::new();
    let mut links_left = MOST_LINKS;
    follow(&mut real, path, &mut links_left).then_some(real)
}

/// As many as Linux follows.
const MOST_LINKS: usize = 40;

/// Goes on from a real folder; `false` if that takes more links than are left.
fn follow(real: &mut PathBuf, path: &Path, links_left: &mut usize) -> bool {
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => {
                let next = real.join(name);
                let Ok(target) = next.read_link() else {
                    *real = next;
                    continue;
                };
                if *links_left == 0 {
                    return false;
                }
                *links_left -= 1;
                if !follow(real, &target, links_left) {
                    return false;
                }
            }
            root => real.push(root),
        }
    }
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_that_came_after_the_check_leads_nowhere() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (folder, outside) = (folder.path(), outside.path());
        std::fs::write(outside.join("secret"), "1").unwrap();
        symlink(outside, folder.join("sub")).unwrap();
        symlink(outside.join("secret"), folder.join("file")).unwrap();
        for below in ["sub/secret", "sub/new", "file"] {
            for wanted in [Use::Read, Use::Write] {
                let opened = open_beneath(folder, &folder.join(below), wanted);
                assert!(opened.is_err(), "{below}");
            }
        }
        assert_eq!(std::fs::read(outside.join("secret")).unwrap(), b"1");
        assert!(!outside.join("new").exists());
        assert!(open_beneath(folder, &folder.join("own"), Use::Write).is_ok());
        assert!(open_beneath(folder, &folder.join("own"), Use::Read).is_ok());
    }
}
