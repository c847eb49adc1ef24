//! Downloads of a context: their URL, state and path.

use crate::backend::{DownloadEvent, PageId};
use std::path::PathBuf;

/// The largest number of downloads; the oldest that have ended are removed first.
const MAX_DOWNLOADS: usize = 1_000;
/// The largest number of downloads in progress.
const MAX_RUNNING_DOWNLOADS: usize = 10_000;

/// All downloads of a context.
#[derive(Debug, Default)]
pub(crate) struct Downloads {
    all: Vec<Download>,
    next: u64,
}

/// One download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// The number, which increases by one per download of the context.
    pub number: u64,
    /// The page that started the download, if known.
    pub page: Option<PageId>,
    /// The URL.
    pub url: String,
    /// The file name that the server or the page suggests. It is untrusted, and not a path.
    pub suggested_name: String,
    /// The state.
    pub state: DownloadState,
    id: String,
}

/// The state of a download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadState {
    /// The download is in progress.
    InProgress,
    /// The download is finished; this is its file, whose name the browser chose.
    Finished(PathBuf),
    /// The download failed; this is the reason.
    Failed(String),
}

impl Downloads {
    pub(crate) fn apply(&mut self, event: DownloadEvent) {
        match event {
            DownloadEvent::Started {
                id,
                page,
                url,
                suggested_name,
            } => {
                if self.all.len() >= MAX_DOWNLOADS {
                    let mut all = self.all.iter();
                    match all.position(|download| download.state != DownloadState::InProgress) {
                        Some(ended) => drop(self.all.remove(ended)),
                        None if self.all.len() < MAX_RUNNING_DOWNLOADS => {}
                        None => drop(self.all.remove(0)),
                    }
                }
                self.all.push(Download {
                    number: self.next,
                    page,
                    url,
                    suggested_name,
                    state: DownloadState::InProgress,
                    id,
                });
                self.next += 1;
            }
            DownloadEvent::Finished { id, path } => self.end(&id, DownloadState::Finished(path)),
            DownloadEvent::Failed { id, reason } => self.end(&id, DownloadState::Failed(reason)),
        }
    }

    /// Returns the number of downloads that have started.
    pub(crate) fn count(&self) -> u64 {
        self.next
    }

    pub(crate) fn all(&self) -> Vec<Download> {
        self.all.clone()
    }

    fn end(&mut self, id: &str, state: DownloadState) {
        if let Some(download) = self.all.iter_mut().rfind(|download| download.id == id) {
            download.state = state;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_downloads_are_never_dropped_from_the_list() {
        let mut downloads = Downloads::default();
        let started = |id: &str| DownloadEvent::Started {
            id: id.to_owned(),
            page: None,
            url: String::new(),
            suggested_name: String::new(),
        };
        downloads.apply(started("long"));
        for number in 0..2 * MAX_DOWNLOADS {
            let id = number.to_string();
            downloads.apply(started(&id));
            downloads.apply(DownloadEvent::Failed {
                id,
                reason: String::new(),
            });
        }
        assert_eq!(downloads.all().len(), MAX_DOWNLOADS);
        downloads.apply(DownloadEvent::Finished {
            id: "long".to_owned(),
            path: "/there".into(),
        });
        let first = &downloads.all()[0];
        assert_eq!(
            (first.number, &first.state),
            (0, &DownloadState::Finished("/there".into()))
        );
    }
}
