//! Files that the user gives to the file chooser of the shown page. Their contents follow the request, in binary messages.

use super::Dashboard;
use super::inputs::Input;
use crate::access::policy::Subject;
use crate::config::Risk;
use crate::error::{Error, Result};
use crate::files::valid_name;
use crate::sessions::OwnedSession;
use crate::sessions::session::Session;
use crate::sessions::session::feature::SessionFeature;
use engine::{Page, Progress};
use serde::Deserialize;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt as _;

/// The largest size of an upload, in bytes: as much as is sent to a remote browser.
pub(super) const MAX_UPLOAD: u64 = 100 * 1024 * 1024;
/// The largest size of the files that are kept, in bytes; the oldest are removed first.
const MAX_KEPT: u64 = 500 * 1024 * 1024;
/// The largest number of files in an upload.
const MAX_FILES: usize = 100;
/// How long the browser may take to receive the files.
pub(super) const UPLOAD_TIMEOUT: Duration = Duration::from_secs(30);

/// A file of the user.
#[derive(Debug, Deserialize)]
pub(super) struct UserFile {
    name: String,
    /// In bytes.
    size: u64,
}

/// An upload whose contents arrive.
pub(super) struct Upload {
    page: Page,
    folder: TempDir,
    size: u64,
    paths: Vec<PathBuf>,
    /// The files that are not complete, and the number of bytes that they lack.
    incomplete: VecDeque<(File, u64)>,
}

impl Dashboard {
    /// Begins an upload to the file chooser of the shown page.
    pub(super) async fn begin_upload(&self, files: Vec<UserFile>) -> Result<()> {
        self.stop_upload();
        let (owned, page) = self.page_with_file_chooser()?;
        self.permit_upload(&owned, &page)?;
        let is_multiple = page.file_chooser().is_some_and(|chooser| chooser.multiple);
        if files.is_empty() || files.len() > if is_multiple { MAX_FILES } else { 1 } {
            return Err(Error::NotInProgress {
                reason: "The file chooser accepts another number of files, at most 100: choose the files again",
            });
        }
        let size = files
            .iter()
            .fold(0_u64, |size, file| size.saturating_add(file.size));
        if size > MAX_UPLOAD {
            return Err(Error::NotInProgress {
                reason: "The files have more than 100 MB: choose smaller ones",
            });
        }
        self.record("dashboard/upload", &owned).await?;
        let upload = Upload::create(page, files, size).await.map_err(failed)?;
        *self.upload() = Some(upload);
        // Empty files have no contents that follow.
        self.receive(&[]).await
    }

    /// Applies the next part of the contents. An error is sent to the page of the dashboard as a notice.
    pub(crate) async fn on_contents(&self, bytes: &[u8]) {
        self.report(self.receive(bytes).await);
    }

    /// Ends an upload whose contents are not complete.
    pub(super) fn stop_upload(&self) {
        self.upload().take();
    }

    /// Cancels the file chooser of the shown page.
    pub(super) async fn cancel_file_chooser(&self) -> Result<()> {
        self.stop_upload();
        let (_, page) = self.page_with_file_chooser()?;
        let progress = Progress::new(UPLOAD_TIMEOUT);
        Ok(page.answer_file_chooser(&progress, None).await?)
    }

    async fn receive(&self, bytes: &[u8]) -> Result<()> {
        let upload = self.upload().take();
        // The contents of an upload that was refused or has failed may still arrive.
        let Some(mut upload) = upload else {
            return Ok(());
        };
        upload.add(bytes).await.map_err(failed)?;
        if !upload.incomplete.is_empty() {
            *self.upload() = Some(upload);
            return Ok(());
        }
        // The page may have navigated meanwhile.
        let (owned, page) = self.page_with_file_chooser()?;
        self.permit_upload(&owned, &page)?;
        if page != upload.page {
            return Err(no_file_chooser());
        }
        // The page reads the files when it needs them.
        let kept = owned.session.feature::<KeptUploads>();
        kept.keep(upload.folder, upload.size);
        let paths = upload.paths;
        // As input, so that the user can answer a dialog that the page opens when it gets the files.
        self.add_input(Input::Files { paths })
    }

    /// Returns the shown page, which the user controls, with an open file chooser.
    fn page_with_file_chooser(&self) -> Result<(OwnedSession, Page)> {
        let owned = self.selected()?;
        let page = self.page_for_input(&owned)?;
        match page.file_chooser() {
            Some(_) if self.has_control(&owned) => Ok((owned, page)),
            _ => Err(no_file_chooser()),
        }
    }

    /// Fails if `browser_file_upload` would not be permitted on the page.
    fn permit_upload(&self, owned: &OwnedSession, page: &Page) -> Result<()> {
        let subject = Subject::FILE_UPLOAD;
        if !can_upload(&owned.session) {
            return Err(Error::SwitchedOff {
                tool: subject.name,
                setting: Risk::Upload.switch(),
            });
        }
        self.server.permit(subject, Some(&page.url()), None)
    }

    fn upload(&self) -> MutexGuard<'_, Option<Upload>> {
        self.upload.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Upload {
    /// Creates the files, each in a folder of its own, because their names may be equal.
    async fn create(page: Page, files: Vec<UserFile>, size: u64) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("playhouse-upload-")
            .tempdir()?;
        let (mut paths, mut incomplete) = (Vec::new(), VecDeque::new());
        for (number, file) in files.into_iter().enumerate() {
            let own = folder.path().join(number.to_string());
            fs::create_dir(&own).await?;
            let path = own.join(valid_name(&file.name));
            incomplete.push_back((File::create_new(&path).await?, file.size));
            paths.push(path);
        }
        Ok(Self {
            page,
            folder,
            size,
            paths,
            incomplete,
        })
    }

    /// Adds the next part of the contents. What exceeds the announced sizes is dropped.
    async fn add(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while let Some((file, lacks)) = self.incomplete.front_mut() {
            let length =
                usize::try_from(*lacks).map_or(bytes.len(), |lacks| lacks.min(bytes.len()));
            let (part, rest) = bytes.split_at(length);
            file.write_all(part).await?;
            *lacks -= length as u64;
            bytes = rest;
            if *lacks > 0 {
                return Ok(());
            }
            file.flush().await?;
            self.incomplete.pop_front();
        }
        Ok(())
    }
}

fn no_file_chooser() -> Error {
    Error::NotInProgress {
        reason: "No file chooser of a page that you control is open: take the session over and open the file chooser in the view",
    }
}

fn failed(error: io::Error) -> Error {
    Error::File {
        path: "upload".to_owned(),
        reason: format!(
            "The files cannot be stored in the temporary folder of the server: {error}"
        ),
    }
}

/// Returns whether the operator allows to upload files to pages.
pub(super) fn can_upload(session: &Session) -> bool {
    !session.settings().tools.forbidden.contains(&Risk::Upload)
}

/// The folders of the files that the user gave to pages of a session, with their sizes, oldest first.
#[derive(Default)]
struct KeptUploads(Mutex<Vec<(TempDir, u64)>>);

impl KeptUploads {
    /// Keeps a folder until the browser context is closed, because pages read files when they need them.
    fn keep(&self, folder: TempDir, size: u64) {
        let mut kept = self.folders();
        kept.push((folder, size));
        while kept.iter().map(|(_, size)| size).sum::<u64>() > MAX_KEPT {
            kept.remove(0);
        }
    }

    fn folders(&self) -> MutexGuard<'_, Vec<(TempDir, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionFeature for KeptUploads {
    fn closed(&self) {
        self.folders().clear();
    }
}
