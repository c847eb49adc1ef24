//! Files: set on an input, given to a file chooser, or dropped from outside the browser.

use super::aim::{ActionabilityState, Aim};
use super::fill::Mismatch;
use super::{Tries, until_done};
use crate::error::{Error, Result};
use crate::locator::Locator;
use crate::page::Page;
use crate::progress::Progress;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What is dropped onto an element.
#[derive(Debug, Clone, Default)]
pub struct Payload {
    /// Files, read when they are dropped; together at most 50 MB.
    pub files: Vec<PathBuf>,
    /// Values by media type, e.g. `text/plain`.
    pub data: Vec<(String, String)>,
}

/// A file for an `<input type=file>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputFile {
    /// One that lies on a disk.
    Path(PathBuf),
    /// One that lies nowhere else.
    Inline {
        /// Its name.
        name: String,
        /// Its media type.
        mime_type: String,
        /// What is in it.
        bytes: Vec<u8>,
    },
}

/// A drop carries its files through the page's memory.
const MAX_DROP_SIZE: u64 = 50 * 1024 * 1024;

impl Page {
    /// Answers the open file chooser; `None` cancels it. It stays open if that fails, as with a file that is missing.
    pub async fn answer_file_chooser(
        &self,
        progress: &Progress,
        files: Option<&[PathBuf]>,
    ) -> Result<()> {
        progress
            .run(async {
                check_readable(files.unwrap_or_default()).await?;
                self.backend.answer_file_chooser(files).await
            })
            .await?;
        self.state().file_chooser = None;
        Ok(())
    }
}

impl Locator {
    /// Sets the files of an `<input type=file>`, or of the one that a label belongs to; none clears it. With one that lies on no disk
    /// they go through the page's memory, together at most 50 MB.
    pub async fn set_input(&self, progress: &Progress, files: &[InputFile]) -> Result<()> {
        let paths: Option<Vec<_>> = files
            .iter()
            .map(|file| match file {
                InputFile::Path(path) => Some(path.clone()),
                InputFile::Inline { .. } => None,
            })
            .collect();
        if let Some(paths) = paths {
            return self.set_input_files(progress, &paths).await;
        }
        let contents = contents(files).await?;
        self.set_files(progress, files.len(), &Source::Contents(contents))
            .await
    }

    /// Sets the files of an `<input type=file>`, or of the one that a label belongs to; none clears it.
    pub async fn set_input_files(&self, progress: &Progress, files: &[PathBuf]) -> Result<()> {
        check_readable(files).await?;
        let source = match files {
            // A browser takes no paths for no change.
            [] => Source::Contents(Vec::new()),
            files => Source::Paths(files),
        };
        self.set_files(progress, files.len(), &source).await
    }

    async fn set_files(
        &self,
        progress: &Progress,
        count: usize,
        source: &Source<'_>,
    ) -> Result<()> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Answer {
            Input {
                input: u64,
                multiple: bool,
                directory: bool,
            },
            Mismatch(#[expect(dead_code, reason = "one answer fits all kinds")] Mismatch),
        }
        let mut tries = Tries::of(self, progress, "set input files");
        until_done!(tries, progress, {
            let element = tries.element().await?;
            match element.call("fileInput", json!({})).await? {
                Answer::Mismatch(_) => {
                    Err(self.mismatch("Node is not an HTMLInputElement of type \"file\""))
                }
                Answer::Input {
                    multiple: false,
                    directory: false,
                    ..
                } if count > 1 => {
                    Err(self.mismatch("Non-multiple file input can only accept single file"))
                }
                Answer::Input { input, .. } => {
                    let set = async {
                        match source {
                            Source::Paths(files) => {
                                let backend = &self.page.backend;
                                let set = backend.set_input_files(&element.frame, input, files);
                                self.page.unless_interrupted(set).await
                            }
                            Source::Contents(files) => {
                                let argument = json!({ "files": files });
                                element.call::<Value>("setFiles", argument).await.map(drop)
                            }
                        }
                    };
                    match set.await {
                        // Its change handler opened it.
                        Err(Error::DialogOpen {}) => Ok(()),
                        done => done,
                    }
                }
            }
        })
    }

