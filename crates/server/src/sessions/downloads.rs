//! Downloads of a session: moved to their folder under the name that the page suggested, and reported once.

use crate::answers::reply::Event;
use crate::files::Output;
use crate::files::artifacts::ArtifactInfo;
use engine::{BrowserContext, Download, DownloadState};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The state of each download.
pub(crate) struct Downloads {
    shared: Arc<Shared>,
    /// The number of downloads that had started when the last action started.
    before_action: AtomicU64,
}

struct Shared {
    output: Output,
    known: Mutex<BTreeMap<u64, Known>>,
    /// Serializes the moves, so that no download is moved twice.
    moving: tokio::sync::Mutex<()>,
    /// The number of actions in progress during which no download is named.
    holds: watch::Sender<usize>,
}

/// Delays naming and moving finished downloads until it is dropped.
pub(crate) struct DownloadsGuard(Arc<Shared>);

impl Drop for DownloadsGuard {
    fn drop(&mut self) {
        self.0.holds.send_modify(|holds| *holds -= 1);
    }
}

#[derive(Default)]
struct Known {
    has_reported_start: bool,
    /// The event of its end, until it is reported.
    end: Option<Event>,
    ended: bool,
    /// The path of the file.
    place: Option<PathBuf>,
}

impl Downloads {
    /// Downloads are moved to the configured folder, otherwise to the output folder.
    pub(crate) fn new(output: Output) -> Self {
        Self {
            shared: Arc::new(Shared {
                output,
                known: Mutex::default(),
                moving: tokio::sync::Mutex::default(),
                holds: watch::Sender::default(),
            }),
            before_action: AtomicU64::default(),
        }
    }

    /// Delays naming and moving downloads until the guard is dropped: the typed text may be a password, and the page may name a file after
    /// it.
    pub(crate) fn hold(&self) -> DownloadsGuard {
        self.shared.holds.send_modify(|holds| *holds += 1);
        DownloadsGuard(self.shared.clone())
    }

    /// Records the start of an action.
    pub(crate) fn on_action_started(&self, context: &BrowserContext) {
        self.before_action
            .store(context.download_count(), Ordering::Relaxed);
    }

    /// Returns the number of downloads that had started when the last action started.
    pub(crate) fn before_action(&self) -> u64 {
        self.before_action.load(Ordering::Relaxed)
    }

    /// Moves finished downloads.
    pub(crate) async fn collect(&self, context: &BrowserContext) {
        let all = context.downloads();
        if !all.iter().any(|download| self.shared.has_ended(download)) {
            return;
        }
        let shared = self.shared.clone();
        // The call may be cancelled meanwhile, but the result of a move must be recorded.
        task::run_to_completion("moving downloads", async move { shared.take_in(all).await }).await;
    }

    /// Returns the path of a finished download.
    pub(crate) async fn path_of(&self, context: &BrowserContext, number: u64) -> Option<PathBuf> {
        self.collect(context).await;
        self.shared.known().get(&number)?.place.clone()
    }

    /// Records that the start of a download was reported, and possibly its end.
    pub(crate) fn mark_reported(&self, number: u64, ended: bool) {
        let mut known = self.shared.known();
        let known = known.entry(number).or_default();
        known.has_reported_start = true;
        if ended {
            known.end = None;
        }
    }

    /// Returns the events that were not reported yet.
    pub(crate) async fn new_events(&self, context: &BrowserContext) -> Vec<Event> {
        self.collect(context).await;
        let mut known = self.shared.known();
        let mut news = Vec::new();
        for download in context.downloads() {
            let known = known.entry(download.number).or_default();
            if !known.has_reported_start {
                known.has_reported_start = true;
                news.push(Event::Downloading {
                    name: download.suggested_name.clone(),
                });
            }
            news.extend(known.end.take());
        }
        news
    }
}

impl Shared {
    /// Returns whether the download has ended and that was not reported.
    fn has_ended(&self, download: &Download) -> bool {
        let known = |known: &Known| known.ended;
        !matches!(download.state, DownloadState::InProgress)
            && !self.known().get(&download.number).is_some_and(known)
    }

