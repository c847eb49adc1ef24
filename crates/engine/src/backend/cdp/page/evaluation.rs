//! JavaScript in a frame: the injected script in an isolated world, expressions of the caller in the main world.

use super::CdpPage;
use super::worlds::{WORLD, World, Worlds};
use crate::backend::cdp::console;
use crate::backend::expression::function_around;
use crate::backend::{Evaluation, FrameId, Handle};
use crate::error::{Error, Result};
use crate::injected::{causes_event, core, json_of};
use async_trait::async_trait;
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use task::compute_if_large;
use task::is_large;
use wire::cdp::{dom, page, runtime};
use wire::{Reply, Session};

/// The longest time until a new document reports its execution context.
const WORLD_TIMEOUT: Duration = Duration::from_secs(2);
/// Calls a function of the injected script by name.
const CALL: &str =
    "function(name, argument) { return globalThis.__playhouseCore.call(name, argument); }";
/// The functions that count as user input, after which a page may open windows and beforeunload dialogs.
const INPUT: &[&str] = &["fill"];
/// Returns the element of a handle.
const ELEMENT: &str = "function(handle) { return globalThis.__playhouseCore.element(handle); }";
/// Returns the handle of an element, or of the element that contains a text.
const HANDLE: &str = "function(node) { return globalThis.__playhouseCore.handle(node.nodeType === 1 ? node : node.parentElement); }";

#[async_trait]
impl Evaluation for CdpPage {
    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<String> {
        // `about` calls the function in `ask`.
        let called = argument.get("ask").and_then(Value::as_str);
        let call = runtime::CallFunctionOn {
            function_declaration: CALL.to_owned(),
            arguments: Some(vec![value(json!(function)), value(argument.clone())]),
            return_by_value: Some(true),
            await_promise: Some(true),
            user_gesture: Some(INPUT.contains(&called.unwrap_or(function))),
            ..Default::default()
        };
        Ok(json_of(self.in_isolated(frame, call).await?.decode()?))
    }

    async fn update_listeners(&self, frames: &[FrameId]) -> Result<()> {
        Self::update_listeners(self, frames).await
    }

    async fn find_closed_roots(&self, frame: &FrameId, hosts: &[Handle]) -> Result<bool> {
        Self::find_closed_roots(self, frame, hosts).await
    }

    async fn call_document_tool(
        &self,
        frame: &FrameId,
        name: &str,
        arguments: &Value,
    ) -> Result<Option<String>> {
        self.invoke_document_tool(frame, name, arguments).await
    }

    async fn inject_script(&self, frame: &FrameId, script: &str) -> Result<()> {
        let call = runtime::CallFunctionOn {
            function_declaration: format!("function() {{ {script} }}"),
            ..Default::default()
        };
        self.in_isolated(frame, call).await.map(drop)
    }

    // Injects into the worlds of the main frame's process that lack the script.
    fn prepare_frames(&self) {
        let Some(session) = self.session.id() else {
            return;
        };
        let claimed = self.worlds().take_uninjected(session);
        for (frame, world) in claimed {
            // The result is not needed: no command is sent to a world that does not exist any more.
            drop(self.inject(&frame, &world));
        }
    }

