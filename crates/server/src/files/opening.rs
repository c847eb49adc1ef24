//! Opening files by the rules about folders and protected files.

use super::Output;
use super::beneath::{self, PRIVATE_FOLDER, Use};
use crate::access::protected::real;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

impl Output {
    /// Reads a file if the rules permit it.
    pub(crate) async fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let at = path.to_owned();
        let read = self.in_background(path, move |output| {
            let mut bytes = Vec::new();
            let mut file = output.open_readable(&at)?;
            file.read_to_end(&mut bytes).map(|_| bytes)
        });
        read.await
    }

    /// Opens a file for reading if the rules permit it.
    pub(crate) async fn open_for_reading(&self, path: &Path) -> Result<File> {
        let at = path.to_owned();
        self.in_background(path, move |output| output.open_readable(&at))
            .await
    }

    fn open_readable(&self, path: &Path) -> io::Result<File> {
        let file = self.open(path, Use::Read, beneath::FILE)?;
        self.refuse_listed(&file)?;
        Ok(file)
    }

    /// Works with files on a thread that may block. Errors are about `path`.
    pub(super) async fn in_background<T: Send + 'static>(
        &self,
        path: &Path,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T> {
        let output = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&output)).await;
        let done = done.unwrap_or_else(|panic| Err(io::Error::other(panic)));
        done.map_err(|error| Error::file(path, "open", &error))
    }

    /// Returns an error for a protected file that was put at the path after the check of the path.
    pub(super) fn refuse_listed(&self, file: &File) -> io::Result<()> {
        match self.protected.guard().is_listed(&file.metadata()?) {
            true => Err(io::ErrorKind::PermissionDenied.into()),
            false => Ok(()),
        }
    }

    pub(super) fn open(&self, path: &Path, wanted: Use, mode: u32) -> io::Result<File> {
        let opened = self.try_open(path, wanted, mode);
        // The folder usually exists: a check first would cost as much as the writing.
        match (opened, path.parent()) {
            (Err(error), Some(folder))
                if wanted != Use::Read && error.kind() == io::ErrorKind::NotFound =>
            {
                self.make_folders(folder)?;
                self.try_open(path, wanted, mode)
            }
            (opened, _) => opened,
        }
    }

    fn try_open(&self, path: &Path, wanted: Use, mode: u32) -> io::Result<File> {
        let place = real(path);
        match place.as_ref().and_then(|place| self.root_of(place)) {
            Some((root, _)) => {
                let place = place.unwrap_or_default();
                beneath::open_beneath(&root, &place, wanted, mode)
            }
            None if self.unrestricted => beneath::open(path, wanted, mode),
            None => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    pub(super) fn make_folders(&self, folder: &Path) -> io::Result<()> {
        let at = real(folder).ok_or(io::ErrorKind::PermissionDenied)?;
        match self.root_of(&at) {
            Some((root, true)) => {
                self.place.make()?;
                beneath::make_folders_beneath(&root, &at, PRIVATE_FOLDER)
            }
            Some((root, false)) => beneath::make_folders_beneath(&root, &at, beneath::FOLDER),
            None if self.unrestricted => std::fs::create_dir_all(folder),
            None => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    /// Returns the folder that contains a resolved path, and whether that is the output folder.
    pub(super) fn root_of(&self, place: &Path) -> Option<(PathBuf, bool)> {
        let is_held = self.unrestricted || self.place.holds(&self.place.base);
        let base = Some((&self.place.base, true)).filter(|_| is_held);
        let base = base.into_iter().chain([(&self.workspace, false)]);
        let others = self.readable.iter().chain(&self.downloads_dir);
        let others = others.chain(&self.traces_dir);
        let others = others.map(|root| (root, false));
        let mut roots = base.chain(others);
        roots.find_map(|(root, is_output)| {
            let root = real(root).filter(|root| place.starts_with(root));
            root.map(|root| (root, is_output))
        })
    }
}
