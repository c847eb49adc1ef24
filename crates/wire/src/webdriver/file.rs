//! Files on the machine of the browser. The command is not specified, but all grids support it.
//! <https://www.selenium.dev/documentation/webdriver/drivers/remote_webdriver/#uploads>

use serde::Serialize;

use super::command;

/// Uploads a file or folder and returns its path on the remote machine.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Upload {
    /// A ZIP archive with one entry, in Base64.
    pub file: String,
}
command!(Upload, "Upload File", Post "se/file", String);