    async fn evaluate(
        &self,
        frame: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>> {
        let world = self.main_world(frame).await?;
        let session = self.session_of(&world.session);
        let mut call = runtime::CallFunctionOn {
            function_declaration: function_around("element", expression),
            return_by_value: Some(true),
            await_promise: Some(true),
            user_gesture: Some(true),
            ..Default::default()
        };
        let element = match element {
            Some(handle) => Some(self.element_in(frame, handle, &world).await?),
            None => None,
        };
        match &element {
            Some(element) => {
                call.arguments = Some(vec![object(element.id())]);
                call.object_id = Some(element.id());
            }
            None => call.unique_context_id = Some(world.unique.to_string()),
        }
        let answer = self
            .map_context_gone(&world, session.call(&call).await)
            .await?;
        exception_error(answer.exception_details)?;
        returned(answer.result).await
    }

    async fn parses(&self, frame: &FrameId, script: &str) -> Result<bool> {
        let world = self.main_world(frame).await?;
        let read = runtime::CompileScript {
            expression: script.to_owned(),
            execution_context_id: Some(world.id),
            ..Default::default()
        };
        let answer = self.session_of(&world.session).call(&read).await;
        let answer = self.map_context_gone(&world, answer).await?;
        Ok(answer.exception_details.is_none())
    }

    async fn evaluate_all(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>> {
        let world = self.main_world(frame).await?;
        let session = self.session_of(&world.session);
        let elements = elements
            .iter()
            .map(|handle| self.element_in(frame, *handle, &world));
        let elements = try_join_all(elements).await?;
        let call = runtime::CallFunctionOn {
            function_declaration: function_around(
                "...elements",
                &format!("({function})(elements)"),
            ),
            arguments: Some(
                elements
                    .iter()
                    .map(|element| object(element.id()))
                    .collect(),
            ),
            unique_context_id: Some(world.unique.to_string()),
            return_by_value: Some(true),
            await_promise: Some(true),
            user_gesture: Some(true),
            ..Default::default()
        };
        let answer = self
            .map_context_gone(&world, session.call(&call).await)
            .await?;
        exception_error(answer.exception_details)?;
        returned(answer.result).await
    }
}

impl CdpPage {
    /// Calls a function in the isolated world of a frame, in which the injected script is present.
    pub(super) async fn in_isolated(
        &self,
        frame: &FrameId,
        mut call: runtime::CallFunctionOn,
    ) -> Result<runtime::RemoteObject> {
        let world = self.isolated_world(frame).await?;
        let session = self.session_of(&world.session);
        call.unique_context_id = Some(world.unique.to_string());
        // Both commands are sent in one write, so that the script is present before the call.
        let injection = (!world.injected).then(|| {
            self.worlds().injected(frame, &world);
            self.inject(frame, &world)
        });
        let answer = session.send(&call);
        if let Some(injection) = injection {
            let injected = self.map_context_gone(&world, injection.await).await?;
            exception_error(injected.exception_details)?;
        }
        let answer = self.map_context_gone(&world, answer.await).await?;
        exception_error(answer.exception_details)?;
        Ok(answer.result)
    }

    /// Injects the script. All documents get the same source, so that the browser compiles it once in each process.
    fn inject(&self, frame: &FrameId, world: &World) -> Reply<runtime::EvaluateResponse> {
        let session = self.session_of(&world.session);
        let core = session.send(&runtime::EvaluateEncoded {
            expression: core(),
            unique_context_id: &world.unique,
            silent: true,
        });
        // Scripts of other documents read from the injected script which frame it is in.
        session.post(&runtime::Evaluate {
            expression: format!(
                "__playhouseCore.introduce({})",
                json!({ "frame": frame.as_str(), "causes": causes_event() })
            ),
            unique_context_id: Some(world.unique.to_string()),
            silent: Some(true),
            ..Default::default()
        });
        core
    }

    /// Returns the element as an object of another world of its frame.
    async fn element_in(
        &self,
        frame: &FrameId,
        handle: Handle,
        world: &World,
    ) -> Result<RemoteElement> {
        let element = self.remote_element(frame, handle).await?;
        let node = self.describe_node(&element).await?;
        self.resolved(world, node.backend_node_id).await
    }

    /// Returns the element of a handle as an object of the isolated world.
    pub(super) async fn remote_element(
        &self,
        frame: &FrameId,
        handle: Handle,
    ) -> Result<RemoteElement> {
        let world = self.isolated_world(frame).await?;
        let call = runtime::CallFunctionOn {
            function_declaration: ELEMENT.to_owned(),
            arguments: Some(vec![value(json!(handle))]),
            ..Default::default()
        };
        let result = self.in_isolated(frame, call).await?;
        let id = result.object_id.ok_or(Error::DocumentGone {})?;
        Ok(RemoteElement {
            session: self.session_of(&world.session),
            id,
        })
    }

    /// Returns the handle of a node that the browser reported, in the isolated world of its frame.
    pub(super) async fn handle_of(
        &self,
        frame: &FrameId,
        node: dom::BackendNodeId,
    ) -> Result<Handle> {
        let world = self.isolated_world(frame).await?;
        let element = self.resolved(&world, node).await?;
        let call = runtime::CallFunctionOn {
            function_declaration: HANDLE.to_owned(),
            arguments: Some(vec![object(element.id())]),
            return_by_value: Some(true),
            ..Default::default()
        };
        let result = self.in_isolated(frame, call).await?;
        parsed(&result)?.as_u64().ok_or(Error::DocumentGone {})
    }

    pub(super) async fn describe_node(&self, element: &RemoteElement) -> Result<dom::Node> {
        let described = element
            .session
            .call(&dom::DescribeNode {
                object_id: Some(element.id()),
                ..Default::default()
            })
            .await
            .map_err(|error| self.document_gone_error(error))?;
        Ok(described.node)
    }

    pub(super) async fn resolved(
        &self,
        world: &World,
        node: dom::BackendNodeId,
    ) -> Result<RemoteElement> {
        let session = self.session_of(&world.session);
        let resolved = session
            .call(&dom::ResolveNode {
                backend_node_id: Some(node),
                execution_context_id: Some(world.id),
                ..Default::default()
            })
            .await
            .map_err(|error| self.document_gone_error(error))?;
        let id = resolved.object.object_id.ok_or(Error::DocumentGone {})?;
        Ok(RemoteElement { session, id })
    }

    /// Returns the isolated world of a frame, which is created if the browser has not done so.
    pub(super) async fn isolated_world(&self, frame: &FrameId) -> Result<World> {
        if let Some(world) = self.worlds().isolated(frame) {
            return Ok(world);
        }
        self.session_for(frame)?
            .call(&page::CreateIsolatedWorld {
                frame_id: frame.as_str().to_owned(),
                world_name: Some(WORLD.to_owned()),
                grant_univeral_access: Some(true),
                ..Default::default()
            })
            .await
            // The frame was removed, or is moving to another process.
            .map_err(|error| self.document_gone_error(error))?;
        self.wait_for_world(|worlds| worlds.isolated(frame)).await
    }

    /// Returns the main world of a frame, which exists as soon as its document does.
    pub(super) async fn main_world(&self, frame: &FrameId) -> Result<World> {
        self.wait_for_world(|worlds| worlds.main(frame)).await
    }

    /// Waits for an execution context that the browser is about to report.
    async fn wait_for_world(&self, world: impl Fn(&Worlds) -> Option<World>) -> Result<World> {
        let announced = self.new_worlds.wait(|| world(&self.worlds()));
        tokio::time::timeout(WORLD_TIMEOUT, announced)
            .await
            .map_err(|_| Error::DocumentGone {})
    }

    /// Converts the error of a destroyed execution context to `DocumentGone`.
    pub(super) async fn map_context_gone<T>(
        &self,
        world: &World,
        answer: wire::Result<T>,
    ) -> Result<T> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(error @ wire::Error::Protocol { .. }) => {
                let result = self
                    .session_of(&world.session)
                    .call(&runtime::Evaluate {
                        expression: "0".to_owned(),
                        unique_context_id: Some(world.unique.to_string()),
                        silent: Some(true),
                        ..Default::default()
                    })
                    .await;
                match result {
                    Ok(_) => Err(error.into()),
                    Err(refused) => Err(self.document_gone_error(refused)),
                }
            }
            Err(error) => Err(self.document_gone_error(error)),
        }
    }

