//! The socket of a workspace, on which its background server listens: its path, its owner, and the first message of the server.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The method of the first message that a client receives: a notification with a [`ServerInfo`].
pub(crate) const GREETING: &str = "notifications/playhouse/server";

/// A folder for sockets that belongs to this user alone.
#[derive(Debug, Clone)]
pub(crate) struct RuntimeFolder(PathBuf);

/// The runtime folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderError {
    /// Another user may have created the folder, or may write to it.
    #[error(
        "The folder {} for sockets {problem}. Remove it, or set XDG_RUNTIME_DIR to a folder of your own.",
        path.display()
    )]
    Unsafe {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The folder cannot be created or read.
    #[error("The folder {} for sockets cannot be used: {error}. Set XDG_RUNTIME_DIR to a folder of your own.", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// The files of a workspace's background server in the runtime folder.
#[derive(Debug, Clone)]
pub(crate) struct WorkspaceSocket {
    folder: PathBuf,
    key: String,
}

/// What a background server reports about itself to each client, before the client has sent anything.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerInfo {
    /// The version of the program.
    pub(crate) version: String,
    /// The process.
    pub(crate) pid: u32,
    /// The folder of the workspace.
    #[serde(default)]
    pub(crate) workspace: PathBuf,
    /// When the server started, in milliseconds since 1970.
    #[serde(default)]
    pub(crate) started_at: u64,
    /// How long no command has used the server, in milliseconds.
    #[serde(default)]
    pub(crate) idle_ms: u64,
    /// The number of sessions, the default one included if it has a page.
    #[serde(default)]
    pub(crate) sessions: usize,
    /// Whether calls can name a session.
    #[serde(default)]
    pub(crate) has_sessions: bool,
    /// The options of the command line.
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    /// Whether the server does not respond, so that only its process is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unresponsive: bool,
    /// Digests of the environment variables that set options, by name.
    #[serde(default)]
    pub(crate) variables: BTreeMap<String, String>,
}

impl RuntimeFolder {
    /// Creates or opens the first of these folders whose parent exists. Fails if it does not belong to this user alone.
    pub(crate) fn open(candidates: &[PathBuf]) -> Result<Self, FolderError> {
        let usable = |path: &&PathBuf| path.parent().is_some_and(Path::is_dir);
        let path = candidates.iter().find(usable).or(candidates.last());
        let path = path.cloned().unwrap_or_default();
        let failed = |error| FolderError::Io {
            path: path.clone(),
            error,
        };
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            _ => {}
        }
        // Another user can create the folder, or a link of its name, in a temporary folder that all users share.
        let found = fs::symlink_metadata(&path).map_err(failed)?;
        let owner = rustix::process::geteuid().as_raw();
        let problem = match () {
            () if !found.is_dir() => Some("is not a folder"),
            () if found.uid() != owner => Some("belongs to another user"),
            () if found.mode() & 0o077 != 0 => Some("is open to other users"),
            () => None,
        };
        match problem {
            Some(problem) => Err(FolderError::Unsafe { path, problem }),
            None => Ok(Self(path)),
        }
    }

    /// Returns the socket of a workspace, whose path is absolute and canonical.
    pub(crate) fn socket_of(&self, workspace: &Path) -> WorkspaceSocket {
        let digest = Sha256::digest(workspace.as_os_str().as_bytes());
        let digest = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
        WorkspaceSocket {
            folder: self.0.clone(),
            key: digest.collect(),
        }
    }

    /// Returns the sockets of all workspaces, also those without a server.
    pub(crate) fn sockets(&self) -> Vec<WorkspaceSocket> {
        let files = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let paths = files.map(|file| file.path());
        let mut keys: Vec<_> = paths
            .filter(|path| path.extension() == Some(OsStr::new("sock")))
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .collect();
        keys.sort();
        let socket = |key| WorkspaceSocket {
            folder: self.0.clone(),
            key,
        };
        keys.into_iter().map(socket).collect()
    }
}

impl WorkspaceSocket {
    /// Returns the path of the socket.
    pub(crate) fn path(&self) -> PathBuf {
        self.file("sock")
    }

    /// Returns the path of the server's log.
    pub(crate) fn log(&self) -> PathBuf {
        self.file("log")
    }

    /// Opens the log for appending, readable by this user only.
    pub(crate) fn open_log(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        options.open(self.log())
    }

    /// Takes the lock that a server holds while its process exists; `None` if another process holds it.
    pub(crate) fn lock(&self) -> io::Result<Option<File>> {
        use rustix::fs::{FlockOperation, flock};
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(self.file("lock"))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn problem(path: &Path) -> String {
        match RuntimeFolder::open(&[path.to_owned()]) {
            Ok(_) => panic!("{} was accepted", path.display()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_folder_that_another_user_may_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("playhouse");
        RuntimeFolder::open(std::slice::from_ref(&path)).unwrap();
        let mode = fs::metadata(&path).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o770)).unwrap();
        assert!(problem(&path).contains("is open to other users"));
        let link = folder.path().join("link");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        symlink(&path, &link).unwrap();
        assert!(problem(&link).contains("is not a folder"));
    }

    #[test]
    fn the_folder_of_the_login_session_is_preferred_if_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing/playhouse");
        let there = folder.path().join("playhouse");
        let opened = RuntimeFolder::open(&[missing, there.clone()]).unwrap();
        assert_eq!(opened.0, there);
    }

    #[test]
    fn each_workspace_has_a_socket_and_one_process_at_a_time_its_lock() {
        let folder = tempfile::tempdir().unwrap();
        let folder = RuntimeFolder::open(&[folder.path().join("playhouse")]).unwrap();
        let (one, two) = (
            folder.socket_of(Path::new("/a")),
            folder.socket_of(Path::new("/b")),
        );
        assert_ne!(one.path(), two.path());
        let held = one.lock().unwrap();
        assert!(held.is_some() && one.lock().unwrap().is_none());
        assert!(two.lock().unwrap().is_some());
        drop(held);
        assert!(one.lock().unwrap().is_some());
    }
}
