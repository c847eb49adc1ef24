//! Sessions: the commands of a remote end, and their results. <https://www.w3.org/TR/webdriver2/#sessions>

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Done, command};

/// The status of a remote end. <https://www.w3.org/TR/webdriver2/#status>
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Whether it can create a session.
    pub ready: bool,
    /// An explanation of `ready`.
    pub message: String,
    /// All other members, such as the nodes of a grid.
    #[serde(flatten)]
    pub more: serde_json::Map<String, Value>,
}

/// A session that was created.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Created {
    /// The identifier of the session.
    pub session_id: String,
    /// The capabilities of the browser, including those of vendors.
    pub capabilities: Value,
}

/// Deletes the session and closes its browser. <https://www.w3.org/TR/webdriver2/#delete-session>
#[derive(Debug, Clone, Default, Serialize)]
pub struct Delete {}
command!(Delete, "Delete Session", Delete "", Done);

/// Returns the timeouts of the session. The command is cheap, because it does not reach the browser. <https://www.w3.org/TR/webdriver2/#get-timeouts>
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetTimeouts {}
command!(GetTimeouts, "Get Timeouts", Get "timeouts", Value);