    /// Converts the error of a command to a document. If a frame moves to another process, its session is closed but the page is still
    /// open.
    pub(super) fn document_gone_error(&self, error: wire::Error) -> Error {
        match error {
            wire::Error::Protocol { .. } => Error::DocumentGone {},
            wire::Error::SessionClosed { session, .. } if !self.is_session(&session) => {
                Error::DocumentGone {}
            }
            other => other.into(),
        }
    }

    pub(super) fn session_of(&self, id: &Arc<str>) -> Session {
        self.session.connection().session(id.clone())
    }
}

/// An element as an object of a world of its document, which is released when it is dropped.
pub(super) struct RemoteElement {
    session: Session,
    id: runtime::RemoteObjectId,
}

impl RemoteElement {
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn id(&self) -> runtime::RemoteObjectId {
        self.id.clone()
    }
}

impl Drop for RemoteElement {
    fn drop(&mut self) {
        self.session.post(&runtime::ReleaseObject {
            object_id: self.id(),
        });
    }
}

/// Parses the text that a function of `function_around` returned.
pub(super) async fn returned(result: runtime::RemoteObject) -> Result<Option<Value>> {
    let is_large = result.value.as_ref().is_some_and(is_large);
    let read = move || match parsed(&result)? {
        Value::Array(value) => Ok(value.into_iter().next()),
        Value::String(json) => serde_json::from_str(&json)
            .map(Some)
            .map_err(|error| Error::protocol("Runtime.callFunctionOn", error)),
        _ => Ok(None),
    };
    compute_if_large(is_large, read).await
}

pub(super) fn value(value: Value) -> runtime::CallArgument {
    runtime::CallArgument {
        value: Some(value),
        ..Default::default()
    }
}

pub(super) fn object(id: runtime::RemoteObjectId) -> runtime::CallArgument {
    runtime::CallArgument {
        object_id: Some(id),
        ..Default::default()
    }
}

fn parsed(object: &runtime::RemoteObject) -> Result<Value> {
    Ok(object.decode()?)
}

pub(super) fn exception_error(details: Option<runtime::ExceptionDetails>) -> Result<()> {
    let Some(details) = details else {
        return Ok(());
    };
    Err(Error::Script {
        message: console::exception(&details),
    })
}
