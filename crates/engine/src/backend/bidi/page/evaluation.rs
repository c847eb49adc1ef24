//! JavaScript in a frame: the injected script in a sandbox, expressions of the caller in the main world.

use super::BidiPage;
use crate::backend::bidi::console::{self, plain};
use crate::backend::expression::function_around;
use crate::backend::{Evaluation, FrameId, Handle};
use crate::error::{Error, Result};
use crate::injected::{causes_event, core_of_firefox, json_of};
use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::future::try_join_all;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use task::compute_if_large;
use task::is_large;
use wire::bidi::script::{
    CallFunction, Evaluate, EvaluateEncoded, EvaluateResult, LocalValue, RemoteValue,
    SharedReference, Target,
};

/// The name of the sandbox of Playhouse.
pub(crate) const SANDBOX: &str = "playhouse";
/// The time without a response after which a call is repeated. Firefox loses commands to the previous document.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(1000);
/// Firefox's name of the error for a frame that was removed during the command.
const DISCARDED: &str = "DiscardedBrowsingContextError";
/// Firefox's internal message for a document that was replaced before the command began.
const REALM_IS_NULL: &str = "realm is null";
/// Calls a function of the injected script by name, if the document is the intended one.
const CALL: &str = "(document, name, argument) => globalThis.__playhouseDocument === document ? globalThis.__playhouseCore.call(name, JSON.parse(argument)) : null";
/// The functions that count as user input.
const INPUT: &[&str] = &["fill", "insertText"];
/// Returns the element of a handle.
const ELEMENT: &str = "(handle) => globalThis.__playhouseCore.element(handle)";

/// Returns the target for the sandbox of the current document of a frame.
pub(super) fn sandbox_target(frame: &FrameId) -> Target {
    Target {
        context: frame.as_str().to_owned(),
        sandbox: Some(SANDBOX),
    }
}

fn page_target(frame: &FrameId) -> Target {
    Target {
        context: frame.as_str().to_owned(),
        sandbox: None,
    }
}

#[async_trait]
impl Evaluation for BidiPage {
    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<String> {
        // `about` calls the function in `ask`.
        let called = argument.get("ask").and_then(Value::as_str);
        let by_user = INPUT.contains(&called.unwrap_or(function));
        let document = self.document_of(frame)?;
        let arguments = vec![
            LocalValue::number(document),
            LocalValue::string(function),
            LocalValue::string(argument.to_string()),
        ];
        let (realm, answer) = self
            .call_sandbox(frame, document, CALL, arguments, by_user)
            .await?;
        answer.decode().map(json_of).ok_or_else(|| {
            self.remove_realm(frame, &realm);
            Error::DocumentGone {}
        })
    }

    async fn inject_script(&self, frame: &FrameId, script: &str) -> Result<()> {
        let function = format!("() => {{ {script} }}");
        self.in_sandbox(frame, &function, vec![]).await.map(drop)
    }

