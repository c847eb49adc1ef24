//! Running JavaScript in a frame: our own code in a sandbox, the caller's in the page's world.

use super::BidiPage;
use crate::backend::bidi::console::{self, plain};
use crate::backend::expression::function_around;
use crate::backend::{Evaluation, FrameId, Handle};
use crate::error::{Error, Result};
use crate::injected::{core_of_firefox, json_of};
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

/// The name of our sandboxes.
pub(super) const SANDBOX: &str = "playhouse";
/// How long a document may be silent before it is asked again: what Firefox hands to the one before it is lost.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(1000);
/// What Firefox says of a frame that went while it was asked.
const DISCARDED: &str = "DiscardedBrowsingContextError";
/// The same of a document, in the words of its own program: what was asked has not begun.
const REALM_IS_NULL: &str = "realm is null";
/// Calls a function of the core by its name, in the document that is meant only.
const CALL: &str = "(document, name, argument) => globalThis.__playhouseDocument === document ? globalThis.__playhouseCore.call(name, JSON.parse(argument)) : null";
/// Those of its functions that are a user's input to the page.
const INPUT: &[&str] = &["fill"];
/// The element of a handle.
const HELD: &str = "(handle) => globalThis.__playhouseCore.element(handle)";

/// Our sandbox of whatever document a frame shows.
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
        // `about` calls another one.
        let asked = argument.get("ask").and_then(Value::as_str);
        let by_user = INPUT.contains(&asked.unwrap_or(function));
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
        // The script stands where nothing gets to.
        let document = self.document_of(frame)?;
        let asked = self.root().send(&Evaluate {
            expression: format!("if (false) {{\n{script}\n}}"),
            await_promise: false,
            target: sandbox_target(frame),
        });
        let answer = self.unless_navigated(frame, document, asked).await?;
        Ok(answer.exception_details.is_none())
    }
}

impl BidiPage {
    /// Runs a function in our sandbox of the frame's document; the core is there by then.
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

    /// The frame is asked, not the sandbox by its name: to find that one, Firefox asks every window that it has, and waits for those that
    /// are busy. Which one has answered is seen by the answer.
    async fn call_sandbox(
        &self,
        frame: &FrameId,
        document: u64,
        function: &str,
        arguments: Vec<LocalValue>,
        by_user: bool,
    ) -> Result<(Arc<str>, RemoteValue)> {
        let realm = self.realm(frame, document).await?;
        let asked = self.root().send(&CallFunction {
            function_declaration: function.to_owned(),
            await_promise: true,
            target: sandbox_target(frame),
            arguments,
            user_activation: by_user.then_some(true),
            serialization_options: None,
        });
        let answer = tokio::select! {
            biased;
            answer = self.unless_navigated(frame, document, asked) => answer,
            () = self.wait_until_replaced(frame, &realm) => Err(Error::DocumentGone {}),
        };
        let is_ours = match &answer {
            Ok(answer) => answer.realm == *realm,
            Err(Error::Protocol { .. }) => self.has_realm(frame, &realm).await == Some(true),
            Err(Error::DocumentGone {}) => false,
            Err(_) => true,
        };
        if !is_ours {
            self.remove_realm(frame, &realm);
            return Err(Error::DocumentGone {});
        }
        Ok((realm, script_result(answer?)?))
    }

    /// The sandbox of a document, with the core in it.
    async fn realm(&self, frame: &FrameId, document: u64) -> Result<Arc<str>> {
        let realm = self.realm_of(frame, document)?;
        let made = realm.get_or_try_init(|| self.make_realm(frame, document));
        made.await.cloned()
    }

    async fn make_realm(&self, frame: &FrameId, document: u64) -> Result<Arc<str>> {
        let who = json!({ "frame": frame.as_str(), "meeting": self.meeting });
        let core = core_of_firefox(document, &who);
        let inject = || {
            self.root().send(&EvaluateEncoded {
                expression: &core,
                await_promise: false,
                target: sandbox_target(frame),
            })
        };
        let injected = async {
            let mut asked = FuturesUnordered::new();
            let mut interval = ANSWER_TIMEOUT;
            loop {
                asked.push(inject());
                tokio::select! {
                    biased;
                    Some(answer) = asked.next() => return answer,
                    () = tokio::time::sleep(interval) => interval *= 2,
                }
            }
        };
        let answer = match self.unless_navigated(frame, document, injected).await {
            // The frame went, or its document is about to.
            Err(Error::Protocol { .. }) => return Err(Error::DocumentGone {}),
            answer => answer?,
        };
        let realm = answer.realm.clone();
        script_result(answer)?;
        Ok(realm.into())
    }

    /// Returns once a frame has another sandbox of ours than this one: it was that of the document before, and Firefox may answer nothing
    /// that was asked there.
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

    /// Whether a frame has this sandbox of ours; `None` where it does not say.
    async fn has_realm(&self, frame: &FrameId, realm: &str) -> Option<bool> {
        let asked = self.root().send(&Evaluate {
            expression: "0".to_owned(),
            await_promise: false,
            target: sandbox_target(frame),
        });
        // What is asked here may be lost too.
        match tokio::time::timeout(ANSWER_TIMEOUT, asked).await {
            Ok(Ok(answer)) => Some(answer.realm == *realm),
            _ => None,
        }
    }

    /// Waits for an answer; Firefox gives none once the document that was asked has gone.
    async fn unless_navigated<T>(
        &self,
        frame: &FrameId,
        document: u64,
        asked: impl Future<Output = wire::Result<T>>,
    ) -> Result<T> {
        let left = self.document_replaced(frame, document);
        tokio::pin!(left);
        tokio::select! {
            biased;
            answer = asked => match answer {
                Err(wire::Error::Refused { message, .. })
                    if message.starts_with(DISCARDED) || message.ends_with(REALM_IS_NULL) =>
                {
                    // It is told of right after.
                    let left = tokio::time::timeout(ANSWER_TIMEOUT, left).await;
                    Err(left.unwrap_or(Error::DocumentGone {}))
                }
                answer => Ok(answer?),
            },
            left = &mut left => Err(left),
        }
    }

    async fn call_main(
        &self,
        frame: &FrameId,
        function: String,
        elements: Vec<SharedReference>,
    ) -> Result<Option<Value>> {
        let document = self.document_of(frame)?;
        let asked = self.root().send(&CallFunction {
            function_declaration: function,
            await_promise: true,
            target: page_target(frame),
            arguments: elements.into_iter().map(LocalValue::Reference).collect(),
            user_activation: Some(true),
            serialization_options: None,
        });
        match self.unless_navigated(frame, document, asked).await {
            Err(Error::Protocol { method, message }) => Err(match console::rejection(&message) {
                Some(message) => Error::Script { message },
                None => Error::Protocol { method, message },
            }),
            answer => returned(script_result(answer?)?).await,
        }
    }

    /// The element of a handle, for any world of its document.
    pub(super) async fn shared(&self, frame: &FrameId, handle: Handle) -> Result<SharedReference> {
        let held = self
            .in_sandbox(frame, HELD, vec![LocalValue::number(handle)])
            .await?;
        let shared_id = held.shared_id.ok_or(Error::DocumentGone {})?;
        Ok(SharedReference { shared_id })
    }
}

/// What the text that such a function returns stands for.
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
