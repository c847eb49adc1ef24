//! The files that tools wrote for a client, so that one on another machine can read them.

use crate::files::resource_uri::{self, Address};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// How many a session remembers; the oldest is forgotten first.
const MAX_ARTIFACTS: usize = 1000;

/// The files of a session, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Artifacts(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    files: VecDeque<Artifact>,
    next: u64,
}

/// A file.
#[derive(Debug, Clone)]
pub(crate) struct Artifact {
    /// Names it within its session.
    pub(crate) number: u64,
    /// Where it lies, or lay.
    pub(crate) path: PathBuf,
    /// What it shows, if it is a picture of a page.
    pub(crate) picture: Option<ScreenshotInfo>,
    /// Whether only callers with the permission `browser:admin` may read it.
    pub(crate) guarded: bool,
    /// The client gave it its name; otherwise the server did, or the page that offered it as a download.
    pub(crate) named_by_client: bool,
}

/// What is noted of a file that is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ArtifactInfo {
    /// Whether only callers with the permission `browser:admin` may read it.
    pub(crate) guarded: bool,
    /// The client gave it its name.
    pub(crate) named_by_client: bool,
}

/// A picture of a page.
#[derive(Debug, Clone)]
pub(crate) struct ScreenshotInfo {
    /// The page.
    pub(crate) page: String,
    /// In pixels.
    pub(crate) width: u32,
    /// In pixels.
    pub(crate) height: u32,
    /// Of all of the page.
    pub(crate) full_page: bool,
    /// When it was taken.
    pub(crate) at: SystemTime,
}

impl ScreenshotInfo {
    /// Where it is read.
    pub(crate) fn address(&self, session: &str) -> Address {
        Address::Screenshot {
            session: session.to_owned(),
            page: self.page.clone(),
            time: resource_uri::timestamp(self.at),
        }
    }
}

impl Artifact {
    /// Whether it is the picture of that page that was taken at that time.
    pub(crate) fn shows(&self, page: &str, time: &str) -> bool {
        let picture = self.picture.as_ref();
        picture.is_some_and(|picture| {
            picture.page == page && resource_uri::timestamp(picture.at) == time
        })
    }
}

impl Artifacts {
    /// Notes a file that a tool wrote.
    pub(crate) fn add(&self, path: &Path, note: ArtifactInfo) {
        let mut known = self.known();
        let number = known.next;
        known.next += 1;
        // One that is written again is the newest.
        known.files.retain(|file| file.path != path);
        known.files.push_back(Artifact {
            number,
            path: path.to_owned(),
            picture: None,
            guarded: note.guarded,
            named_by_client: note.named_by_client,
        });
        if known.files.len() > MAX_ARTIFACTS {
            known.files.pop_front();
        }
    }

    /// Notes what the file shows.
    pub(crate) fn set_screenshot(&self, path: &Path, picture: ScreenshotInfo) {
        let mut known = self.known();
        if let Some(file) = known.files.iter_mut().rfind(|file| file.path == path) {
            file.picture = Some(picture);
        }
    }

    /// Whether tools of the session wrote the file, and every caller of the session may read it.
    pub(crate) fn has_public(&self, path: &Path) -> bool {
        let known = self.known();
        let mut files = known.files.iter();
        files.any(|file| file.path == path && !file.guarded)
    }

    /// All that it remembers; some may not exist any more.
    pub(crate) fn all(&self) -> Vec<Artifact> {
        self.known().files.iter().cloned().collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
