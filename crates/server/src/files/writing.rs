//! Writing files for a client.

use super::beneath::{FILE, PRIVATE_FILE, Use, open};
use super::encryption::encrypt;
use super::{FileOrigin, Output, WrittenFile};
use crate::config::Secrets;
use crate::error::{Error, Result};
use crate::files::artifacts::ArtifactInfo;
use engine::OutputFile;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, Write as _};
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

/// The least size of the parts in which secrets are masked in a large file, in bytes.
const MASKED_PART: usize = 1 << 20;

fn masked(secrets: &Secrets, part: Vec<u8>) -> String {
    let text = String::from_utf8(part);
    secrets.redacted(
        text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    )
}

impl Output {
    /// Writes a text with masked secrets.
    pub(crate) async fn write(&self, file: &WrittenFile, text: String) -> Result<()> {
        self.write_bytes(file, text).await
    }

    /// Writes a text that contains credentials, such as a storage state.
    pub(crate) async fn write_sensitive(&self, file: &WrittenFile, text: String) -> Result<()> {
        self.write_as(file, text, true).await
    }

    /// Writes a storage state, encrypted if the operator has given a passphrase.
    pub(crate) async fn write_state(&self, file: &WrittenFile, text: String) -> Result<()> {
        let Some(key) = self.state_key.clone() else {
            return self.write_sensitive(file, text).await;
        };
        let encrypted = task::compute(move || encrypt(&text, &key)).await;
        let encrypted = encrypted.map_err(|reason| Error::File {
            path: file.path.display().to_string(),
            reason: reason.to_owned(),
        })?;
        self.write_sensitive(file, encrypted).await
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

    /// Writes a file, with masked secrets if it is a text. `guarded`: only callers with the permission `browser:admin` may read it.
    pub(crate) async fn write_as(
        &self,
        file: &WrittenFile,
        bytes: impl Into<Vec<u8>>,
        guarded: bool,
    ) -> Result<()> {
        let bytes = match String::from_utf8(bytes.into()) {
            Ok(text) => self.redacted(text).into_bytes(),
            Err(error) => error.into_bytes(),
        };
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

    /// Creates a file without a name, for what a browser writes before [`Self::write_masked`]; twice, for both.
    pub(crate) fn unnamed(&self, file: &WrittenFile) -> Result<(File, OutputFile)> {
        let created = tempfile::tempfile().and_then(|raw| Ok((raw.try_clone()?, raw)));
        let (raw, output) = created.map_err(|error| Error::File {
            path: file.path.display().to_string(),
            reason: error.to_string(),
        })?;
        let path = file.path.clone();
        Ok((raw, OutputFile { file: output, path }))
    }

    /// Copies what a browser has written, with masked secrets. Only callers with the permission `browser:admin` may read the file.
    pub(crate) async fn write_masked(&self, file: &WrittenFile, mut from: File) -> Result<()> {
        let secrets = self.secrets.clone();
        self.write_parts(file, move |to| {
            from.rewind()?;
            let mut lines = BufReader::new(from);
            let mut part = Vec::new();
            // A value does not lie across lines, where its line breaks are escaped.
            while lines.read_until(b'\n', &mut part)? > 0 {
                if part.len() >= MASKED_PART {
                    to.write_all(masked(&secrets, std::mem::take(&mut part)).as_bytes())?;
                }
            }
            to.write_all(masked(&secrets, part).as_bytes())
        })
        .await
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

    /// Replaces the end of a log in the output folder, from a size on. Has no effect on a log that is shorter, because it was changed.
    pub(crate) fn replace_end(&self, path: &Path, from: usize, text: &str) -> io::Result<()> {
        let mut file = self.open(path, Use::Write, PRIVATE_FILE)?;
        let from = u64::try_from(from).unwrap_or(u64::MAX);
        if file.metadata()?.len() < from {
            return Ok(());
        }
        file.set_len(from)?;
        file.seek(io::SeekFrom::Start(from))?;
        self.count(text.len());
        file.write_all(text.as_bytes())
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
