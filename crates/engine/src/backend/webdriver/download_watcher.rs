//! Files as they arrive in a folder: told by the system where it does that, looked for where it does not.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the browser adds to the name of a file that is not all there.
const UNFINISHED: &str = ".wkdownload";
/// How often the folder is looked at where nobody tells of it.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A folder into which a browser puts files.
pub(super) struct DownloadWatcher {
    folder: PathBuf,
    watch: Option<watch::FolderWatch>,
}

/// What has become of a file, by its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DownloadChange {
    /// It is all there.
    Finished(String),
    /// The browser has given it up.
    Abandoned(String),
}

impl DownloadWatcher {
    /// Of a folder that exists.
    pub(super) fn of(folder: PathBuf) -> Self {
        let watch = watch::FolderWatch::on(&folder)
            .inspect_err(|error| tracing::debug!(%error, "the folder is looked at again and again"))
            .ok();
        Self { folder, watch }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Waits until there may be news, does `then`, and takes them for known.
    pub(super) async fn wait(&self, then: impl Future<Output = ()>) {
        match &self.watch {
            Some(watch) => watch.wait(then).await,
            None => {
                tokio::time::sleep(POLL_INTERVAL).await;
                then.await;
            }
        }
    }

    /// What has happened since the last time that somebody asked.
    pub(super) fn take_changes(&self) -> Vec<DownloadChange> {
        let told = self
            .watch
            .as_ref()
            .and_then(watch::FolderWatch::take_changes);
        let told = told.unwrap_or_else(|| {
            let names = self.names().into_iter();
            names.map(DownloadChange::Finished).collect()
        });
        let mut news: Vec<DownloadChange> = Vec::new();
        for arrival in told {
            let is_new = match &arrival {
                DownloadChange::Finished(name) => self.is_finished(name),
                DownloadChange::Abandoned(_) => true,
            };
            if is_new && !news.contains(&arrival) {
                news.push(arrival);
            }
        }
        news
    }

    /// Whether something is on its way.
    pub(super) fn has_unfinished(&self) -> bool {
        self.names().iter().any(|name| name.ends_with(UNFINISHED))
    }

    /// Whether the file of that name is on its way.
    pub(super) fn is_unfinished(&self, name: &str) -> bool {
        self.path(&format!("{name}{UNFINISHED}")).exists()
    }

    /// The browser begins with an empty file of the name that it will have.
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

    /// The system tells what happens in a folder.
    pub(super) struct FolderWatch(AsyncFd<OwnedFd>);

    impl FolderWatch {
        pub(super) fn on(folder: &Path) -> io::Result<Self> {
            let told = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            let of = WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::DELETE;
            inotify::add_watch(&told, folder, of | WatchFlags::ONLYDIR)?;
            #[expect(
                unsafe_code,
                reason = "an owned descriptor is open, and the same, as long as it is owned"
            )]
            let watch = unsafe { AsyncFd::register_with_interest(told, Interest::READABLE)? };
            Ok(Self(watch))
        }

        pub(super) async fn wait(&self, then: impl Future<Output = ()>) {
            // It fails when the runtime ends, and this task with it.
            let Ok(mut ready) = self.0.readable().await else {
                return std::future::pending().await;
            };
            then.await;
            ready.clear_ready();
        }

        /// `None` if there was more than the system remembers.
        pub(super) fn take_changes(&self) -> Option<Vec<DownloadChange>> {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(self.0.get_ref(), &mut buffer);
            let mut news = Vec::new();
            let mut lost = false;
            while let Ok(event) = reader.next() {
                lost |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                let Some(name) = event.file_name() else {
                    continue;
                };
                let name = name.to_string_lossy().into_owned();
                if !event.events().contains(ReadFlags::DELETE) {
                    news.push(DownloadChange::Finished(name));
                } else if let Some(name) = name.strip_suffix(UNFINISHED) {
                    news.push(DownloadChange::Abandoned(name.to_owned()));
                }
            }
            (!lost).then_some(news)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod watch {
    use super::DownloadChange;
    use std::io;
    use std::path::Path;

    /// There is none here.
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

    /// The news that come next.
    async fn next(arrivals: &DownloadWatcher) -> Vec<DownloadChange> {
        let mut news = Vec::new();
        while news.is_empty() {
            arrivals
                .wait(async { news = arrivals.take_changes() })
                .await;
        }
        news
    }

    async fn files_are_reported_when_complete(arrivals: DownloadWatcher) {
        let write = |name: &str| std::fs::write(arrivals.path(name), name).expect("writable");
        let finished = |name: &str| vec![DownloadChange::Finished(name.to_owned())];
        write("whole.txt");
        assert_eq!(next(&arrivals).await, finished("whole.txt"));
        std::fs::remove_file(arrivals.path("whole.txt")).expect("it is there");
        // As the browser does it.
        std::fs::write(arrivals.path("long.csv.wkdownload"), "").expect("writable");
        write("long.csv");
        assert!(arrivals.take_changes().is_empty() && arrivals.has_unfinished());
        let (from, to) = ("long.csv.wkdownload", "long.csv");
        std::fs::rename(arrivals.path(from), arrivals.path(to)).expect("it is there");
        assert_eq!(next(&arrivals).await, finished("long.csv"));
        assert!(!arrivals.has_unfinished());
    }

    #[tokio::test]
    async fn files_are_reported_with_and_without_inotify() {
        let folder = tempfile::tempdir().expect("a folder");
        let arrivals = DownloadWatcher::of(folder.path().to_owned());
        assert_eq!(arrivals.watch.is_some(), cfg!(target_os = "linux"));
        files_are_reported_when_complete(arrivals).await;
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
        let arrivals = DownloadWatcher::of(folder.path().to_owned());
        let unfinished = arrivals.path("half.zip.wkdownload");
        std::fs::write(&unfinished, "").expect("writable");
        assert!(arrivals.take_changes().is_empty());
        std::fs::remove_file(unfinished).expect("it is there");
        let given_up = DownloadChange::Abandoned("half.zip".to_owned());
        assert_eq!(next(&arrivals).await, [given_up]);
    }
}
