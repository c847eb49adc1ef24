//! Downloads of a session: moved to their folder under the name that the page suggested, and told once.

use crate::output::{Output, sanitized};
use crate::reply::Event;
use engine::{BrowserContext, Download, DownloadState};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What has become of each download.
pub(crate) struct Downloads {
    output: Output,
    /// Where they go.
    folder: PathBuf,
    known: Mutex<BTreeMap<u64, Known>>,
    /// One move at a time, so that two files of one name get two names.
    moving: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    told_start: bool,
    /// How it ended, until that is told.
    end: Option<Event>,
    ended: bool,
    /// Where it lies.
    place: Option<PathBuf>,
}

impl Downloads {
    /// They go to `folder`, or else to the output folder.
    pub(crate) fn new(output: Output, folder: Option<PathBuf>) -> Self {
        Self {
            folder: folder.unwrap_or_else(|| output.folder().to_owned()),
            output,
            known: Mutex::default(),
            moving: tokio::sync::Mutex::default(),
        }
    }

    /// Takes in what arrived.
    pub(crate) async fn collect(&self, context: &BrowserContext) {
        let _moving = self.moving.lock().await;
        for download in context.downloads() {
            let ended = self.known().entry(download.number).or_default().ended;
            if ended {
                continue;
            }
            let Some((end, place)) = self.end(&download).await else {
                continue;
            };
            let mut known = self.known();
            let known = known.entry(download.number).or_default();
            known.end = Some(end);
            known.ended = true;
            known.place = place;
        }
    }

    /// Where a download lies that has arrived.
    pub(crate) async fn place(&self, context: &BrowserContext, number: u64) -> Option<PathBuf> {
        self.collect(context).await;
        self.known().get(&number)?.place.clone()
    }

    /// What has not been told yet.
    pub(crate) async fn news(&self, context: &BrowserContext) -> Vec<Event> {
        self.collect(context).await;
        let mut known = self.known();
        let mut news = Vec::new();
        for download in context.downloads() {
            let known = known.entry(download.number).or_default();
            if !known.told_start {
                known.told_start = true;
                news.push(Event::Downloading {
                    name: download.suggested_name.clone(),
                });
            }
            news.extend(known.end.take());
        }
        news
    }

    /// How it ended, if it has, and where it lies now.
    async fn end(&self, download: &Download) -> Option<(Event, Option<PathBuf>)> {
        let name = download.suggested_name.clone();
        let failed = |name, reason| (Event::DownloadFailed { name, reason }, None);
        match &download.state {
            DownloadState::InProgress => None,
            DownloadState::Failed(reason) => Some(failed(name, reason.clone())),
            DownloadState::Finished(path) => Some(match self.take(path, &name).await {
                Ok(path) => {
                    let link = self.output.link(&path);
                    self.output.artifacts().add(&path, false);
                    (Event::Downloaded { link, name }, Some(path))
                }
                Err(error) => failed(name, error.to_string()),
            }),
        }
    }

    async fn take(&self, from: &Path, name: &str) -> std::io::Result<PathBuf> {
        tokio::fs::create_dir_all(&self.folder).await?;
        let to = free(&self.folder, &sanitized(name)).await;
        if tokio::fs::rename(from, &to).await.is_err() {
            // Another file system.
            tokio::fs::copy(from, &to).await?;
            tokio::fs::remove_file(from).await?;
        }
        Ok(to)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<u64, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A path in the folder that nothing lies at: the name itself, or one with a number.
async fn free(folder: &Path, name: &str) -> PathBuf {
    let plain = Path::new(name);
    let stem = plain.file_stem().unwrap_or_default().to_string_lossy();
    let extension = plain
        .extension()
        .map(|extension| format!(".{}", extension.to_string_lossy()))
        .unwrap_or_default();
    let mut path = folder.join(name);
    let mut number = 1;
    while tokio::fs::try_exists(&path).await.unwrap_or(false) {
        path = folder.join(format!("{stem}-{number}{extension}"));
        number += 1;
    }
    path
}