    async fn evaluate(
        &self,
        frame: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>> {
        let element = match element {
            Some(handle) => Some(self.shared(frame, handle).await?),
            None => None,
        };
        let function = function_around("element", expression);
        self.call_main(frame, function, element.into_iter().collect())
            .await
    }

    async fn evaluate_all(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>> {
        let elements = elements.iter().map(|handle| self.shared(frame, *handle));
        let elements = try_join_all(elements).await?;
        let function = function_around("...elements", &format!("({function})(elements)"));
        self.call_main(frame, function, elements).await
    }

    async fn parses(&self, frame: &FrameId, script: &str) -> Result<bool> {
        // The script is placed in code that is never executed.
        let document = self.document_of(frame)?;
        let call = self.root().send(&Evaluate {
            expression: format!("if (false) {{\n{script}\n}}"),
            await_promise: false,
            target: sandbox_target(frame),
        });
        let answer = self.unless_navigated(frame, document, call).await?;
        Ok(answer.exception_details.is_none())
    }
}

impl BidiPage {
    /// Calls a function in the sandbox of a frame's document, in which the injected script is present.
    pub(super) async fn in_sandbox(
        &self,
        frame: &FrameId,
        function: &str,
        arguments: Vec<LocalValue>,
    ) -> Result<RemoteValue> {
        let document = self.document_of(frame)?;
        let (_, answer) = self
            .call_sandbox(frame, document, function, arguments, false)
            .await?;
        Ok(answer)
    }

    /// Calls a function in the sandbox of a frame. The target is the frame, not the realm: to find a realm, Firefox queries all windows and
    /// waits for busy ones. The response contains the realm that executed the call.
    async fn call_sandbox(
        &self,
        frame: &FrameId,
        document: u64,
        function: &str,
        arguments: Vec<LocalValue>,
        by_user: bool,
    ) -> Result<(Arc<str>, RemoteValue)> {
        let realm = self.realm(frame, document).await?;
        let call = self.root().send(&CallFunction {
            function_declaration: function.to_owned(),
            await_promise: true,
            target: sandbox_target(frame),
            arguments,
            user_activation: by_user.then_some(true),
            serialization_options: None,
        });
        let answer = tokio::select! {
            biased;
            answer = self.unless_navigated(frame, document, call) => answer,
            () = self.wait_until_replaced(frame, &realm) => Err(Error::DocumentGone {}),
        };
        let is_same_realm = match &answer {
            Ok(answer) => answer.realm == *realm,
            Err(Error::Protocol { .. }) => self.has_realm(frame, &realm).await == Some(true),
            Err(Error::DocumentGone {}) => false,
            Err(_) => true,
        };
        if !is_same_realm {
            self.remove_realm(frame, &realm);
            return Err(Error::DocumentGone {});
        }
        Ok((realm, script_result(answer?)?))
    }

    /// Returns the sandbox of a document after injecting the script.
    async fn realm(&self, frame: &FrameId, document: u64) -> Result<Arc<str>> {
        let realm = self.realm_of(frame, document)?;
        let made = realm.get_or_try_init(|| self.make_realm(frame, document));
        made.await.cloned()
    }

    async fn make_realm(&self, frame: &FrameId, document: u64) -> Result<Arc<str>> {
        let introduction = json!({ "frame": frame.as_str(), "meeting": self.discovery_event, "causes": causes_event() });
        let core = core_of_firefox(document, &introduction);
        let inject = || {
            self.root().send(&EvaluateEncoded {
                expression: &core,
                await_promise: false,
                target: sandbox_target(frame),
            })
        };
        let injected = async {
            let mut injections = FuturesUnordered::new();
            let mut interval = ANSWER_TIMEOUT;
            loop {
                injections.push(inject());
                tokio::select! {
                    biased;
                    Some(answer) = injections.next() => return answer,
                    () = tokio::time::sleep(interval) => interval *= 2,
                }
            }
        };
        let answer = match self.unless_navigated(frame, document, injected).await {
            // The frame was removed, or its document is being replaced.
            Err(Error::Protocol { .. }) => return Err(Error::DocumentGone {}),
            answer => answer?,
        };
        let realm = answer.realm.clone();
        script_result(answer)?;
        Ok(realm.into())
    }

    /// Returns when a frame has another sandbox than this one, which was that of the previous document. Firefox may not respond to commands
    /// that were sent to it.
    async fn wait_until_replaced(&self, frame: &FrameId, realm: &str) {
        let mut interval = ANSWER_TIMEOUT;
        loop {
            tokio::time::sleep(interval).await;
            if self.has_realm(frame, realm).await == Some(false) {
                return;
            }
            interval *= 2;
        }
    }

    /// Whether a frame has this sandbox; `None` without a response.
    async fn has_realm(&self, frame: &FrameId, realm: &str) -> Option<bool> {
        let call = self.root().send(&Evaluate {
            expression: "0".to_owned(),
            await_promise: false,
            target: sandbox_target(frame),
        });
        // Firefox can lose this command too.
        match tokio::time::timeout(ANSWER_TIMEOUT, call).await {
            Ok(Ok(answer)) => Some(answer.realm == *realm),
            _ => None,
        }
    }

    /// Waits for a response. Firefox sends none if the document is replaced.
    async fn unless_navigated<T>(
        &self,
        frame: &FrameId,
        document: u64,
        call: impl Future<Output = wire::Result<T>>,
    ) -> Result<T> {
        let replaced = self.document_replaced(frame, document);
        tokio::pin!(replaced);
        tokio::select! {
            biased;
            answer = call => match answer {
                Err(wire::Error::Refused { message, .. })
                    if message.starts_with(DISCARDED) || message.ends_with(REALM_IS_NULL) =>
                {
                    // The event of the navigation follows at once.
                    let replaced = tokio::time::timeout(ANSWER_TIMEOUT, replaced).await;
                    Err(replaced.unwrap_or(Error::DocumentGone {}))
                }
                answer => Ok(answer?),
            },
            replaced = &mut replaced => Err(replaced),
        }
    }

    async fn call_main(
        &self,
        frame: &FrameId,
        function: String,
        elements: Vec<SharedReference>,
    ) -> Result<Option<Value>> {
        let document = self.document_of(frame)?;
        let call = self.root().send(&CallFunction {
            function_declaration: function,
            await_promise: true,
            target: page_target(frame),
            arguments: elements.into_iter().map(LocalValue::Reference).collect(),
            user_activation: Some(true),
            serialization_options: None,
        });
        match self.unless_navigated(frame, document, call).await {
            Err(Error::Protocol { method, message }) => Err(match console::rejection(&message) {
                Some(message) => Error::Script { message },
                None => Error::Protocol { method, message },
            }),
            answer => returned(script_result(answer?)?).await,
        }
    }

    /// Returns a reference to the element of a handle, for all worlds of its document.
    pub(super) async fn shared(&self, frame: &FrameId, handle: Handle) -> Result<SharedReference> {
        let element = self
            .in_sandbox(frame, ELEMENT, vec![LocalValue::number(handle)])
            .await?;
        let shared_id = element.shared_id.ok_or(Error::DocumentGone {})?;
        Ok(SharedReference { shared_id })
    }
}

/// Parses the text that a function of `function_around` returned.
async fn returned(result: RemoteValue) -> Result<Option<Value>> {
    let is_large = result.value.as_ref().is_some_and(is_large);
    let read = move || match result.kind.as_str() {
        "string" => {
            let json: String = result.decode().unwrap_or_default();
            serde_json::from_str(&json)
                .map(Some)
                .map_err(|error| Error::protocol("script.callFunction", error))
        }
        "array" => Ok(match plain(&result) {
            Value::Array(list) => list.into_iter().next(),
            other => Some(other),
        }),
        _ => Ok(None),
    };
    compute_if_large(is_large, read).await
}

fn script_result(answer: EvaluateResult) -> Result<RemoteValue> {
    match answer.exception_details {
        None => Ok(answer.result),
        Some(details) => Err(Error::Script {
            message: console::exception(&details),
        }),
    }
}
