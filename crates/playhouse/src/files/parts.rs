//! Files that are written and read in parts, because they are large.

use super::beneath::{FILE, PRIVATE_FILE, Use};
use super::{FileOrigin, Output, WrittenFile, note, restrict_to_owner};
use crate::error::Result;
use std::path::Path;

impl Output {
    /// Opens a file that is written in parts, and truncates it. `guarded`: only callers with the permission `browser:admin` may read it.
    pub(crate) async fn open_for_writing(
        &self,
        file: &WrittenFile,
        guarded: bool,
    ) -> Result<std::fs::File> {
        if guarded {
            // Registered before the file is readable.
            self.artifacts.add(&file.path, note(file, guarded));
        }
        let wanted = match file.origin {
            FileOrigin::NewOfClient => Use::Create,
            FileOrigin::Server | FileOrigin::Client | FileOrigin::Configuration => Use::Write,
        };
        let is_ours = file.origin == FileOrigin::Server;
        let mode = if guarded { PRIVATE_FILE } else { FILE };
        self.with(&file.path, wanted, mode, move |output, file| {
            if !is_ours {
                output.refuse_listed(&file)?;
            }
            if guarded {
                restrict_to_owner(&file)?;
            }
            file.set_len(0).map(|()| file)
        })
        .await
    }

    /// Makes a file that was written in parts a resource.
    pub(crate) async fn finish_writing(&self, file: &WrittenFile, guarded: bool) {
        let facts = tokio::fs::metadata(&file.path).await;
        let size = facts.map_or(0, |facts| facts.len());
        self.count(usize::try_from(size).unwrap_or(usize::MAX));
        self.artifacts.add(&file.path, note(file, guarded));
    }

    /// Opens a file for reading if the rules permit it.
    pub(crate) async fn open_for_reading(&self, path: &Path) -> Result<std::fs::File> {
        self.with(path, Use::Read, FILE, |output, file| {
            output.refuse_listed(&file).map(|()| file)
        })
        .await
    }
}
