//! Files on the machine of the browser: no part of the specification, but known to every grid.
//! <https://www.selenium.dev/documentation/webdriver/drivers/remote_webdriver/#uploads>

use serde::Serialize;

use super::command;

/// Brings a file or folder there, and gives its path.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Upload {
    /// A ZIP archive with that one entry, in Base64.
    pub file: String,
}
command!(Upload, "Upload File", Post "se/file", String);