    /// Drops files and data onto the element once it is visible and still, as a drag from outside the browser would.
    /// Fails with `ElementMismatch` if the page does not take the drop.
    pub async fn drop(&self, progress: &Progress, payload: &Payload) -> Result<()> {
        #[derive(Deserialize)]
        struct Answer {
            accepted: bool,
        }
        let files = read(&payload.files).await?;
        let data: serde_json::Map<String, Value> = payload
            .data
            .iter()
            .map(|(kind, value)| (kind.clone(), value.clone().into()))
            .collect();
        let mut tries = Tries::of(self, progress, "drop");
        until_done!(tries, progress, {
            let aim = Aim {
                needs: &[ActionabilityState::Visible, ActionabilityState::Stable],
                position: None,
                hit: false,
            };
            let (element, _) = tries.aim(aim).await?;
            tries.note("performing drop action");
            let argument = json!({ "files": files, "data": data });
            match element.call::<Answer>("dispatchDrop", argument).await {
                Ok(Answer { accepted: true }) | Err(Error::DialogOpen {}) => Ok(()),
                Ok(Answer { accepted: false }) => Err(self.mismatch(
                    "Drop target did not accept the drop — its dragover handler did not call preventDefault()",
                )),
                Err(error) => Err(error),
            }
        })
    }
}

/// Where the files of an input come from.
enum Source<'a> {
    Paths(&'a [PathBuf]),
    /// As the page takes them.
    Contents(Vec<Value>),
}

/// Fails with `File` unless all of them are there: a browser takes the name of a missing file without a word.
async fn check_readable(files: &[PathBuf]) -> Result<()> {
    for file in files {
        size(file).await?;
    }
    Ok(())
}

async fn read(files: &[PathBuf]) -> Result<Vec<Value>> {
    let files: Vec<_> = files.iter().cloned().map(InputFile::Path).collect();
    contents(&files).await
}

async fn contents(files: &[InputFile]) -> Result<Vec<Value>> {
    let mut left = MAX_DROP_SIZE;
    let mut read = Vec::new();
    for file in files {
        let file = match file {
            InputFile::Path(path) => path,
            InputFile::Inline {
                name,
                mime_type,
                bytes,
            } => {
                left = left
                    .checked_sub(bytes.len() as u64)
                    .ok_or_else(|| too_large_error(Path::new(name)))?;
                read.push(payload_json(name, mime_type, bytes));
                continue;
            }
        };
        let size = size(file).await?;
        left = left
            .checked_sub(size)
            .ok_or_else(|| too_large_error(file))?;
        let bytes = tokio::fs::read(file)
            .await
            .map_err(|error| unreadable_error(file, &error))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        read.push(payload_json(&name, media_type(file), &bytes));
    }
    Ok(read)
}

fn payload_json(name: &str, mime_type: &str, bytes: &[u8]) -> Value {
    json!({ "name": name, "type": mime_type, "bytes": BASE64_STANDARD.encode(bytes) })
}

fn too_large_error(file: &Path) -> Error {
    Error::File {
        path: file.display().to_string(),
        reason: "Cannot drop files larger than 50Mb in total; set them on a file input instead"
            .to_owned(),
    }
}

async fn size(file: &Path) -> Result<u64> {
    tokio::fs::metadata(file)
        .await
        .map(|facts| facts.len())
        .map_err(|error| unreadable_error(file, &error))
}

fn unreadable_error(file: &Path, error: &std::io::Error) -> Error {
    Error::File {
        path: file.display().to_string(),
        reason: format!("{}: {error}", file.display()),
    }
}

/// What a browser would call the file's type, by its extension.
fn media_type(file: &Path) -> &'static str {
    let extension = file.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str().unwrap_or_default() {
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "js" | "mjs" => "text/javascript",
        "xml" => "text/xml",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        _ => "application/octet-stream",
    }
}
