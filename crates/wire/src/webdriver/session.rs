//! Sessions: what a remote end is asked for, and what it gives. <https://www.w3.org/TR/webdriver2/#sessions>

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Done, command};

/// What a remote end says of itself. <https://www.w3.org/TR/webdriver2/#status>
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Whether it takes another session.
    pub ready: bool,
    /// Why, or why not.
    pub message: String,
    /// Everything else, such as the nodes of a grid.
    #[serde(flatten)]
    pub more: serde_json::Map<String, Value>,
}

/// A session that was made.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Created {
    /// Its name.
    pub session_id: String,
    /// What the browser is and can do, vendors' own words included.
    pub capabilities: Value,
}

/// Ends the session, and its browser. <https://www.w3.org/TR/webdriver2/#delete-session>
#[derive(Debug, Clone, Default, Serialize)]
pub struct Delete {}
command!(Delete, "Delete Session", Delete "", Done);

/// How long the driver waits, in milliseconds; `script: null` is for ever. <https://www.w3.org/TR/webdriver2/#set-timeouts>
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetTimeouts {
    pub script: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_load: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implicit: Option<u64>,
}
command!(SetTimeouts, "Set Timeouts", Post "timeouts", Done);

/// How long the driver waits: the cheapest of all commands, which asks no browser. <https://www.w3.org/TR/webdriver2/#get-timeouts>
#[derive(Debug, Clone, Default, Serialize)]
pub struct GetTimeouts {}
command!(GetTimeouts, "Get Timeouts", Get "timeouts", Value);
