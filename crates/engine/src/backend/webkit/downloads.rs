//! Files that pages download. The browser does not report them, so the folder for downloads is watched.

use super::download_watcher::{DownloadChange, DownloadWatcher};
use crate::backend::{ContextObserver, DownloadEvent, PageId};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// How long a response that is saved may take to become a file.
const DOWNLOAD_START_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a file may precede the report of its response.
const EARLY_FILE_TIMEOUT: Duration = Duration::from_secs(10);

/// The downloads of a context.
pub(super) struct Downloads {
    /// Weak, because the observer owns the pages, and these own what they share with their context.
    observer: Weak<dyn ContextObserver>,
    /// The folder to which files are moved, and the prefix of their names there.
    folder: Option<PathBuf>,
    prefix: String,
    download_watcher: DownloadWatcher,
    /// Held while changes are applied, so that no change is applied twice.
    polling: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    /// The downloads that have begun, in order.
    expected: Vec<Expected>,
    /// The names of files that no response was reported for so far, and when they arrived. A file from page code has no response.
    early: Vec<(String, Instant)>,
}

struct Expected {
    id: String,
    /// The file name in the response.
    name: Option<String>,
    url: String,
}

impl Expected {
    fn file_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| last_part(&self.url))
    }
}

impl State {
    /// Removes and returns the download whose file this is: the one with this name; else one without a name, for which the browser has
    /// chosen one; else the first one without an unfinished file, because the browser may have changed its name. `None` for a file without
    /// a reported response, such as that of a link with `download`.
    fn claim(&mut self, name: &str, is_unfinished: impl Fn(&str) -> bool) -> Option<String> {
        let of = |is: &dyn Fn(&Expected) -> bool| self.expected.iter().position(is);
        let free = |it: &Expected| !is_unfinished(&it.file_name());
        let index = of(&|it| it.file_name() == name)
            .or_else(|| of(&|it| it.name.is_none() && free(it)))
            .or_else(|| of(&free))?;
        Some(self.expected.remove(index).id)
    }

    fn record_early_file(&mut self, name: String) {
        self.early
            .retain(|(_, came)| came.elapsed() < EARLY_FILE_TIMEOUT);
        self.early.push((name, Instant::now()));
    }

    /// Whether the file of a response has arrived already; removes it.
    fn take_early_file(&mut self, name: &str) -> bool {
        self.early
            .retain(|(_, came)| came.elapsed() < EARLY_FILE_TIMEOUT);
        let index = self.early.iter().position(|(early, _)| early == name);
        index.map(|index| self.early.remove(index)).is_some()
    }
}

