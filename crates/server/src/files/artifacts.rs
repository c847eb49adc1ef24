//! Artifacts: the files that tools wrote, which clients on other machines read as resources.

use crate::files::resource_uri::ResourceUri;
use crate::timestamp::timestamp;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The largest number of artifacts of a session; the oldest is removed first.
const MAX_ARTIFACTS: usize = 1000;

/// The artifacts of a session, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Artifacts(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    files: VecDeque<Artifact>,
    next: u64,
}

/// An artifact.
#[derive(Debug, Clone)]
pub(crate) struct Artifact {
    /// The identifier within the session.
    pub(crate) number: u64,
    /// The path; the file may have been removed.
    pub(crate) path: PathBuf,
    /// The properties of a screenshot.
    pub(crate) picture: Option<ScreenshotInfo>,
    /// Whether only callers with the permission `browser:admin` may read it.
    pub(crate) guarded: bool,
    /// Whether the client chose the name; otherwise the server did, or the page that offered it as a download.
    pub(crate) named_by_client: bool,
}

/// The properties of a file that is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ArtifactInfo {
    /// Whether only callers with the permission `browser:admin` may read it.
    pub(crate) guarded: bool,
    /// Whether the client chose the name.
    pub(crate) named_by_client: bool,
}

/// The properties of a screenshot.
#[derive(Debug, Clone)]
pub(crate) struct ScreenshotInfo {
    /// The identifier of the page.
    pub(crate) page: String,
    /// The width, in pixels.
    pub(crate) width: u32,
    /// The height, in pixels.
    pub(crate) height: u32,
    /// Whether it shows the full page.
    pub(crate) full_page: bool,
    /// The time at which it was taken.
    pub(crate) at: SystemTime,
}

impl ScreenshotInfo {
    /// Returns the resource URI of the artifact.
    pub(crate) fn address(&self, session: &str) -> ResourceUri {
        ResourceUri::Screenshot {
            session: session.to_owned(),
            page: self.page.clone(),
            time: timestamp(self.at),
        }
    }
}

impl Artifact {
    /// Returns whether the artifact is the screenshot of that page at that time.
    pub(crate) fn shows(&self, page: &str, time: &str) -> bool {
        let picture = self.picture.as_ref();
        picture.is_some_and(|picture| picture.page == page && timestamp(picture.at) == time)
    }
}

impl Artifacts {
    /// Adds a file that a tool wrote.
    pub(crate) fn add(&self, path: &Path, note: ArtifactInfo) {
        let mut known = self.known();
        let number = known.next;
        known.next += 1;
        // A file that is written again becomes the newest.
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

    /// Sets the properties of a screenshot.
    pub(crate) fn set_screenshot(&self, path: &Path, picture: ScreenshotInfo) {
        let mut known = self.known();
        if let Some(file) = known.files.iter_mut().rfind(|file| file.path == path) {
            file.picture = Some(picture);
        }
    }

    /// Returns whether tools of the session wrote the file, and every caller of the session may read it.
    pub(crate) fn has_public(&self, path: &Path) -> bool {
        let known = self.known();
        let mut files = known.files.iter();
        files.any(|file| file.path == path && !file.guarded)
    }

    /// Returns all artifacts; the files of some may have been removed.
    pub(crate) fn all(&self) -> Vec<Artifact> {
        self.known().files.iter().cloned().collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
