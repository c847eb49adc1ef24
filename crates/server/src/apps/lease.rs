//! Leases: locked files that say that a Playhouse uses a server. An unlocked lease is stale: its process was killed, and the next Playhouse
//! stops the server.

use crate::config::DevServerSettings;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use supervisor::owners::{EXTENSION, LOCK};
use supervisor::processes::Identity;
use tokio::time::Instant;
use uuid::Uuid;

/// The interval between attempts to lock a file that another process has locked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The content of a lease: how to stop the server, and its process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LeaseRecord {
    name: String,
    command: Vec<String>,
    cwd: PathBuf,
    env: Vec<(String, String)>,
    shutdown_ms: u64,
    /// The server's own process, if known.
    pub(super) process: Option<Identity>,
}

impl LeaseRecord {
    fn of(settings: &DevServerSettings) -> Self {
        Self {
            name: settings.name.clone(),
            command: settings.command.clone(),
            cwd: settings.cwd.clone(),
            env: settings.env.clone(),
            shutdown_ms: u64::try_from(settings.shutdown.as_millis()).unwrap_or(u64::MAX),
            process: None,
        }
    }

    /// Returns the settings that are required to stop the server.
    pub(super) fn settings(&self) -> DevServerSettings {
        let limit = Duration::from_millis(self.shutdown_ms);
        DevServerSettings {
            name: self.name.clone(),
            command: self.command.clone(),
            url: None,
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            requires: Vec::new(),
            start: limit,
            restart: limit,
            status: limit,
            shutdown: limit,
            idle: None,
        }
    }
}

/// The folder of one server's leases: the same for all processes that start it by the same command in the same folder and environment.
#[derive(Debug, Clone)]
pub(super) struct LeaseFolder(PathBuf);

/// Excludes other processes from starting or stopping the server until it is dropped.
pub(super) struct ExclusiveLock {
    /// `None`: the lock could not be created, so others are not excluded.
    lock: Option<File>,
}

impl ExclusiveLock {
    /// Returns whether others are excluded.
    pub(super) fn is_certain(&self) -> bool {
        self.lock.is_some()
    }
}

/// A lease whose process has ended. The file is kept until the lease is handled, so that another process finds it if this one is killed.
pub(super) struct StaleLease {
    path: PathBuf,
    _file: File,
    /// `None` if the file cannot be read.
    pub(super) note: Option<LeaseRecord>,
}

