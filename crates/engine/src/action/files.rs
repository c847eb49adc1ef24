//! File uploads: into an input, into a file chooser, or dropped from outside the browser.

use super::aim::{ActionabilityState, Aim, HitTarget};
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

/// The payload of a drop onto an element.
#[derive(Debug, Clone, Default)]
pub struct Payload {
    /// Files, which are read for the drop; at most 50 MB in total.
    pub files: Vec<PathBuf>,
    /// Values by media type, e.g. `text/plain`.
    pub data: Vec<(String, String)>,
}

/// A file for an `<input type=file>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputFile {
    /// A file on the local disk.
    Path(PathBuf),
    /// A file in memory.
    Inline {
        /// The name.
        name: String,
        /// The media type.
        mime_type: String,
        /// The contents.
        bytes: Vec<u8>,
    },
}

/// A drop passes its files through the memory of the page.
const MAX_DROP_SIZE: u64 = 50 * 1024 * 1024;

const NOT_MULTIPLE: &str = "Non-multiple file input can only accept single file";

impl Page {
    /// Handles the open file chooser; `None` cancels it. It stays open after an error, for example for a missing file.
    pub async fn answer_file_chooser(
        &self,
        progress: &Progress,
        files: Option<&[PathBuf]>,
    ) -> Result<()> {
        let chooser = self.file_chooser();
        if chooser.is_some_and(|it| !it.multiple) && files.is_some_and(|files| files.len() > 1) {
            return Err(Error::ElementMismatch {
                selector: "input[type=file]".to_owned(),
                reason: NOT_MULTIPLE.to_owned(),
            });
        }
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
    /// Sets the files of an `<input type=file>`, or of the input of a label; none clears it. If one is in memory, all of them pass through
    /// the memory of the page, with at most 50 MB in total.
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

    /// Sets the files of an `<input type=file>`, or of the input of a label; none clears it.
    pub async fn set_input_files(&self, progress: &Progress, files: &[PathBuf]) -> Result<()> {
        check_readable(files).await?;
        let source = match files {
            // Browsers ignore an empty list of paths.
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
                } if count > 1 => Err(self.mismatch(NOT_MULTIPLE)),
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
                        // A change handler opened it.
                        Err(Error::DialogOpen {}) => Ok(()),
                        done => done,
                    }
                }
            }
        })
    }

    /// Drops files and data onto the element once it is visible and stable, as a drag from outside the browser. Fails with
    /// `ElementMismatch` if the page does not accept the drop.
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
                hit: HitTarget::Any,
            };
            let element = tries.aim(aim).await?.element;
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

/// The source of the files of an input.
enum Source<'a> {
    Paths(&'a [PathBuf]),
    /// The files in the format of the page function.
    Contents(Vec<Value>),
}

/// Fails with `File` unless all files exist: a browser accepts the path of a missing file silently.
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

/// Returns the media type that a browser derives from the extension.
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
