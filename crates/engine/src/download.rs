//! Downloads of a context: what was asked for, what arrived, and where it lies.

use crate::backend::{DownloadEvent, PageId};
use std::path::PathBuf;

/// Downloads kept on record; the oldest that have ended go first.
const MAX_DOWNLOADS: usize = 1_000;
/// Downloads kept on record where none has ended.
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
    /// Counts up by one per download of the context.
    pub number: u64,
    /// The page that began it, if it is known.
    pub page: Option<PageId>,
    /// Where it came from.
    pub url: String,
    /// What the server or the page calls it. May hold anything; not a path.
    pub suggested_name: String,
    /// How far it is.
    pub state: DownloadState,
    id: String,
}

/// How far a download is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadState {
    /// It goes on.
    InProgress,
    /// It lies there, under a name of the browser's choosing.
    Finished(PathBuf),
    /// It came to nothing.
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
