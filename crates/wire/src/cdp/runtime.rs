//! The `Runtime` domain: running JavaScript, and its messages and exceptions.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Command, Empty, command, event};

/// [`Runtime.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Enable {}
command!(Enable, "Runtime.enable", Empty);

/// Runs an expression in an execution context; by default, in the default context of the main frame.
/// [`Runtime.evaluate`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-evaluate)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluate {
    pub expression: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<String>,
    #[serde(
        rename = "includeCommandLineAPI",
        skip_serializing_if = "Option::is_none"
    )]
    pub include_command_line_api: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<ExecutionContextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_by_value: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate_preview: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_gesture: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub await_promise: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throw_on_side_effect: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<TimeDelta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_breaks: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repl_mode: Option<bool>,
    #[serde(
        rename = "allowUnsafeEvalBlockedByCSP",
        skip_serializing_if = "Option::is_none"
    )]
    pub allow_unsafe_eval_blocked_by_csp: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_context_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serialization_options: Option<SerializationOptions>,
}
command!(Evaluate, "Runtime.evaluate", EvaluateResponse);

/// [`Evaluate`] with an expression that is encoded already: a long one that is sent often.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluateEncoded<'a> {
    /// A string.
    pub expression: &'a RawValue,
    pub unique_context_id: &'a str,
    pub silent: bool,
}

impl Command for EvaluateEncoded<'_> {
    const PROTOCOL: &'static str = super::PROTOCOL;
    const METHOD: &'static str = Evaluate::METHOD;
    type Response = EvaluateResponse;
}

/// The result of [`Evaluate`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EvaluateResponse {
    pub result: RemoteObject,
    pub exception_details: Option<ExceptionDetails>,
}

/// Compiles a script without running it.
/// [`Runtime.compileScript`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-compileScript)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompileScript {
    pub expression: String,
    #[serde(rename = "sourceURL")]
    pub source_url: String,
    pub persist_script: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context_id: Option<ExecutionContextId>,
}
command!(
    CompileScript,
    "Runtime.compileScript",
    CompileScriptResponse
);

/// The result of [`CompileScript`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompileScriptResponse {
    pub exception_details: Option<ExceptionDetails>,
}

/// Calls a function with an object as `this`, or in an execution context.
/// [`Runtime.callFunctionOn`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-callFunctionOn)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFunctionOn {
    pub function_declaration: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<RemoteObjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<CallArgument>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_by_value: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate_preview: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_gesture: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub await_promise: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context_id: Option<ExecutionContextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throw_on_side_effect: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_context_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serialization_options: Option<SerializationOptions>,
}
command!(
    CallFunctionOn,
    "Runtime.callFunctionOn",
    CallFunctionOnResponse
);

/// The result of [`CallFunctionOn`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallFunctionOnResponse {
    pub result: RemoteObject,
    pub exception_details: Option<ExceptionDetails>,
}

/// [`Runtime.releaseObject`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-releaseObject)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseObject {
    pub object_id: RemoteObjectId,
}
command!(ReleaseObject, "Runtime.releaseObject", Empty);

/// Releases all handles of this `object_group`.
/// [`Runtime.releaseObjectGroup`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-releaseObjectGroup)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseObjectGroup {
    pub object_group: String,
}
command!(ReleaseObjectGroup, "Runtime.releaseObjectGroup", Empty);

/// Resumes a target that was attached with `wait_for_debugger_on_start`.
/// [`Runtime.runIfWaitingForDebugger`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-runIfWaitingForDebugger)
#[derive(Debug, Clone, Default, Serialize)]
pub struct RunIfWaitingForDebugger {}
command!(
    RunIfWaitingForDebugger,
    "Runtime.runIfWaitingForDebugger",
    Empty
);

/// [`Runtime.terminateExecution`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#method-terminateExecution)
#[derive(Debug, Clone, Default, Serialize)]
pub struct TerminateExecution {}
command!(TerminateExecution, "Runtime.terminateExecution", Empty);

/// [`Runtime.executionContextCreated`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#event-executionContextCreated)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExecutionContextCreated {
    pub context: ExecutionContextDescription,
}
event!(ExecutionContextCreated, "Runtime.executionContextCreated");

/// [`Runtime.executionContextDestroyed`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#event-executionContextDestroyed)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExecutionContextDestroyed {
    pub execution_context_id: ExecutionContextId,
    pub execution_context_unique_id: String,
}
event!(
    ExecutionContextDestroyed,
    "Runtime.executionContextDestroyed"
);

/// All execution contexts of the session's frames were destroyed.
/// [`Runtime.executionContextsCleared`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#event-executionContextsCleared)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ExecutionContextsCleared {}
event!(ExecutionContextsCleared, "Runtime.executionContextsCleared");

/// [`Runtime.consoleAPICalled`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#event-consoleAPICalled)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConsoleAPICalled {
    #[serde(rename = "type")]
    pub kind: ConsoleMessageType,
    pub args: Vec<RemoteObject>,
    pub execution_context_id: ExecutionContextId,
    pub timestamp: Timestamp,
    pub stack_trace: Option<StackTrace>,
    pub context: Option<String>,
}
event!(ConsoleAPICalled, "Runtime.consoleAPICalled");