impl Downloads {
    /// Files of `watched`, where the browser saves them, are moved to `folder`.
    pub(super) fn new(
        observer: &Arc<dyn ContextObserver>,
        watched: PathBuf,
        folder: Option<PathBuf>,
        prefix: String,
    ) -> Self {
        Self {
            observer: Arc::downgrade(observer),
            folder,
            prefix,
            download_watcher: DownloadWatcher::of(watched),
            polling: Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Waits until files may have arrived, and runs `then`.
    pub(super) async fn wait(&self, then: impl Future<Output = ()>) {
        self.download_watcher.wait(then).await;
    }

    /// Reports a download, because a response is saved and not shown.
    pub(super) fn expect(self: &Arc<Self>, page: &PageId, url: &str, name: Option<String>) {
        // A response without a body is not saved.
        if name.is_none() && url.is_empty() {
            return;
        }
        let expected = name.clone().unwrap_or_else(|| last_part(url));
        if self.state().take_early_file(&expected) {
            return;
        }
        let id = self.on_started(Some(page.clone()), url, name);
        let downloads = Arc::downgrade(self);
        task::spawn("download", async move {
            loop {
                tokio::time::sleep(DOWNLOAD_START_TIMEOUT).await;
                let Some(downloads) = downloads.upgrade() else {
                    return;
                };
                if downloads.download_watcher.has_unfinished() {
                    continue;
                }
                if downloads.remove(&id) {
                    downloads.on_failed(id, "the browser has saved no file");
                }
                return;
            }
        })
        .detach();
    }

    /// Reports to the observer, unless the context is gone.
    fn report(&self, event: DownloadEvent) {
        if let Some(observer) = self.observer.upgrade() {
            observer.download(event);
        }
    }

    fn on_failed(&self, id: String, reason: &str) {
        let reason = reason.to_owned();
        self.report(DownloadEvent::Failed { id, reason });
    }

    fn on_started(&self, page: Option<PageId>, url: &str, name: Option<String>) -> String {
        let id = {
            let mut state = self.state();
            state.last += 1;
            let id = format!("download-{}", state.last);
            state.expected.push(Expected {
                id: id.clone(),
                name: name.clone(),
                url: url.to_owned(),
            });
            id
        };
        self.report(DownloadEvent::Started {
            id: id.clone(),
            page,
            url: url.to_owned(),
            suggested_name: name.unwrap_or_else(|| last_part(url)),
        });
        id
    }

    /// Reports files that have arrived. A file without a reported response is attributed to the page that was last used.
    pub(super) fn poll(&self, last_used: Option<&PageId>) {
        let polling = self.polling.lock();
        let _polling = polling.unwrap_or_else(PoisonError::into_inner);
        for arrival in self.download_watcher.take_changes() {
            match arrival {
                DownloadChange::Finished(name) => {
                    self.on_file_complete(&self.download_watcher.path(&name), name, last_used)
                }
                DownloadChange::Abandoned(name) => {
                    if let Some(id) = self.claim(&name) {
                        self.on_failed(id, "the connection ended before the file was complete");
                    }
                }
            }
        }
    }

    fn on_file_complete(&self, path: &Path, name: String, last_used: Option<&PageId>) {
        let known = self.claim(&name);
        let id = known.unwrap_or_else(|| {
            let id = self.on_started(last_used.cloned(), "", Some(name.clone()));
            self.remove(&id);
            self.state().record_early_file(name);
            id
        });
        let event = match self.move_to_downloads(path, &id) {
            Ok(path) => DownloadEvent::Finished { id, path },
            Err(error) => DownloadEvent::Failed {
                id,
                reason: error.to_string(),
            },
        };
        self.report(event);
    }

    /// Moves a file to the folder for downloads.
    fn move_to_downloads(&self, path: &Path, id: &str) -> std::io::Result<PathBuf> {
        let Some(folder) = &self.folder else {
            std::fs::remove_file(path)?;
            return Err(std::io::Error::other("downloads are not accepted"));
        };
        std::fs::create_dir_all(folder)?;
        let to = folder.join(format!("{}-{id}", self.prefix));
        if std::fs::rename(path, &to).is_err() {
            std::fs::copy(path, &to)?;
            std::fs::remove_file(path)?;
        }
        Ok(to)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim(&self, name: &str) -> Option<String> {
        let is_unfinished = |name: &str| self.download_watcher.is_unfinished(name);
        self.state().claim(name, is_unfinished)
    }

    /// Removes a download that has no file so far; returns whether there was one.
    fn remove(&self, id: &str) -> bool {
        let expected = &mut self.state().expected;
        let before = expected.len();
        expected.retain(|it| it.id != id);
        expected.len() < before
    }
}

/// Returns the file name of a URL.
fn last_part(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.rsplit('/').next().unwrap_or_default();
    if name.is_empty() {
        "download".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expecting(all: &[(&str, Option<&str>, &str)]) -> State {
        let expected = all.iter().map(|(id, name, url)| Expected {
            id: (*id).to_owned(),
            name: name.map(str::to_owned),
            url: (*url).to_owned(),
        });
        State {
            expected: expected.collect(),
            ..State::default()
        }
    }

    #[test]
    fn a_file_is_assigned_to_its_response() {
        let mut state = expecting(&[
            ("nameless", None, "http://a/export"),
            ("named", Some("list.csv"), "http://a/list"),
            ("other", Some("a/b.txt"), "http://a/other"),
        ]);
        let none = |_: &str| false;
        assert_eq!(state.claim("list.csv", none).as_deref(), Some("named"));
        assert_eq!(state.claim("export.bin", none).as_deref(), Some("nameless"));
        assert_eq!(state.claim("a_b.txt", none).as_deref(), Some("other"));
        assert_eq!(state.claim("made.bin", none), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_is_not_assigned_to_a_later_response() {
        let mut state = State::default();
        state.record_early_file("a.txt".to_owned());
        assert!(!state.take_early_file("b.txt") && state.take_early_file("a.txt"));
        assert!(
            !state.take_early_file("a.txt"),
            "the file belongs to one response"
        );
        state.record_early_file("a.txt".to_owned());
        tokio::time::advance(EARLY_FILE_TIMEOUT).await;
        assert!(!state.take_early_file("a.txt"));
    }

    #[test]
    fn a_running_download_keeps_its_file() {
        let mut state = expecting(&[("big", Some("big.zip"), "http://a/big")]);
        let big = |name: &str| name == "big.zip";
        assert_eq!(state.claim("made.bin", big), None);
        assert_eq!(state.claim("big.zip", big).as_deref(), Some("big"));
    }
}
