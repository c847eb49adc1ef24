//! The profile directory of a browser: its owner, and its removal.
//!
//! Two files in it are locked while it is in use. The browser inherits the first lock, which therefore ends when both this process and the
//! browser have ended. The second lock is the owner's: it ends when the owner starts to close the browser, or has ended. A profile without
//! an owner will soon be free; one with an owner will not. Processes are never identified by their number, which may be reused.

mod files;
mod startup_cache;

pub(super) use startup_cache::StartupCache;

pub use files::TemporaryFile;
use files::lock;
pub(super) use files::make_private;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The prefix of the names of temporary profiles.
const TEMPORARY: &str = "playhouse-profile-";
/// The prefix of its name after its release: any process may remove it.
const GONE: &str = "playhouse-gone-";
/// Locked by the browser and by this process.
const IN_USE: &str = "playhouse-in-use.lock";
/// Locked by this process until it closes the browser.
const OWNER: &str = "playhouse-owner.lock";
/// The link with which Chromium excludes a second instance.
const SINGLETON_LOCK: &str = "SingletonLock";
const SINGLETON_SOCKET: &str = "SingletonSocket";
const SINGLETON_COOKIE: &str = "SingletonCookie";

/// The number and interval of further attempts to remove a directory into which a process still writes.
const MAX_REMOVAL_ATTEMPTS: u32 = 20;
const REMOVAL_INTERVAL: Duration = Duration::from_millis(25);

/// A claimed profile.
#[derive(Debug)]
pub(crate) struct Profile {
    dir: PathBuf,
    temporary: bool,
    startup_cache: Option<StartupCache>,
    /// `None` if the file system does not support locks.
    locks: Mutex<Locks>,
}

/// The files that are locked while they are open.
#[derive(Debug, Default)]
struct Locks {
    #[cfg_attr(windows, expect(dead_code, reason = "it is held, not used"))]
    in_use: Option<Arc<File>>,
    owner: Option<File>,
}

/// Why a profile cannot be claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimError {
    /// Another process uses it.
    InUse,
    /// Its browser is closing.
    Ending,
}

impl Profile {
    /// Claims a directory; creates it if it is missing.
    pub(super) fn claim(dir: &Path) -> Result<Self, ClaimError> {
        // The browser reports a directory that is not writable.
        let _ = make_private(dir);
        let owner = lock(&dir.join(OWNER)).map_err(|()| ClaimError::InUse)?;
        let in_use = lock(&dir.join(IN_USE)).map_err(|()| ClaimError::Ending)?;
        remove_singleton(dir);
        Ok(Self {
            dir: dir.to_owned(),
            temporary: false,
            startup_cache: None,
            locks: Mutex::new(Locks {
                in_use: in_use.map(Arc::new),
                owner,
            }),
        })
    }

    /// Creates a temporary profile, which is removed with the browser.
    pub(super) fn temporary() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY);
        // Other users of the machine must not read cookies, storage and downloads under way.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let dir = builder.tempdir()?;
        // The cleanup of other processes must not find it unlocked.
        let early = dir.path().join(format!("{IN_USE}.new"));
        let in_use = lock(&early).ok().flatten();
        if in_use.is_some() {
            fs::rename(&early, dir.path().join(IN_USE))?;
        }
        Ok(Self {
            dir: dir.keep(),
            temporary: true,
            startup_cache: None,
            locks: Mutex::new(Locks {
                in_use: in_use.map(Arc::new),
                owner: None,
            }),
        })
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn is_temporary(&self) -> bool {
        self.temporary
    }

    /// Sets where the startup cache of Firefox is kept for other profiles.
    pub(super) fn set_startup_cache(&mut self, cache: Option<StartupCache>) {
        self.startup_cache = cache;
    }

    /// Restores what is kept for new profiles. Called before the browser starts.
    pub(super) fn restore(&self) {
        if let Some(cache) = &self.startup_cache {
            cache.restore(&self.dir);
        }
    }

    /// Returns whether the browser must exit by itself, so that what is kept of the profile is complete.
    pub(super) fn must_be_saved(&self) -> bool {
        let cache = self.startup_cache.as_ref();
        !self.temporary || cache.is_some_and(|cache| cache.must_be_saved(&self.dir))
    }

    /// Saves what is kept for new profiles, after the browser has exited by itself.
    pub(super) fn save(&self) {
        if let Some(cache) = &self.startup_cache {
            cache.save(&self.dir);
        }
    }

    /// Returns the file whose lock the browser inherits, except on Windows, where it ends with this process.
    #[cfg(unix)]
    pub(super) fn lock(&self) -> Option<Arc<File>> {
        self.locks().in_use.clone()
    }

    /// Releases the owner's lock before the browser is closed, so that waiting processes continue to wait.
    pub(super) fn leave(&self) {
        self.locks().owner = None;
    }

    /// Cleans up after a browser has ended in any way, and releases the profile. Takes a moment while its helpers still write.
    pub(super) fn clear(&self) {
        remove_singleton(&self.dir);
        if cfg!(windows) {
            // A directory with open files cannot be renamed.
            *self.locks() = Locks::default();
        }
        if self.temporary {
            remove(&self.dir);
        }
        *self.locks() = Locks::default();
    }

    fn locks(&self) -> MutexGuard<'_, Locks> {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the temporary profiles whose owners and browsers have ended, and the temporary files of processes that have ended.