/// [`Runtime.exceptionThrown`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#event-exceptionThrown)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExceptionThrown {
    pub timestamp: Timestamp,
    pub exception_details: ExceptionDetails,
}
event!(ExceptionThrown, "Runtime.exceptionThrown");

/// [`Runtime.ScriptId`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-ScriptId)
pub type ScriptId = String;

/// [`Runtime.SerializationOptions`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-SerializationOptions)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SerializationOptions {
    pub serialization: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_parameters: Option<Value>,
}

/// [`Runtime.RemoteObjectId`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-RemoteObjectId)
pub type RemoteObjectId = String;

/// [`Runtime.UnserializableValue`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-UnserializableValue)
pub type UnserializableValue = String;

/// A JavaScript value, by handle, by value, or as a description.
/// [`Runtime.RemoteObject`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-RemoteObject)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RemoteObject {
    #[serde(rename = "type")]
    pub kind: String,
    pub subtype: Option<String>,
    pub class_name: Option<String>,
    pub value: Option<Box<RawValue>>,
    pub unserializable_value: Option<UnserializableValue>,
    pub description: Option<String>,
    pub object_id: Option<RemoteObjectId>,
    pub preview: Option<ObjectPreview>,
}

impl RemoteObject {
    /// Returns the value that was requested with `returnByValue`, as a `T`; `undefined` is parsed as `null`.
    pub fn decode<T: DeserializeOwned>(&self) -> crate::Result<T> {
        let value = self.value.as_deref().unwrap_or(RawValue::NULL);
        crate::json::decode("Runtime.RemoteObject", value)
    }
}

/// [`Runtime.ObjectPreview`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-ObjectPreview)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectPreview {
    #[serde(rename = "type")]
    pub kind: String,
    pub subtype: Option<String>,
    pub description: Option<String>,
    pub overflow: bool,
    pub properties: Vec<PropertyPreview>,
    pub entries: Option<Vec<EntryPreview>>,
}

/// [`Runtime.PropertyPreview`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-PropertyPreview)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PropertyPreview {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub value: Option<String>,
    pub value_preview: Option<ObjectPreview>,
    pub subtype: Option<String>,
}

/// [`Runtime.EntryPreview`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-EntryPreview)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EntryPreview {
    pub key: Option<ObjectPreview>,
    pub value: ObjectPreview,
}

/// One of `value`, `unserializable_value` and `object_id`; none means `undefined`.
/// [`Runtime.CallArgument`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-CallArgument)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallArgument {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unserializable_value: Option<UnserializableValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<RemoteObjectId>,
}

/// [`Runtime.ExecutionContextId`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-ExecutionContextId)
pub type ExecutionContextId = i64;

/// [`Runtime.ExecutionContextDescription`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-ExecutionContextDescription)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExecutionContextDescription {
    pub id: ExecutionContextId,
    pub origin: String,
    pub name: String,
    pub unique_id: String,
    pub aux_data: Option<ContextOrigin>,
}

/// Lines and columns are counted from 0.
/// [`Runtime.ExceptionDetails`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-ExceptionDetails)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExceptionDetails {
    pub exception_id: i64,
    pub text: String,
    pub line_number: i64,
    pub column_number: i64,
    pub script_id: Option<ScriptId>,
    pub url: Option<String>,
    pub stack_trace: Option<StackTrace>,
    pub exception: Option<RemoteObject>,
    pub execution_context_id: Option<ExecutionContextId>,
    pub exception_meta_data: Option<Value>,
}

/// A time, in milliseconds since 1970.
/// [`Runtime.Timestamp`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-Timestamp)
pub type Timestamp = f64;

/// A duration, in milliseconds.
/// [`Runtime.TimeDelta`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-TimeDelta)
pub type TimeDelta = f64;

/// Lines and columns are counted from 0.
/// [`Runtime.CallFrame`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-CallFrame)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallFrame {
    pub function_name: String,
    pub script_id: ScriptId,
    pub url: String,
    pub line_number: i64,
    pub column_number: i64,
}

/// [`Runtime.StackTrace`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-StackTrace)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackTrace {
    pub description: Option<String>,
    pub call_frames: Vec<CallFrame>,
    pub parent: Option<Box<StackTrace>>,
    pub parent_id: Option<StackTraceId>,
}

/// [`Runtime.UniqueDebuggerId`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-UniqueDebuggerId)
pub type UniqueDebuggerId = String;

/// [`Runtime.StackTraceId`](https://chromedevtools.github.io/devtools-protocol/tot/Runtime/#type-StackTraceId)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackTraceId {
    pub id: String,
    pub debugger_id: Option<UniqueDebuggerId>,
}

/// The values of `type` in `Runtime.consoleAPICalled`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConsoleMessageType {
    #[default]
    Log,
    Debug,
    Info,
    Error,
    Warning,
    Dir,
    Dirxml,
    Table,
    Trace,
    Clear,
    StartGroup,
    StartGroupCollapsed,
    EndGroup,
    Assert,
    Profile,
    ProfileEnd,
    Count,
    TimeEnd,
    /// An unknown value.
    #[serde(other)]
    Unknown,
}

/// The frame of an execution context: the `auxData` of Chromium's pages.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContextOrigin {
    /// Whether it is the default context of the page.
    pub is_default: bool,
    /// `default`, `isolated` or `worker`.
    #[serde(rename = "type")]
    pub kind: String,
    pub frame_id: Option<String>,
}
