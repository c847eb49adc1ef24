//! Writing files for a client.

use super::beneath::{FILE, PRIVATE_FILE, Use, open};
use super::{FileOrigin, Output, WrittenFile};
use crate::error::Result;
use crate::files::artifacts::ArtifactInfo;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::Ordering;

/// Removes what was written of a file that could not be written completely, so that it does not keep a full disk full.
fn discard(file: &WrittenFile, target: &File) {
    let is_new = matches!(file.origin, FileOrigin::Server | FileOrigin::NewOfClient);
    // The error of the writing is reported.
    let _ = match is_new {
        true => std::fs::remove_file(&file.path),
        false => target.set_len(0),
    };
}

impl Output {
    /// Writes a text with masked secrets.
    pub(crate) async fn write(&self, file: &WrittenFile, text: String) -> Result<()> {
        self.write_bytes(file, self.redacted(text)).await
    }

    /// Writes a text that contains credentials, such as a storage state.
    pub(crate) async fn write_sensitive(&self, file: &WrittenFile, text: String) -> Result<()> {
        self.write_as(file, self.redacted(text), true).await
    }

    /// Writes a binary file; folders above it are created. The file becomes a resource, unlike a file that the client only names.
    pub(crate) async fn write_bytes(
        &self,
        file: &WrittenFile,
        bytes: impl Into<Vec<u8>>,
    ) -> Result<()> {
        self.write_as(file, bytes, false).await
    }

    /// Copies a file of the server to a file for the client, like [`Self::write_bytes`].
    pub(crate) async fn copy(&self, file: &WrittenFile, from: &Path) -> Result<()> {
        let from = from.to_owned();
        self.put(file, false, move |target| {
            let mut source = File::open(from)?;
            io::copy(&mut source, target)
        })
        .await?;
        self.artifacts.add(&file.path, note(file, false));
        Ok(())
    }

    /// Writes a file. `guarded`: only callers with the permission `browser:admin` may read it.
    pub(crate) async fn write_as(
        &self,
        file: &WrittenFile,
        bytes: impl Into<Vec<u8>>,
        guarded: bool,
    ) -> Result<()> {
        let bytes = bytes.into();
        let write = move |target: &mut File| {
            target.write_all(&bytes)?;
            Ok(bytes.len() as u64)
        };
        if guarded {
            // Registered before the file is readable.
            self.artifacts.add(&file.path, note(file, guarded));
            return self.put(file, guarded, write).await;
        }
        self.put(file, guarded, write).await?;
        self.artifacts.add(&file.path, note(file, guarded));
        Ok(())
    }

    /// Replaces the content of a file by what `write` writes, and counts its bytes.
    async fn put(
        &self,
        file: &WrittenFile,
        guarded: bool,
        write: impl FnOnce(&mut File) -> io::Result<u64> + Send + 'static,
    ) -> Result<()> {
        let to = file.clone();
        let written = self.in_background(&file.path, move |output| {
            let mut target = output.open_empty(&to, guarded)?;
            write(&mut target).inspect_err(|_| discard(&to, &target))
        });
        let written = written.await?;
        self.count(usize::try_from(written).unwrap_or(usize::MAX));
        Ok(())
    }

    /// Opens a file that is written in parts, and truncates it. `guarded`: only callers with the permission `browser:admin` may read it.
    pub(crate) async fn open_for_writing(&self, file: &WrittenFile, guarded: bool) -> Result<File> {
        if guarded {
            // Registered before the file is readable.
            self.artifacts.add(&file.path, note(file, guarded));
        }
        let to = file.clone();
        self.in_background(&file.path, move |output| output.open_empty(&to, guarded))
            .await
    }

    /// Makes a file that was written in parts a resource.
    pub(crate) async fn finish_writing(&self, file: &WrittenFile, guarded: bool) {
        let facts = tokio::fs::metadata(&file.path).await;
        let size = facts.map_or(0, |facts| facts.len());
        self.count(usize::try_from(size).unwrap_or(usize::MAX));
        self.artifacts.add(&file.path, note(file, guarded));
    }

    /// Writes a file with credentials in parts. Only callers with the permission `browser:admin` may read it.
    pub(crate) async fn write_parts(
        &self,
        file: &WrittenFile,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()> + Send + 'static,
    ) -> Result<()> {
        self.artifacts.add(&file.path, note(file, true));
        let to = file.clone();
        let written = self.in_background(&file.path, move |output| {
            let opened = match to.origin {
                FileOrigin::Configuration => open_configured(&to.path)?,
                FileOrigin::Server | FileOrigin::Client | FileOrigin::NewOfClient => {
                    output.open_empty(&to, true)?
                }
            };
            let mut parts = io::BufWriter::new(&opened);
            let written = write(&mut parts).and_then(|()| parts.flush());
            drop(parts);
            written.inspect_err(|_| discard(&to, &opened))?;
            Ok(opened.metadata()?.len())
        });
        let written = written.await?;
        self.count(usize::try_from(written).unwrap_or(usize::MAX));
        Ok(())
    }

    /// Opens a file and truncates it, if the rules permit to write it.
    fn open_empty(&self, file: &WrittenFile, guarded: bool) -> io::Result<File> {
        let wanted = match file.origin {
            FileOrigin::NewOfClient => Use::Create,
            FileOrigin::Server | FileOrigin::Client | FileOrigin::Configuration => Use::Write,
        };
        let is_ours = file.origin == FileOrigin::Server;
        let mode = match guarded || is_ours {
            true => PRIVATE_FILE,
            false => FILE,
        };
        let opened = self.open(&file.path, wanted, mode)?;
        if !is_ours {
            self.refuse_listed(&opened)?;
        }
        if guarded {
            restrict_to_owner(&opened)?;
        }
        opened.set_len(0)?;
        Ok(opened)
    }

    /// Appends a text to a log in the output folder; creates the log if it was removed.
    pub(crate) fn append(&self, path: &Path, text: &str) -> io::Result<()> {
        self.append_bytes(path, text.as_bytes())
    }

    /// Appends bytes to a file in the output folder or the folder of traces; creates the file if it is missing.
    pub(crate) fn append_bytes(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.count(bytes.len());
        let mut file = self.open(path, Use::Append, PRIVATE_FILE)?;
        file.write_all(bytes)
    }

    /// Creates an empty file that must not exist.
    pub(crate) fn create_file(&self, path: &Path) -> io::Result<File> {
        self.open(path, Use::Create, PRIVATE_FILE)
    }

    /// Counts bytes that were written to the output folder.
    pub(crate) fn count(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let add = |written: u64| Some(written.saturating_add(bytes));
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.written.fetch_update(set, fetch, add);
    }
}

/// Opens and truncates a file with credentials at a path of the configuration, which may be in any folder.
fn open_configured(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let opened = open(path, Use::Write, PRIVATE_FILE)?;
    restrict_to_owner(&opened)?;
    opened.set_len(0)?;
    Ok(opened)
}

fn note(file: &WrittenFile, guarded: bool) -> ArtifactInfo {
    ArtifactInfo {
        guarded,
        named_by_client: file.origin != FileOrigin::Server,
    }
}

/// Restricts an existing file to its owner.
fn restrict_to_owner(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::mode(&file.metadata()?) & 0o077 != 0 {
        use std::os::unix::fs::PermissionsExt as _;
        return file.set_permissions(std::fs::Permissions::from_mode(PRIVATE_FILE));
    }
    let _ = file;
    Ok(())
}
