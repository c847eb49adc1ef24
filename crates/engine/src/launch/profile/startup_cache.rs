//! The startup cache of Firefox: its own scripts, compiled. A new profile has none, and without one a start takes almost twice the processor
//! time. So a new profile gets a copy of an earlier cache. It has nothing of pages or users.

use super::files::{create_file, lock, make_private};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file with the version of the Firefox that used the profile last. Firefox removes the startup cache of another version, or of a
/// profile without this file.
const VERSION: &str = "compatibility.ini";
/// The folder of the cache in a profile: files, no folders.
const CACHE: &str = "startupCache";
/// A file of the cache that Firefox writes when it exits, if it has read none.
const SCRIPTS: &str = "scriptCache.bin";
/// The longest part of an executable's path that becomes the name of a folder.
const MAX_NAME_CHARS: usize = 100;

/// The startup cache that is kept for an executable.
#[derive(Debug)]
pub(crate) struct StartupCache {
    dir: PathBuf,
}

impl StartupCache {
    /// Returns the cache for `executable` in `cache_dir`; `None` if nothing can be written there.
    pub(crate) fn new(cache_dir: &Path, executable: &Path) -> Option<Self> {
        let parent = cache_dir.join("firefox-startup");
        let name: Vec<_> = executable.to_string_lossy().chars().collect();
        let last = &name[name.len().saturating_sub(MAX_NAME_CHARS)..];
        let plain = |c: &char| if c.is_alphanumeric() { *c } else { '-' };
        let name: String = last.iter().map(plain).collect();
        let dir = parent.join(name);
        // Otherwise each Firefox would be asked to exit, and nothing be saved.
        let writable =
            make_private(&parent).and_then(|()| create_file(&dir.with_extension("lock")));
        match writable {
            Ok(_) => Some(Self { dir }),
            Err(error) => {
                tracing::debug!(%error, path = %parent.display(), "no startup cache is kept");
                None
            }
        }
    }

    /// Copies the cache into a profile that Firefox has not used yet.
    pub(super) fn restore(&self, profile: &Path) {
        if profile.join(VERSION).exists() {
            return;
        }
        if let Err(error) = self.try_restore(profile) {
            tracing::debug!(%error, "Firefox starts without a startup cache");
            let _ = fs::remove_dir_all(profile.join(CACHE));
        }
    }

    fn try_restore(&self, profile: &Path) -> io::Result<()> {
        let version = fs::read(self.dir.join(VERSION))?;
        copy_files(&self.dir.join(CACHE), &profile.join(CACHE))?;
        // Another process may have replaced the cache in the meantime.
        if fs::read(self.dir.join(VERSION))? != version {
            return Err(io::Error::other("it was replaced"));
        }
        fs::write(profile.join(VERSION), version)
    }

    /// Returns whether the cache of a profile must be saved: none of its version is kept yet.
    pub(super) fn must_be_saved(&self, profile: &Path) -> bool {
        let version = |dir: &Path| fs::read(dir.join(VERSION)).ok();
        let used = version(profile);
        used.is_some() && used != version(&self.dir)
    }

    /// Keeps the cache of a profile whose Firefox has exited by itself, if it must be saved.
    pub(super) fn save(&self, profile: &Path) {
        let is_complete = profile.join(CACHE).join(SCRIPTS).exists();
        if !is_complete || !self.must_be_saved(profile) {
            return;
        }
        if let Err(error) = self.try_save(profile) {
            tracing::debug!(%error, path = %self.dir.display(), "the startup cache was not saved");
        }
    }

    fn try_save(&self, profile: &Path) -> io::Result<()> {
        // The end of the file releases the lock. Another process saves the same.
        let Ok(_lock) = lock(&self.dir.with_extension("lock")) else {
            return Ok(());
        };
        let new = self.dir.with_extension("new");
        // A killed process may have left it.
        remove_if_present(fs::remove_dir_all(&new))?;
        make_private(&new)?;
        copy_files(&profile.join(CACHE), &new.join(CACHE))?;
        fs::copy(profile.join(VERSION), new.join(VERSION))?;
        // First its version, so that a process that copies it notices.
        remove_if_present(fs::remove_file(self.dir.join(VERSION)))?;
        remove_if_present(fs::remove_dir_all(&self.dir))?;
        fs::rename(&new, &self.dir)
    }
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    make_private(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

fn remove_if_present(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a profile as a Firefox of this version leaves it.
    fn used_profile(version: &str) -> tempfile::TempDir {
        let profile = tempfile::tempdir().unwrap();
        fs::write(profile.path().join(VERSION), version).unwrap();
        fs::create_dir(profile.path().join(CACHE)).unwrap();
        fs::write(profile.path().join(CACHE).join(SCRIPTS), version).unwrap();
        fs::write(profile.path().join("cookies.sqlite"), "secret").unwrap();
        profile
    }

    /// Returns the files that a new profile gets, and the version.
    fn restored(cache: &StartupCache) -> (Vec<String>, Option<String>) {
        let profile = tempfile::tempdir().unwrap();
        cache.restore(profile.path());
        let entries = fs::read_dir(profile.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let scripts = fs::read_to_string(profile.path().join(CACHE).join(SCRIPTS));
        (names, scripts.ok())
    }

    #[test]
    fn a_new_profile_gets_the_cache_of_the_last_version_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let cache = StartupCache::new(folder.path(), Path::new("/opt/fire fox/firefox")).unwrap();
        assert_eq!(restored(&cache), (Vec::new(), None));
        for version in ["1", "2"] {
            let profile = used_profile(version);
            assert!(cache.must_be_saved(profile.path()));
            cache.save(profile.path());
            assert!(!cache.must_be_saved(profile.path()));
            let files = [VERSION, CACHE].map(str::to_owned).to_vec();
            assert_eq!(restored(&cache), (files, Some(version.to_owned())));
        }
        let other = StartupCache::new(folder.path(), Path::new("/usr/bin/firefox")).unwrap();
        assert_eq!(restored(&other), (Vec::new(), None));
    }

    #[test]
    fn a_used_profile_keeps_its_own_cache() {
        let folder = tempfile::tempdir().unwrap();
        let cache = StartupCache::new(folder.path(), Path::new("firefox")).unwrap();
        cache.save(used_profile("1").path());
        let profile = used_profile("2");
        cache.restore(profile.path());
        let scripts = fs::read_to_string(profile.path().join(CACHE).join(SCRIPTS));
        assert_eq!(scripts.unwrap(), "2");
    }

    #[test]
    fn an_incomplete_cache_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = StartupCache::new(folder.path(), Path::new("firefox")).unwrap();
        let profile = used_profile("1");
        fs::remove_file(profile.path().join(CACHE).join(SCRIPTS)).unwrap();
        cache.save(profile.path());
        assert_eq!(restored(&cache), (Vec::new(), None));
    }

    #[test]
    fn without_a_writable_folder_there_is_no_cache() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(StartupCache::new(file.path(), Path::new("firefox")).is_none());
    }
}
