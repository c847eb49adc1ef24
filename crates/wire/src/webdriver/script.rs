//! Scripts in a page. <https://www.w3.org/TR/webdriver2/#executing-script>

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::command;

/// Runs the body of a function and awaits a promise that it returns. <https://www.w3.org/TR/webdriver2/#execute-script>
#[derive(Debug, Clone, Serialize)]
pub struct ExecuteScript {
    pub script: String,
    pub args: Vec<Value>,
}
command!(ExecuteScript, "Execute Script", Post "execute/sync", Box<RawValue>);
