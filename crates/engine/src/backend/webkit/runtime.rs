//! Functions that run in documents, with the `Runtime` domain of the inspector. A dialog delays their results and does not interrupt them.

use super::targets::Targets;
use crate::error::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

/// The browser's errors for an execution context whose document is gone.
const GONE: [&str; 3] = [
    "Missing injected script",
    "Could not find",
    "Execution context",
];

/// [`Runtime.evaluate`](https://github.com/WebKit/WebKit/blob/main/Source/JavaScriptCore/inspector/protocol/Runtime.json)
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated {
    result: RemoteObject,
    #[serde(default)]
    was_thrown: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RemoteObject {
    value: Value,
    description: String,
    object_id: String,
}

impl Targets {
    /// Returns the identifier of the global object in an execution context; without one, in that of the main frame.
    pub(super) async fn global(&self, window: &str, context: Option<u64>) -> Result<String> {
        let mut params = json!({ "expression": "globalThis" });
        if let Some(context) = context {
            params["contextId"] = context.into();
        }
        let global = self.evaluate(window, "Runtime.evaluate", &params).await?;
        Ok(global.object_id)
    }

    /// Calls a function with a global object as `this`, and returns its result; the promises of asynchronous functions are awaited. With
    /// `by_user`, the function has user activation.
    ///
    /// # Errors
    /// [`Error::Script`] if it throws, [`Error::DocumentGone`] if the document of the global object is gone before the call. If it is gone
    /// later, there is no answer.
    pub(super) async fn call_function(
        &self,
        window: &str,
        global: &str,
        function: &str,
        arguments: &[Value],
        by_user: bool,
    ) -> Result<Value> {
        let arguments = arguments.iter().map(|value| json!({ "value": value }));
        let params = json!({
            "objectId": global,
            "functionDeclaration": function,
            "arguments": arguments.collect::<Vec<_>>(),
            "returnByValue": true,
            "awaitPromise": true,
            "emulateUserGesture": by_user,
        });
        let result = self.evaluate(window, "Runtime.callFunctionOn", &params);
        Ok(result.await?.value)
    }

    /// Calls a function in the document of a window's main frame.
    pub(super) async fn run(
        &self,
        window: &str,
        function: &str,
        arguments: &[Value],
    ) -> Result<Value> {
        let global = self.global(window, None).await?;
        self.call_function(window, &global, function, arguments, false)
            .await
    }

    async fn evaluate(
        &self,
        window: &str,
        method: &'static str,
        params: &Value,
    ) -> Result<RemoteObject> {
        match self.call::<Evaluated>(window, method, params).await {
            Ok(Evaluated {
                result,
                was_thrown: false,
            }) => Ok(result),
            Ok(Evaluated { result, .. }) => Err(Error::Script {
                message: match result.value {
                    Value::String(text) => text,
                    _ => result.description,
                },
            }),
            Err(Error::Protocol { message, .. })
                if GONE.iter().any(|gone| message.starts_with(gone)) =>
            {
                Err(Error::DocumentGone {})
            }
            Err(error) => Err(error),
        }
    }
}
