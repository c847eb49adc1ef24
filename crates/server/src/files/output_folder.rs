//! Selecting and creating the output folder, which only its owner can read.

use super::beneath::{self, PRIVATE_FOLDER};
use crate::access::protected::real;
use crate::config::FileSettings;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The name of the output folder in a workspace.
pub(super) const FOLDER: &str = ".playwright-mcp";

/// The prefix of output folders outside a workspace.
const PRIVATE: &str = "playhouse-output";

/// The output folder of a principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputFolder {
    /// The folder, which may not exist yet.
    pub(super) base: PathBuf,
    /// The folder that links in `base` must not lead out of; `base` itself, if it was configured.
    pub(super) home: PathBuf,
    /// Whether the folder was configured: it may contain files of others.
    pub(super) chosen: bool,
}

impl OutputFolder {
    /// Returns the configured folder, otherwise the default folder in the workspace, otherwise one of the user's.
    pub(super) fn of(files: &FileSettings, workspace: &Path) -> Self {
        let name = files.owner.as_ref().and_then(|owner| owner.name.as_deref());
        let of_owner = |folder: PathBuf| match name {
            Some(name) => folder.join(name),
            None => folder,
        };
        let (base, home) = match &files.output_dir {
            Some(chosen) => (of_owner(chosen.clone()), chosen.clone()),
            None if is_writable(workspace) => (workspace.join(FOLDER), workspace.to_owned()),
            None => {
                let private = private(files);
                (of_owner(private.clone()), private)
            }
        };
        Self {
            base,
            home,
            chosen: files.output_dir.is_some(),
        }
    }

    /// Returns whether a path below the folder resolves to a path below it: a workspace may contain a link in place of the folder.
    pub(super) fn holds(&self, path: &Path) -> bool {
        beneath::lies_in(path, &self.home)
    }

