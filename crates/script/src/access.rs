//! Access of client code to files and URLs, in addition to its browser context.

use async_trait::async_trait;
use engine::BrowserContext;
use std::path::PathBuf;

/// Decides which files and URLs client code may use. Errors are sentences, which become the messages of JavaScript errors.
#[async_trait]
pub trait Access: Send + Sync {
    /// Returns an error for a URL that may not be opened.
    fn check_url(&self, url: &str) -> Result<(), String>;

    /// Returns an error for a screenshot that is too large.
    fn check_screenshot(&self, bytes: &[u8]) -> Result<(), String>;

    /// Returns an error for a file that may not be written.
    fn check_writable(&self, name: &str) -> Result<(), String>;

    /// Reads a file.
    async fn read(&self, name: &str) -> Result<Vec<u8>, String>;

    /// Writes a file.
    async fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), String>;

    /// Returns the path of a file that may be uploaded to a page.
    async fn upload(&self, name: &str) -> Result<PathBuf, String>;

    /// Returns the path of a finished download, and copies it to a file of the name `copy`. `None`: the file could not be kept.
    async fn save_download(
        &self,
        context: &BrowserContext,
        number: u64,
        copy: Option<&str>,
    ) -> Result<Option<PathBuf>, String>;
}
