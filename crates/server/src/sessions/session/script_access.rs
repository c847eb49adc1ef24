//! The files, URLs and downloads that client code may use: those of the call that runs it.

use crate::error::Error;
use crate::files::FileAccess;
use crate::sessions::downloads::Downloads;
use async_trait::async_trait;
use engine::BrowserContext;
use script::Access;
use std::path::PathBuf;
use std::sync::Arc;

/// The name of file uploads by client code, for errors.
const UPLOAD: &str = "setInputFiles";

pub(super) struct ScriptAccess {
    files: FileAccess,
    downloads: Arc<Downloads>,
}

impl ScriptAccess {
    pub(super) fn new(files: FileAccess, downloads: Arc<Downloads>) -> Self {
        Self { files, downloads }
    }

    async fn write_file(&self, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let file = self.files.writable(name)?;
        self.files.write_bytes(&file, bytes).await
    }
}

fn message(error: Error) -> String {
    error.to_string()
}

#[async_trait]
impl Access for ScriptAccess {
    fn check_url(&self, url: &str) -> Result<(), String> {
        self.files.refuse_address(url).map_err(message)
    }

    fn check_screenshot(&self, bytes: &[u8]) -> Result<(), String> {
        self.files.refuse_large(bytes).map_err(message)
    }

    fn check_writable(&self, name: &str) -> Result<(), String> {
        self.files.writable(name).map(|_| ()).map_err(message)
    }

    async fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        self.files.read(name).await.map_err(message)
    }

    async fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), String> {
        self.write_file(name, bytes).await.map_err(message)
    }

    async fn upload(&self, name: &str) -> Result<PathBuf, String> {
        self.files.upload(name, UPLOAD).await.map_err(message)
    }

    async fn save_download(
        &self,
        context: &BrowserContext,
        number: u64,
        copy: Option<&str>,
    ) -> Result<Option<PathBuf>, String> {
        let path = self.downloads.path_of(context, number).await;
        if let (Some(copy), Some(from)) = (copy, &path) {
            let bytes = tokio::fs::read(from).await;
            let bytes = bytes.map_err(|error| message(Error::file(from, "open", &error)))?;
            self.write(copy, bytes).await?;
        }
        Ok(path)
    }
}
