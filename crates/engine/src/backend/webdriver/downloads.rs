//! Files that pages download: the browser puts them into a folder of ours and tells nobody, so the folder is watched.

use super::arrivals::{Arrival, Arrivals};
use super::context::WebDriverContext;
use super::page::WebDriverPage;
use crate::backend::{DownloadEvent, PageId};
use crate::task;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::Instant;

/// How long an answer that is to be saved may take to become a file.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long what a page says of its download is waited for, once the file is there.
const HEARD: Duration = Duration::from_secs(1);
/// How long a file that arrived before its answer was heard of is remembered.
const EARLY: Duration = Duration::from_secs(10);

/// The downloads of a context.
pub(super) struct Downloads {
    arrivals: Option<Arrivals>,
    /// Held while news are taken in, so that nobody takes a file for new that another takes in.
    looking: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    /// Those that have begun, in order.
    expected: Vec<Expected>,
    /// Files that arrived before their answer was heard of, and when. What a page makes itself is no answer, and never heard of.
    early: Vec<(String, Instant)>,
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
    /// Whose file this is: it has the name, or none is known and the browser has found one. Else it is guessed that the browser has found
    /// another name than that of the first answer which has no file on its way. Nobody's, if there is none: a link to a download has
    /// brought it, of which nobody tells.
    fn claim(&mut self, name: &str, is_on_its_way: impl Fn(&str) -> bool) -> Option<String> {
        let of = |is: &dyn Fn(&Expected) -> bool| self.expected.iter().position(is);
        let free = |it: &Expected| !is_on_its_way(&it.file_name());
        let index = of(&|it| it.file_name() == name)
            .or_else(|| of(&|it| it.name.is_none() && free(it)))
            .or_else(|| of(&free))?;
        Some(self.expected.remove(index).id)
    }

    fn comes_early(&mut self, name: String) {
        self.early.retain(|(_, came)| came.elapsed() < EARLY);
        self.early.push((name, Instant::now()));
    }

    /// Whether the file of an answer is here already.
    fn was_early(&mut self, name: &str) -> bool {
        self.early.retain(|(_, came)| came.elapsed() < EARLY);
        let index = self.early.iter().position(|(early, _)| early == name);
        index.map(|index| self.early.remove(index)).is_some()
    }
}

impl Downloads {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            arrivals: folder.map(Arrivals::of),
            looking: Mutex::default(),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim(&self, name: &str) -> Option<String> {
        let arrivals = self.arrivals.as_ref();
        let is_on_its_way = |name: &str| arrivals.is_some_and(|it| it.is_unfinished(name));
        self.state().claim(name, is_on_its_way)
    }

    /// Expects one no more; `false` if that was so already.
    fn forget(&self, id: &str) -> bool {
        let expected = &mut self.state().expected;
        let before = expected.len();
        expected.retain(|it| it.id != id);
        expected.len() < before
    }
}

/// Tells of each file when it is there.
pub(super) async fn follow(context: Weak<WebDriverContext>, downloads: Arc<Downloads>) {
    let Some(arrivals) = &downloads.arrivals else {
        return;
    };
    loop {
        let then = async {
            let Some(context) = context.upgrade() else {
                return;
            };
            // Whose file it is was said before it was written; it may not be heard yet.
            let last = context.last_used();
            let mut pages = context.open_pages().into_iter();
            if let Some(page) = pages.find(|page| Some(page.page_id()) == last.as_ref()) {
                let heard = tokio::time::timeout(HEARD, page.settled()).await;
                tracing::debug!(?heard, "a file has arrived");
            }
            context.look_for_downloads();
        };
        arrivals.wait(then).await;
    }
}

impl WebDriverContext {
    /// The answer to a request is saved, not shown.
    pub(super) fn download_expected(&self, page: &WebDriverPage, url: &str, name: Option<String>) {
        // There is nothing to save of an answer without a body.
        if name.is_none() && url.is_empty() {
            return;
        }
        if self.downloads.arrivals.is_none() {
            return;
        }
        let expected = name.clone().unwrap_or_else(|| last_part(url));
        if self.downloads.state().was_early(&expected) {
            return;
        }
        let id = self.begins(Some(page.page_id().clone()), url, name);
        let context = self.itself.clone();
        task::spawn("download", async move {
            loop {
                tokio::time::sleep(PATIENCE).await;
                let Some(context) = context.upgrade() else {
                    return;
                };
                let arrivals = context.downloads.arrivals.as_ref();
                if arrivals.is_some_and(Arrivals::any_unfinished) {
                    continue;
                }
                if context.downloads.forget(&id) {
                    context.fails(id, "the browser has put no file there");
                }
                return;
            }
        })
        .detach();
    }

    fn fails(&self, id: String, reason: &str) {
        let reason = reason.to_owned();
        self.observer()
            .download(DownloadEvent::Failed { id, reason });
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
        let Some(arrivals) = &self.downloads.arrivals else {
            return;
        };
        let looking = self.downloads.looking.lock();
        let _looking = looking.unwrap_or_else(PoisonError::into_inner);
        for arrival in arrivals.news() {
            match arrival {
                Arrival::Finished(name) => self.arrives(&arrivals.path(&name), name),
                Arrival::Abandoned(name) => {
                    if let Some(id) = self.downloads.claim(&name) {
                        self.fails(id, "the connection ended before the file was all there");
                    }
                }
            }
        }
    }

    fn arrives(&self, path: &Path, name: String) {
        let known = self.downloads.claim(&name);
        let id = known.unwrap_or_else(|| {
            let id = self.begins(self.last_used(), "", Some(name.clone()));
            self.downloads.forget(&id);
            self.downloads.state().comes_early(name);
            id
        });
        let event = match self.put_away(path, &id) {
            Ok(path) => DownloadEvent::Finished { id, path },
            Err(error) => DownloadEvent::Failed {
                id,
                reason: error.to_string(),
            },
        };
        self.observer().download(event);
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
    fn a_file_is_given_to_the_answer_that_it_is_of() {
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
    async fn a_file_of_a_page_is_not_taken_for_that_of_a_later_answer() {
        let mut state = State::default();
        state.comes_early("a.txt".to_owned());
        assert!(!state.was_early("b.txt") && state.was_early("a.txt"));
        assert!(!state.was_early("a.txt"), "it was that of one answer");
        state.comes_early("a.txt".to_owned());
        tokio::time::advance(EARLY).await;
        assert!(!state.was_early("a.txt"));
    }

    #[test]
    fn what_is_on_its_way_keeps_its_file() {
        let mut state = expecting(&[("big", Some("big.zip"), "http://a/big")]);
        let big = |name: &str| name == "big.zip";
        assert_eq!(state.claim("made.bin", big), None);
        assert_eq!(state.claim("big.zip", big).as_deref(), Some("big"));
    }
}