pub fn remove_stale_profiles() {
    for entry in fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten()
        .flatten()
    {
        let dir = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(GONE) {
            remove(&dir);
            continue;
        }
        if name.starts_with(TemporaryFile::PREFIX) {
            TemporaryFile::remove_stale(&dir);
            continue;
        }
        let ours = name.starts_with(TEMPORARY);
        // Without a lock file, its use is unknown.
        if ours && let Ok(file) = File::options().write(true).open(dir.join(IN_USE)) {
            // Locked until it is removed, because other processes may be cleaning up too.
            if file.try_lock().is_ok() {
                remove_singleton(&dir);
                remove(&dir);
            }
        }
    }
}

/// Removes the socket of a killed Chromium, its directory, and the link to it.
fn remove_singleton(dir: &Path) {
    let Ok(socket) = fs::read_link(dir.join(SINGLETON_SOCKET)) else {
        return;
    };
    if !is_dead(&socket) {
        return;
    }
    if let Some(folder) = socket.parent() {
        for name in [SINGLETON_SOCKET, SINGLETON_COOKIE] {
            let _ = fs::remove_file(folder.join(name));
        }
        // A directory with other contents is kept.
        let _ = fs::remove_dir(folder);
    }
    for name in [SINGLETON_LOCK, SINGLETON_SOCKET, SINGLETON_COOKIE] {
        let _ = fs::remove_file(dir.join(name));
    }
}

/// Returns whether the socket exists without a listener.
fn is_dead(socket: &Path) -> bool {
    #[cfg(unix)]
    {
        let answer = std::os::unix::net::UnixStream::connect(socket);
        answer.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    }
    #[cfg(not(unix))]
    {
        let _ = socket;
        false
    }
}

/// Removes an unused temporary profile, whose lock this process holds.
fn remove(dir: &Path) {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let dir = match name.strip_prefix(TEMPORARY) {
        Some(rest) => {
            let gone = dir.with_file_name(format!("{GONE}{rest}"));
            // If this process ends before the removal is complete, the lock may be removed already.
            fs::rename(dir, &gone).map_or(dir.to_owned(), |()| gone)
        }
        None => dir.to_owned(),
    };
    for _ in 0..MAX_REMOVAL_ATTEMPTS {
        match fs::remove_dir_all(&dir) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(_) => std::thread::sleep(REMOVAL_INTERVAL),
        }
    }
    tracing::warn!(path = %dir.display(), "the temporary profile could not be removed");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_one_owner_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let first = Profile::claim(dir.path()).unwrap();
        assert_eq!(Profile::claim(dir.path()).unwrap_err(), ClaimError::InUse);
        first.leave();
        assert_eq!(Profile::claim(dir.path()).unwrap_err(), ClaimError::Ending);
        drop(first);
        Profile::claim(dir.path()).unwrap();
    }

    #[test]
    fn a_temporary_profile_in_use_is_never_removed_and_a_stale_one_is() {
        let used = Profile::temporary().unwrap();
        let stale = Profile::temporary().unwrap();
        let left = stale.dir().to_owned();
        drop(stale);
        remove_stale_profiles();
        assert!(!left.exists());
        assert!(used.dir().join(IN_USE).exists());
        used.clear();
        assert!(!used.dir().exists());
    }

    #[test]
    fn an_interrupted_removal_is_finished_by_the_next() {
        let begun = tempfile::Builder::new().prefix(GONE).tempdir().unwrap();
        let left = begun.keep();
        fs::create_dir_all(left.join("cache/a")).unwrap();
        remove_stale_profiles();
        assert!(!left.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_singleton_socket_without_listener_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap().keep();
        let socket = elsewhere.join(SINGLETON_SOCKET);
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (name, target) in [
            (SINGLETON_LOCK, Path::new("host-1")),
            (SINGLETON_SOCKET, socket.as_path()),
        ] {
            std::os::unix::fs::symlink(target, dir.path().join(name)).unwrap();
        }
        remove_singleton(dir.path());
        assert!(socket.exists());
        drop(listener);
        remove_singleton(dir.path());
        assert!(!elsewhere.exists());
        assert!(fs::symlink_metadata(dir.path().join(SINGLETON_LOCK)).is_err());
    }
}