    /// Creates the folder if it is missing. A folder in a workspace is excluded from the workspace's repository.
    pub(super) fn make(&self) -> io::Result<()> {
        if self.base == self.home {
            return beneath::make_folders(&self.base, PRIVATE_FOLDER);
        }
        beneath::make_folders(&self.home, PRIVATE_FOLDER)?;
        let home = real(&self.home).unwrap_or_else(|| self.home.clone());
        let base = real(&self.base).filter(|base| base.starts_with(&home));
        let base = base.ok_or(io::ErrorKind::PermissionDenied)?;
        match beneath::make_folder_beneath(&home, &base, PRIVATE_FOLDER) {
            Ok(()) if !self.chosen => {
                let ignore = base.join(".gitignore");
                let (wanted, mode) = (beneath::Use::Create, beneath::FILE);
                let mut file = beneath::open_beneath(&home, &ignore, wanted, mode)?;
                io::Write::write_all(&mut file, b"*\n")
            }
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            Err(_) if !self.chosen => {
                // Earlier versions, and browsers, created it readable for others.
                #[cfg(unix)]
                let _ = restrict_to_owner(&base);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Returns the default folder of the principals' workspaces.
pub(super) fn workspaces(files: &FileSettings) -> PathBuf {
    let base = match is_writable(&files.cwd) {
        true => files.cwd.join(FOLDER),
        false => private(files),
    };
    base.join("workspaces")
}

/// Creates the workspace of a principal if it is missing.
pub(super) fn make_workspace(workspace: &Path, files: &FileSettings) -> io::Result<()> {
    if workspace.starts_with(files.cwd.join(FOLDER)) {
        let place = OutputFolder {
            base: files.cwd.join(FOLDER),
            home: files.cwd.clone(),
            chosen: false,
        };
        place.make()?;
    }
    beneath::make_folders(workspace, PRIVATE_FOLDER)
}

/// Returns whether files can be created in the folder, and it is not the root of the file system.
pub(super) fn is_writable(folder: &Path) -> bool {
    folder.parent().is_some() && folder.is_dir() && may_write(folder)
}

#[cfg(unix)]
fn may_write(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn may_write(folder: &Path) -> bool {
    folder
        .metadata()
        .is_ok_and(|facts| !facts.permissions().readonly())
}

#[cfg(unix)]
fn restrict_to_owner(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let is_closed = folder.metadata()?.permissions().mode() & 0o077 == 0;
    match is_closed {
        true => Ok(()),
        false => std::fs::set_permissions(folder, std::fs::Permissions::from_mode(PRIVATE_FOLDER)),
    }
}

/// Returns a private folder outside any workspace, which all sessions of the server share.
fn private(files: &FileSettings) -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    let find = || {
        let temporary = std::env::temp_dir();
        let found = private_in(files.runtime_dir.as_deref(), &temporary);
        found.unwrap_or_else(|error| {
            tracing::warn!(%error, "there is no folder for output");
            temporary.join(PRIVATE)
        })
    };
    FOUND.get_or_init(find).clone()
}

/// Returns a folder that only this user can write: in the runtime directory of the login, or among temporary files. Names there are
/// predictable, so a folder of another owner, one that others may read, or a link is rejected.
fn private_in(runtime: Option<&Path>, temporary: &Path) -> io::Result<PathBuf> {
    let runtime = runtime.filter(|runtime| is_private(runtime));
    let runtime = runtime.map(|runtime| runtime.join(PRIVATE));
    let known = temporary.join(format!("{PRIVATE}-{}", user()));
    for folder in runtime.into_iter().chain([known]) {
        let made = beneath::make_folder(&folder, PRIVATE_FOLDER);
        if made.is_ok() || is_private(&folder) {
            return Ok(folder);
        }
    }
    let prefix = format!("{PRIVATE}-");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(PRIVATE_FOLDER));
    }
    Ok(builder.tempdir_in(temporary)?.keep())
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}

/// Returns whether the path is a folder of this user without access for others, and not a link.
#[cfg(unix)]
fn is_private(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    folder
        .symlink_metadata()
        .is_ok_and(|facts| facts.is_dir() && facts.uid() == user() && facts.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_private(folder: &Path) -> bool {
    folder.symlink_metadata().is_ok_and(|facts| facts.is_dir())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    fn closed(path: &Path) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn a_private_folder_is_of_the_login_if_there_is_one() {
        let (login, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        closed(login.path());
        for _ in 0..2 {
            let found = private_in(Some(login.path()), temporary.path()).unwrap();
            assert_eq!(found, login.path().join(PRIVATE));
            assert_eq!(mode(&found), 0o700);
        }
        // A folder that is open to others is not suitable for secrets.
        fs::set_permissions(login.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let found = private_in(Some(login.path()), temporary.path()).unwrap();
        assert_eq!(found.parent(), Some(temporary.path()));
        assert_eq!(mode(&found), 0o700);
    }

    #[test]
    fn a_planted_folder_is_not_used() {
        let temporary = tempfile::tempdir().unwrap();
        let known = temporary.path().join(format!("{PRIVATE}-{}", user()));
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), &known).unwrap();
        let found = private_in(None, temporary.path()).unwrap();
        assert!(found != known && found.parent() == Some(temporary.path()));
        assert_eq!(mode(&found), 0o700);
        fs::remove_file(&known).unwrap();
        fs::create_dir(&known).unwrap();
        fs::set_permissions(&known, fs::Permissions::from_mode(0o755)).unwrap();
        assert_ne!(private_in(None, temporary.path()).unwrap(), known);
        closed(&known);
        assert_eq!(private_in(None, temporary.path()).unwrap(), known);
    }

    #[test]
    fn the_output_folder_is_private_and_ignored_by_git() {
        let workspace = tempfile::tempdir().unwrap();
        let place = OutputFolder {
            base: workspace.path().join(FOLDER),
            home: workspace.path().to_owned(),
            chosen: false,
        };
        place.make().unwrap();
        place.make().unwrap();
        assert_eq!(mode(&place.base), 0o700);
        let ignore = place.base.join(".gitignore");
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");
        // An existing file is not changed.
        fs::remove_file(&ignore).unwrap();
        place.make().unwrap();
        assert!(!ignore.exists());
    }
}
