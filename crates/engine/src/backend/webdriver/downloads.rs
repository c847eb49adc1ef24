//! Files that pages download: the browser puts them into a folder of ours and tells nobody, so we look there.

use super::context::WebDriverContext;
use super::page::WebDriverPage;
use crate::backend::{DownloadEvent, PageId};
use crate::task;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What the browser adds to the name of a file that is not all there.
const UNFINISHED: &str = ".wkdownload";
/// How often the folder is looked at while a file is expected, and for how long.
const LOOK: Duration = Duration::from_millis(30);
const LOOKS: u32 = 4_000;
/// How many files are remembered that arrived before their answer was heard of.
const EARLY: usize = 16;

/// The downloads of a context.
pub(super) struct Downloads {
    folder: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    /// Those that have begun, in order.
    expected: Vec<Expected>,
    /// Names of files that arrived before their answer was heard of.
    early: Vec<String>,
}

struct Expected {
    id: String,
    /// What the answer wants to be called.
    name: Option<String>,
    url: String,
}

impl Expected {
    fn file_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| last_part(&self.url))
    }
}

impl State {
    /// Whose file this is: it has the name, or none is known and the browser has found one.
    fn claim(&mut self, name: &str) -> Option<String> {
        let of = |is: &dyn Fn(&Expected) -> bool| self.expected.iter().position(is);
        let index = of(&|it| it.file_name() == name)
            .or_else(|| of(&|it| it.name.is_none()))
            .or_else(|| of(&|_| true))?;
        Some(self.expected.remove(index).id)
    }

    fn comes_early(&mut self, name: String) {
        // What a page makes itself is no answer, and never heard of.
        if self.early.len() == EARLY {
            self.early.remove(0);
        }
        self.early.push(name);
    }

    /// Whether the file of an answer is here already.
    fn was_early(&mut self, name: &str) -> bool {
        let index = self.early.iter().position(|early| early == name);
        index.map(|index| self.early.remove(index)).is_some()
    }
}

impl Downloads {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files that are all there.
    fn finished(&self) -> Vec<PathBuf> {
        let entries = self
            .folder
            .as_ref()
            .and_then(|folder| folder.read_dir().ok());
        let entries = entries.into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        let unfinished = |path: &Path| path.to_string_lossy().ends_with(UNFINISHED);
        let begun: Vec<_> = paths
            .iter()
            .filter(|path| unfinished(path))
            .map(|path| path.with_extension(""))
            .collect();
        paths.retain(|path| !unfinished(path) && !begun.contains(path));
        paths.sort();
        paths
    }
}

impl WebDriverContext {
    /// The answer to a request is saved, not shown.
    pub(super) fn download_expected(&self, page: &WebDriverPage, url: &str, name: Option<String>) {
        // There is nothing to save of an answer without a body.
        if name.is_none() && url.is_empty() {
            return;
        }
        if self.downloads.folder.is_none() {
            return;
        }
        let expected = name.clone().unwrap_or_else(|| last_part(url));
        if self.downloads.state().was_early(&expected) {
            return;
        }
        let id = self.begins(Some(page.page_id().clone()), url, name);
        let Some(context) = self.shared() else { return };
        task::spawn("download", async move {
            let waits = || {
                let state = context.downloads.state();
                state.expected.iter().any(|expected| expected.id == id)
            };
            for _ in 0..LOOKS {
                context.look_for_downloads();
                if !waits() {
                    return;
                }
                tokio::time::sleep(LOOK).await;
            }
            context.downloads.state().expected.retain(|it| it.id != id);
            let reason = "the browser has put no file there".to_owned();
            context
                .observer()
                .download(DownloadEvent::Failed { id, reason });
        })
        .detach();
    }

    fn begins(&self, page: Option<PageId>, url: &str, name: Option<String>) -> String {
        let id = {
            let mut state = self.downloads.state();
            state.last += 1;
            let id = format!("download-{}", state.last);
            state.expected.push(Expected {
                id: id.clone(),
                name: name.clone(),
                url: url.to_owned(),
            });
            id
        };
        self.observer().download(DownloadEvent::Started {
            id: id.clone(),
            page,
            url: url.to_owned(),
            suggested_name: name.unwrap_or_else(|| last_part(url)),
        });
        id
    }

    /// Tells of files that have arrived.
    pub(super) fn look_for_downloads(&self) {
        for path in self.downloads.finished() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.into_owned();
            let known = self.downloads.state().claim(&name);
            let id = known.unwrap_or_else(|| {
                let id = self.begins(self.last_used(), "", Some(name.clone()));
                let mut state = self.downloads.state();
                state.expected.retain(|it| it.id != id);
                state.comes_early(name);
                id
            });
            let event = match self.put_away(&path, &id) {
                Ok(path) => DownloadEvent::Finished { id, path },
                Err(error) => DownloadEvent::Failed {
                    id,
                    reason: error.to_string(),
                },
            };
            self.observer().download(event);
        }
    }

    /// Moves a file to where downloads go.
    fn put_away(&self, path: &Path, id: &str) -> std::io::Result<PathBuf> {
        let Some(folder) = self.download_folder() else {
            std::fs::remove_file(path)?;
            return Err(std::io::Error::other("downloads are not accepted"));
        };
        std::fs::create_dir_all(&folder)?;
        let session = self.token().replace(':', "");
        let to = folder.join(format!("{session}-{id}"));
        if std::fs::rename(path, &to).is_err() {
            std::fs::copy(path, &to)?;
            std::fs::remove_file(path)?;
        }
        Ok(to)
    }
}

/// What a file of this address would be called.
fn last_part(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.rsplit('/').next().unwrap_or_default();
    if name.is_empty() {
        "download".to_owned()
    } else {
        name.to_owned()
    }
}
