//! Detecting files that arrive in a folder: with inotify, or by polling on other systems.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// The suffix of a file that the browser has not completed.
const UNFINISHED: &str = ".wkdownload";
/// The interval between polls of the folder without inotify.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A folder in which a browser saves files.
pub(super) struct DownloadWatcher {
    folder: PathBuf,
    watch: Option<watch::FolderWatch>,
}

/// A change of a file, with its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DownloadChange {
    /// The file is complete.
    Finished(String),
    /// The browser has removed the unfinished file.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "a polled folder does not show it")
    )]
    Abandoned(String),
}

impl DownloadWatcher {
    /// Watches a folder, which must exist.
    pub(super) fn of(folder: PathBuf) -> Self {
        let watch = watch::FolderWatch::on(&folder)
            .inspect_err(|error| tracing::debug!(%error, "the folder is polled"))
            .ok();
        Self { folder, watch }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Waits until there may be changes, and runs `then`, which reads them.
    pub(super) async fn wait(&self, then: impl Future<Output = ()>) {
        match &self.watch {
            Some(watch) => watch.wait(then).await,
            None => {
                tokio::time::sleep(POLL_INTERVAL).await;
                then.await;
            }
        }
    }

    /// Returns the changes since the last call.
    pub(super) fn take_changes(&self) -> Vec<DownloadChange> {
        let watch = self.watch.as_ref();
        let reported = watch.and_then(watch::FolderWatch::take_changes);
        let reported = reported.unwrap_or_else(|| {
            let names = self.names().into_iter();
            names.map(DownloadChange::Finished).collect()
        });
        let mut changes: Vec<DownloadChange> = Vec::new();
        for change in reported {
            let is_change = match &change {
                DownloadChange::Finished(name) => self.is_finished(name),
                DownloadChange::Abandoned(_) => true,
            };
            if is_change && !changes.contains(&change) {
                changes.push(change);
            }
        }
        changes
    }

    /// Whether there is an unfinished file.
    pub(super) fn has_unfinished(&self) -> bool {
        self.names().iter().any(|name| name.ends_with(UNFINISHED))
    }

    /// Whether the file of that name is unfinished.
    pub(super) fn is_unfinished(&self, name: &str) -> bool {
        self.path(&format!("{name}{UNFINISHED}")).exists()
    }

    /// Whether the file of that name is complete. The browser creates an empty file of that name first.
    fn is_finished(&self, name: &str) -> bool {
        !name.ends_with(UNFINISHED) && !self.is_unfinished(name) && self.path(name).exists()
    }

    fn names(&self) -> Vec<String> {
        names(&self.folder)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[cfg(target_os = "linux")]
mod watch {
    use super::{DownloadChange, UNFINISHED};
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// A folder that inotify watches.
    pub(super) struct FolderWatch(AsyncFd<OwnedFd>);

    impl FolderWatch {
        pub(super) fn on(folder: &Path) -> io::Result<Self> {
            let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            let of = WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::DELETE;
            inotify::add_watch(&events, folder, of | WatchFlags::ONLYDIR)?;
            #[expect(
                unsafe_code,
                reason = "an owned descriptor is open, and the same, as long as it is owned"
            )]
            let watch = unsafe { AsyncFd::register_with_interest(events, Interest::READABLE)? };
            Ok(Self(watch))
        }

        pub(super) async fn wait(&self, then: impl Future<Output = ()>) {
            // This fails only when the runtime shuts down.
            let Ok(mut ready) = self.0.readable().await else {
                return std::future::pending().await;
            };
            then.await;
            ready.clear_ready();
        }

        /// Returns the changes since the last call; `None` if the system has dropped some.
        pub(super) fn take_changes(&self) -> Option<Vec<DownloadChange>> {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(self.0.get_ref(), &mut buffer);
            let mut changes = Vec::new();
            let mut lost = false;
            while let Ok(event) = reader.next() {
                lost |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                let Some(name) = event.file_name() else {
                    continue;
                };
                let name = name.to_string_lossy().into_owned();
                if !event.events().contains(ReadFlags::DELETE) {
                    changes.push(DownloadChange::Finished(name));
                } else if let Some(name) = name.strip_suffix(UNFINISHED) {
                    changes.push(DownloadChange::Abandoned(name.to_owned()));
                }
            }
            (!lost).then_some(changes)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod watch {
    use super::DownloadChange;
    use std::io;
    use std::path::Path;

    /// A folder cannot be watched on this system.
    pub(super) enum FolderWatch {}

    impl FolderWatch {
        pub(super) fn on(_folder: &Path) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) async fn wait(&self, _then: impl Future<Output = ()>) {
            match *self {}
        }

        pub(super) fn take_changes(&self) -> Option<Vec<DownloadChange>> {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the next changes.
    async fn next(watcher: &DownloadWatcher) -> Vec<DownloadChange> {
        let mut changes = Vec::new();
        while changes.is_empty() {
            let read = async { changes = watcher.take_changes() };
            watcher.wait(read).await;
        }
        changes
    }

    async fn files_are_reported_when_complete(watcher: DownloadWatcher) {
        let write = |name: &str| std::fs::write(watcher.path(name), name).expect("writable");
        let finished = |name: &str| vec![DownloadChange::Finished(name.to_owned())];
        write("whole.txt");
        assert_eq!(next(&watcher).await, finished("whole.txt"));
        std::fs::remove_file(watcher.path("whole.txt")).expect("it is there");
        // The browser creates both files, and renames the first one.
        std::fs::write(watcher.path("long.csv.wkdownload"), "").expect("writable");
        write("long.csv");
        assert!(watcher.take_changes().is_empty() && watcher.has_unfinished());
        let (from, to) = ("long.csv.wkdownload", "long.csv");
        std::fs::rename(watcher.path(from), watcher.path(to)).expect("it is there");
        assert_eq!(next(&watcher).await, finished("long.csv"));
        assert!(!watcher.has_unfinished());
    }

    #[tokio::test]
    async fn files_are_reported_with_and_without_inotify() {
        let folder = tempfile::tempdir().expect("a folder");
        let watcher = DownloadWatcher::of(folder.path().to_owned());
        assert_eq!(watcher.watch.is_some(), cfg!(target_os = "linux"));
        files_are_reported_when_complete(watcher).await;
        let folder = tempfile::tempdir().expect("a folder");
        let unwatched = DownloadWatcher {
            folder: folder.path().to_owned(),
            watch: None,
        };
        files_are_reported_when_complete(unwatched).await;
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn an_abandoned_file_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let watcher = DownloadWatcher::of(folder.path().to_owned());
        let unfinished = watcher.path("half.zip.wkdownload");
        std::fs::write(&unfinished, "").expect("writable");
        assert!(watcher.take_changes().is_empty());
        std::fs::remove_file(unfinished).expect("it is there");
        let abandoned = DownloadChange::Abandoned("half.zip".to_owned());
        assert_eq!(next(&watcher).await, [abandoned]);
    }
}