    async fn take_in(&self, downloads: Vec<Download>) {
        let _moving = self.moving.lock().await;
        // The sender is a field of `self`, so this cannot fail.
        let _ = self.holds.subscribe().wait_for(|holds| *holds == 0).await;
        for download in downloads {
            if !self.has_ended(&download) {
                continue;
            }
            let (end, place) = self.end(&download).await;
            let mut known = self.known();
            let known = known.entry(download.number).or_default();
            known.end = Some(end);
            known.ended = true;
            known.place = place;
        }
    }

    /// Returns the event that reports the end of the download, and the path of its file.
    async fn end(&self, download: &Download) -> (Event, Option<PathBuf>) {
        let name = download.suggested_name.clone();
        let reason = match &download.state {
            DownloadState::InProgress => "The download is in progress".to_owned(),
            DownloadState::Failed(reason) => reason.clone(),
            DownloadState::Finished(path) => match self.take(path, &name).await {
                Ok(path) => {
                    let link = self.output.link(&path);
                    let quarantined = self.output.has_quarantine();
                    if !quarantined {
                        self.output.artifacts().add(&path, ArtifactInfo::default());
                    }
                    let size = path.metadata().map_or(0, |facts| facts.len());
                    self.output
                        .count(usize::try_from(size).unwrap_or(usize::MAX));
                    let event = Event::Downloaded {
                        link,
                        name,
                        quarantined,
                    };
                    return (event, Some(path));
                }
                Err(error) => error.to_string(),
            },
        };
        (Event::DownloadFailed { name, reason }, None)
    }

    async fn take(&self, from: &Path, name: &str) -> std::io::Result<PathBuf> {
        let folder = self.output.make_downloads_folder()?;
        #[cfg(unix)]
        if self.output.has_quarantine() {
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            tokio::fs::set_permissions(from, private).await?;
        }
        let to = reserved(&folder, &self.output.download_name(name)).await?;
        if tokio::fs::rename(from, &to).await.is_ok() {
            return Ok(to);
        }
        // The folders are on different file systems.
        if let Err(error) = tokio::fs::copy(from, &to).await {
            let _ = tokio::fs::remove_file(&to).await;
            return Err(error);
        }
        let _ = tokio::fs::remove_file(from).await;
        Ok(to)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<u64, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates an empty file with the name, or the name with a number if it exists.
async fn reserved(folder: &Path, name: &str) -> std::io::Result<PathBuf> {
    let plain = Path::new(name);
    let stem = plain.file_stem().unwrap_or_default().to_string_lossy();
    let extension = plain
        .extension()
        .map(|extension| format!(".{}", extension.to_string_lossy()))
        .unwrap_or_default();
    let mut path = folder.join(name);
    let mut number = 1;
    loop {
        let mut options = tokio::fs::OpenOptions::new();
        match options.write(true).create_new(true).open(&path).await {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                path = folder.join(format!("{stem}-{number}{extension}"));
                number += 1;
            }
            made => return made.map(|_| path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::files::{Workspace, artifacts::Artifacts};
    use futures_util::FutureExt;

    #[tokio::test]
    async fn downloads_are_moved_when_no_action_holds_them() {
        let settings = Settings::of_flags(&["--headless"]);
        let workspace = Workspace::of(Vec::new(), &settings.files);
        let output = Output::new(&settings, &workspace, None, Artifacts::default());
        let downloads = Downloads::new(output);
        let guards = (downloads.hold(), downloads.hold());
        let mut moved = Box::pin(downloads.shared.take_in(Vec::new()));
        assert_eq!(moved.as_mut().now_or_never(), None);
        drop(guards.0);
        assert_eq!(moved.as_mut().now_or_never(), None);
        drop(guards.1);
        assert_eq!(moved.now_or_never(), Some(()));
    }

    #[tokio::test]
    async fn files_of_one_name_that_arrive_at_once_all_stay() {
        let folder = tempfile::tempdir().unwrap();
        let made = (0..50).map(|_| reserved(folder.path(), "a.tar.gz"));
        let made = futures_util::future::join_all(made).await;
        let mut names: Vec<_> = made
            .into_iter()
            .map(|path| path.unwrap().file_name().unwrap().to_owned())
            .collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 50);
        assert!(names.contains(&"a.tar.gz".into()) && names.contains(&"a.tar-49.gz".into()));
    }
}