impl StaleLease {
    /// Removes the file after the lease was taken over or its server stopped.
    pub(super) fn remove_file(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A lease of this process.
pub(super) struct Lease {
    path: PathBuf,
    /// Locked while open.
    file: Option<File>,
    note: LeaseRecord,
}

impl LeaseFolder {
    pub(super) fn of(settings: &DevServerSettings, leases: &Path) -> Self {
        let mut hash = Sha256::new();
        let cwd = settings.cwd.display().to_string();
        // The same command may start two servers that differ in the environment only.
        let env = settings.env.iter().flat_map(|(name, value)| [name, value]);
        for part in [&cwd].into_iter().chain(&settings.command).chain(env) {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let name: String = hash
            .finalize()
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Self(leases.join(name))
    }

    /// Returns the registers of all servers.
    pub(super) fn all(leases: &Path) -> Vec<Self> {
        let entries = fs::read_dir(leases).into_iter().flatten().flatten();
        entries
            .map(|entry| Self(entry.path()))
            .filter(|register| register.0.is_dir())
            .collect()
    }

    /// Waits up to the limit until no other process starts or stops the server. Returns at once if the folder is not writable.
    pub(super) async fn lock_exclusive(&self, limit: Duration) -> ExclusiveLock {
        let lock = match self.make().and_then(|()| open(&self.0.join(LOCK))) {
            Ok(lock) => lock,
            Err(error) => {
                tracing::warn!(%error, folder = %self.0.display(), "what runs cannot be noted; a server that is killed leaves it running");
                return ExclusiveLock { lock: None };
            }
        };
        let end = Instant::now() + limit;
        while let Err(TryLockError::WouldBlock) = lock.try_lock() {
            if Instant::now() >= end {
                tracing::warn!(
                    "another process has been starting or stopping the server for too long"
                );
                return ExclusiveLock { lock: None };
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        ExclusiveLock { lock: Some(lock) }
    }

    /// Creates a lease of this process for the running server.
    pub(super) fn take(&self, settings: &DevServerSettings, _: &ExclusiveLock) -> Lease {
        let path = self.0.join(format!("{}.{EXTENSION}", Uuid::new_v4()));
        let file = open(&path).ok().filter(|file| file.try_lock().is_ok());
        let mut lease = Lease {
            path,
            file,
            note: LeaseRecord::of(settings),
        };
        lease.write();
        lease
    }

    /// Returns whether another running process has a lease for the server, excluding `ours`, and the stale leases.
    pub(super) fn other_users(
        &self,
        alone: &ExclusiveLock,
        ours: Option<&Lease>,
    ) -> (bool, Vec<StaleLease>) {
        let (mut is_used, mut left) = (false, Vec::new());
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let paths = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == EXTENSION))
            .filter(|path| ours.is_none_or(|ours| ours.path != *path));
        for path in paths {
            let Ok(file) = File::open(&path) else {
                continue;
            };
            match file.try_lock() {
                Ok(()) if alone.is_certain() => {
                    let note = fs::read(&path).ok();
                    let note = note.and_then(|note| serde_json::from_slice(&note).ok());
                    left.push(StaleLease {
                        path,
                        _file: file,
                        note,
                    });
                }
                // A process may be about to lock it.
                Ok(()) | Err(TryLockError::WouldBlock) => is_used = true,
                Err(TryLockError::Error(_)) => {}
            }
        }
        (is_used, left)
    }

    /// The folder is private, because the command may have secrets in its environment.
    fn make(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.0)
    }
}

impl Lease {
    /// Returns the folder whose locks show others that this process runs; `None` if a lease cannot be locked.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.file.as_ref()?;
        self.path.parent()
    }

    /// Records that another command than the configured one runs the server.
    pub(super) fn set_command(&mut self, settings: &DevServerSettings) {
        if self.note.command != settings.command {
            self.note.command.clone_from(&settings.command);
            self.write();
        }
    }

    /// Records the server's process.
    pub(super) fn set_process(&mut self, process: Option<Identity>) {
        if self.note.process != process {
            self.note.process = process;
            self.write();
        }
    }

    pub(super) fn process(&self) -> Option<&Identity> {
        self.note.process.as_ref()
    }

    /// Releases the lease.
    pub(super) fn release(self, _: &ExclusiveLock) {
        let _ = fs::remove_file(&self.path);
    }

    fn write(&mut self) {
        let Some(file) = &mut self.file else { return };
        let written = serde_json::to_vec(&self.note)
            .map_err(io::Error::other)
            .and_then(|note| {
                use std::io::Seek as _;
                file.rewind()?;
                file.write_all(&note)?;
                file.set_len(note.len() as u64)
            });
        if let Err(error) = written {
            tracing::warn!(%error, "it cannot be noted that a server runs");
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> DevServerSettings {
        DevServerSettings {
            name: "web".into(),
            command: vec!["web.sh".into()],
            url: None,
            cwd: "/app".into(),
            env: Vec::new(),
            requires: Vec::new(),
            start: Duration::from_secs(1),
            restart: Duration::from_secs(1),
            status: Duration::from_secs(1),
            shutdown: Duration::from_secs(1),
            idle: None,
        }
    }

    fn notes(
        register: &LeaseFolder,
        alone: &ExclusiveLock,
        ours: Option<&Lease>,
    ) -> (bool, Vec<LeaseRecord>) {
        let (is_used, left) = register.other_users(alone, ours);
        (
            is_used,
            left.into_iter().filter_map(|left| left.note).collect(),
        )
    }

    #[tokio::test]
    async fn stale_leases_are_distinguished_from_live_ones() {
        let folder = tempfile::tempdir().unwrap();
        let register = LeaseFolder::of(&settings(), folder.path());
        let alone = register.lock_exclusive(Duration::ZERO).await;
        let lease = register.take(&settings(), &alone);
        assert_eq!(notes(&register, &alone, None), (true, vec![]));
        assert_eq!(notes(&register, &alone, Some(&lease)), (false, vec![]));
        // The kernel does the same when a process is killed.
        let (path, note) = (lease.path.clone(), lease.note.clone());
        drop(lease);
        // Without the exclusive lock, it cannot be distinguished from a lease that is about to be locked.
        assert_eq!(
            notes(&register, &ExclusiveLock { lock: None }, None),
            (true, vec![])
        );
        // The process that finds it may be killed before it handles the lease.
        for _ in 0..2 {
            assert_eq!(notes(&register, &alone, None), (false, vec![note.clone()]));
        }
        let (_, left) = register.other_users(&alone, None);
        left.into_iter().for_each(StaleLease::remove_file);
        assert!(!path.exists());
        assert_eq!(notes(&register, &alone, None), (false, vec![]));
    }

    #[test]
    fn a_command_with_another_environment_is_another_server() {
        let of = |env: &[(&str, &str)]| {
            let env = env
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()));
            let settings = DevServerSettings {
                env: env.collect(),
                ..settings()
            };
            LeaseFolder::of(&settings, Path::new("/")).0
        };
        assert_eq!(of(&[("APP", "api")]), of(&[("APP", "api")]));
        assert_ne!(of(&[("APP", "api")]), of(&[("APP", "web")]));
        assert_ne!(of(&[("APP", "api")]), of(&[]));
    }

    #[tokio::test(start_paused = true)]
    async fn the_lease_lock_is_exclusive() {
        let folder = tempfile::tempdir().unwrap();
        let register = LeaseFolder::of(&settings(), folder.path());
        let first = register.lock_exclusive(Duration::ZERO).await;
        let second = register.lock_exclusive(Duration::from_secs(60));
        tokio::pin!(second);
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(first);
        drop(second.await);
    }
}
