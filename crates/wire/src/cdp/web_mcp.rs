//! The `WebMCP` domain: tools that documents register.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::page::FrameId;
use super::runtime::RemoteObject;
use super::{Empty, command, event};

/// [`WebMCP.enable`](https://chromedevtools.github.io/devtools-protocol/tot/WebMCP/#method-enable)
#[derive(Debug, Clone, Serialize)]
pub struct Enable {}
command!(Enable, "WebMCP.enable", Empty);

/// Starts a tool, whose end is reported by [`ToolResponded`].
/// [`WebMCP.invokeTool`](https://chromedevtools.github.io/devtools-protocol/tot/WebMCP/#method-invokeTool)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InvokeTool {
    pub frame_id: FrameId,
    pub tool_name: String,
    pub input: Value,
}
command!(InvokeTool, "WebMCP.invokeTool", ToolInvocation);

/// The response to [`InvokeTool`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolInvocation {
    pub invocation_id: String,
}

/// [`WebMCP.cancelInvocation`](https://chromedevtools.github.io/devtools-protocol/tot/WebMCP/#method-cancelInvocation)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelInvocation {
    pub invocation_id: String,
}
command!(CancelInvocation, "WebMCP.cancelInvocation", Empty);

/// [`WebMCP.InvocationStatus`](https://chromedevtools.github.io/devtools-protocol/tot/WebMCP/#type-InvocationStatus)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum InvocationStatus {
    Completed,
    Canceled,
    Error,
    #[default]
    #[serde(other)]
    Unknown,
}

/// [`WebMCP.toolResponded`](https://chromedevtools.github.io/devtools-protocol/tot/WebMCP/#event-toolResponded)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolResponded {
    pub invocation_id: String,
    pub status: InvocationStatus,
    pub output: Option<Box<RawValue>>,
    pub error_text: Option<String>,
    pub exception: Option<RemoteObject>,
}
event!(ToolResponded, "WebMCP.toolResponded");
