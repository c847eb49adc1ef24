//! The `script` module: running scripts in the realm of the page or in a sandbox.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::browser::UserContext;
use super::browsing_context::BrowsingContext;
use super::command;

/// The id of a realm. <https://w3c.github.io/webdriver-bidi/#type-script-Realm>
pub type Realm = String;

/// The target of a script. [`script.ContextTarget`](https://w3c.github.io/webdriver-bidi/#type-script-ContextTarget)
///
/// There is no `RealmTarget`: to find a realm, Firefox queries all of its windows, and waits for busy ones.
#[derive(Debug, Clone, Serialize)]
pub struct Target {
    pub context: BrowsingContext,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<&'static str>,
}

/// [`script.callFunction`](https://w3c.github.io/webdriver-bidi/#command-script-callFunction)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFunction {
    pub function_declaration: String,
    pub await_promise: bool,
    pub target: Target,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<LocalValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_activation: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serialization_options: Option<SerializationOptions>,
}
command!(CallFunction, "script.callFunction", EvaluateResult);

/// [`script.evaluate`](https://w3c.github.io/webdriver-bidi/#command-script-evaluate)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluate {
    pub expression: String,
    pub await_promise: bool,
    pub target: Target,
}
command!(Evaluate, "script.evaluate", EvaluateResult);

/// [`Evaluate`] with an expression that is serialized already.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluateEncoded<'a> {
    pub expression: &'a RawValue,
    pub await_promise: bool,
    pub target: Target,
}
command!(EvaluateEncoded<'_>, "script.evaluate", EvaluateResult);

/// [`script.SerializationOptions`](https://w3c.github.io/webdriver-bidi/#type-script-SerializationOptions)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SerializationOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_dom_depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_object_depth: Option<u32>,
}

/// [`script.LocalValue`](https://w3c.github.io/webdriver-bidi/#type-script-LocalValue)
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum LocalValue {
    String(StringValue),
    Number(NumberValue),
    Reference(SharedReference),
}

impl LocalValue {
    /// Creates a string.
    pub fn string(value: impl Into<String>) -> Self {
        Self::String(StringValue {
            kind: "string",
            value: value.into(),
        })
    }

    /// Creates an integer.
    pub fn number(value: u64) -> Self {
        Self::Number(NumberValue {
            kind: "number",
            value,
        })
    }
}

/// A string argument.
#[derive(Debug, Clone, Serialize)]
pub struct StringValue {
    #[serde(rename = "type")]
    kind: &'static str,
    value: String,
}

/// A number argument.
#[derive(Debug, Clone, Serialize)]
pub struct NumberValue {
    #[serde(rename = "type")]
    kind: &'static str,
    value: u64,
}

/// A reference to a node, valid in any realm of its document.
/// [`script.SharedReference`](https://w3c.github.io/webdriver-bidi/#type-script-RemoteReference)
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SharedReference {
    pub shared_id: String,
}

/// A value of a page. [`script.RemoteValue`](https://w3c.github.io/webdriver-bidi/#type-script-RemoteValue)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RemoteValue {
    /// `undefined`, `null`, `string`, `number`, `object`, `array`, `node`, `window`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// The contents, whose type depends on the kind.
    pub value: Option<Box<RawValue>>,
    /// The shared id of a node.
    pub shared_id: Option<String>,
}

impl RemoteValue {
    /// Returns the value as a `T`; `None` if it is missing or has another type.
    pub fn decode<T: DeserializeOwned>(&self) -> Option<T> {
        crate::json::decode("script.RemoteValue", self.value.as_deref()?).ok()
    }

    /// Returns the browsing context of a `window`.
    pub fn window(&self) -> Option<BrowsingContext> {
        #[derive(Deserialize)]
        struct Window {
            context: BrowsingContext,
        }
        (self.kind == "window").then(|| self.decode::<Window>().map(|window| window.context))?
    }
}

/// The result of a script. [`script.EvaluateResult`](https://w3c.github.io/webdriver-bidi/#type-script-EvaluateResult)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EvaluateResult {
    pub realm: Realm,
    pub result: RemoteValue,
    /// The exception, in which case there is no result.
    pub exception_details: Option<ExceptionDetails>,
}

/// [`script.ExceptionDetails`](https://w3c.github.io/webdriver-bidi/#type-script-ExceptionDetails)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExceptionDetails {
    pub text: String,
    pub exception: RemoteValue,
    pub line_number: u32,
    pub column_number: u32,
    pub stack_trace: StackTrace,
}

/// [`script.StackTrace`](https://w3c.github.io/webdriver-bidi/#type-script-StackTrace)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackTrace {
    pub call_frames: Vec<StackFrame>,
}

/// [`script.StackFrame`](https://w3c.github.io/webdriver-bidi/#type-script-StackFrame); lines and columns from 0.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackFrame {
    pub function_name: String,
    pub url: String,
    pub line_number: u32,
    pub column_number: u32,
}

/// [`script.getRealms`](https://w3c.github.io/webdriver-bidi/#command-script-getRealms)
#[derive(Debug, Clone, Serialize)]
pub struct GetRealms {
    pub context: BrowsingContext,
}
command!(GetRealms, "script.getRealms", GetRealmsResult);

/// The result of [`GetRealms`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct GetRealmsResult {
    pub realms: Vec<RealmInfo>,
}

/// [`script.RealmInfo`](https://w3c.github.io/webdriver-bidi/#type-script-RealmInfo)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct RealmInfo {
    pub realm: Realm,
    /// The origin. For a worker, Firefox gives the URL of its script.
    pub origin: String,
    /// `window`, `dedicated-worker`, `shared-worker`, `service-worker`, …
    #[serde(rename = "type")]
    pub kind: String,
}

/// [`script.Source`](https://w3c.github.io/webdriver-bidi/#type-script-Source)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct SourceInfo {
    pub realm: Realm,
    pub context: Option<BrowsingContext>,
}

/// [`script.addPreloadScript`](https://w3c.github.io/webdriver-bidi/#command-script-addPreloadScript)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddPreloadScript {
    pub function_declaration: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contexts: Option<Vec<BrowsingContext>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_contexts: Option<Vec<UserContext>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<&'static str>,
}
command!(
    AddPreloadScript,
    "script.addPreloadScript",
    AddPreloadScriptResult
);

/// The result of [`AddPreloadScript`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct AddPreloadScriptResult {
    pub script: String,
}
