//! Scripts in a page. <https://www.w3.org/TR/webdriver2/#executing-script>

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::command;

/// Runs the body of a function; a promise that it returns is awaited. <https://www.w3.org/TR/webdriver2/#execute-script>
#[derive(Debug, Clone, Serialize)]
pub struct ExecuteScript {
    pub script: String,
    pub args: Vec<Value>,
}
command!(ExecuteScript, "Execute Script", Post "execute/sync", Box<RawValue>);

/// The same, whose last argument is a function to be called with the answer. <https://www.w3.org/TR/webdriver2/#execute-async-script>
#[derive(Debug, Clone, Serialize)]
pub struct ExecuteAsyncScript {
    pub script: String,
    pub args: Vec<Value>,
}
command!(ExecuteAsyncScript, "Execute Async Script", Post "execute/async", Box<RawValue>);
