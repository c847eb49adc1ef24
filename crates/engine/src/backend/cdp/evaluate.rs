//! Running JavaScript in a frame: our own code in a world apart, the caller's in the page's.

use super::page::CdpPage;
use super::worlds::{WORLD, World};
use crate::backend::{FrameId, Handle};
use crate::error::{Error, Result};
use crate::injected::CORE;
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use wire::Session;
use wire::cdp::{dom, page, runtime};

/// Calls a function of the core by its name.
const CALL: &str =
    "function(name, argument) { return globalThis.__playhouseCore[name](argument); }";
/// The element of a handle.
const HELD: &str = "function(handle) { return globalThis.__playhouseCore.element(handle); }";
/// The handle of an element.
const KEEP: &str = "function(element) { return globalThis.__playhouseCore.handle(element); }";

impl CdpPage {
    pub(super) async fn call_core(
        &self,
        frame: &FrameId,
        function: &str,
        argument: &Value,
    ) -> Result<Value> {
        let call = runtime::CallFunctionOn {
            function_declaration: CALL.to_owned(),
            arguments: Some(vec![value(json!(function)), value(argument.clone())]),
            return_by_value: Some(true),
            await_promise: Some(true),
            ..Default::default()
        };
        let result = self.in_isolated(frame, call).await?;
        parsed(&result)
    }

    /// Runs a function in our world of the frame; the core is there by then.
    async fn in_isolated(
        &self,
        frame: &FrameId,
        mut call: runtime::CallFunctionOn,
    ) -> Result<runtime::RemoteObject> {
        let world = self.isolated_world(frame).await?;
        let session = self.session_of(&world.session);
        call.execution_context_id = Some(world.id);
        // One after the other in one write: the call finds the core there.
        let injection = (!world.injected).then(|| {
            self.worlds().injected(frame, &world);
            session.send(&runtime::Evaluate {
                expression: CORE.to_owned(),
                context_id: Some(world.id),
                silent: Some(true),
                ..Default::default()
            })
        });
        let answer = session.send(&call);
        if let Some(injection) = injection {
            let injected = self.or_gone(frame, &world, injection.await).await?;
            thrown(injected.exception_details)?;
        }
        let answer = self.or_gone(frame, &world, answer.await).await?;
        thrown(answer.exception_details)?;
        Ok(answer.result)
    }

    /// Runs the caller's expression in the page's own world.
    pub(super) async fn evaluate_in_main(
        &self,
        frame: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>> {
        let world = self.main_world(frame).await?;
        let session = self.session_of(&world.session);
        let mut call = runtime::CallFunctionOn {
            function_declaration: function_around(expression),
            return_by_value: Some(true),
            await_promise: Some(true),
            user_gesture: Some(true),
            ..Default::default()
        };
        match element {
            Some(handle) => {
                let element = self.element_in(frame, handle, &world).await?;
                call.arguments = Some(vec![object(element.clone())]);
                call.object_id = Some(element);
            }
            None => call.execution_context_id = Some(world.id),
        }
        let answer = self
            .or_gone(frame, &world, session.call(&call).await)
            .await?;
        thrown(answer.exception_details)?;
        match parsed(&answer.result)? {
            Value::String(json) => {
                serde_json::from_str(&json)
                    .map(Some)
                    .map_err(|error| Error::Protocol {
                        method: "Runtime.callFunctionOn".to_owned(),
                        message: error.to_string(),
                    })
            }
            _ => Ok(None),
        }
    }

    /// The same element as an object of another world of its frame.
    async fn element_in(
        &self,
        frame: &FrameId,
        handle: Handle,
        world: &World,
    ) -> Result<runtime::RemoteObjectId> {
        let session = self.session_of(&world.session);
        let ours = self.remote_element(frame, handle).await?;
        let node = session
            .call(&dom::DescribeNode {
                object_id: Some(ours),
                ..Default::default()
            })
            .await?;
        let resolved = session
            .call(&dom::ResolveNode {
                backend_node_id: Some(node.node.backend_node_id),
                execution_context_id: Some(world.id),
                ..Default::default()
            })
            .await?;
        resolved.object.object_id.ok_or(Error::DocumentGone {})
    }

    /// The element of a handle as an object of our world.
    pub(super) async fn remote_element(
        &self,
        frame: &FrameId,
        handle: Handle,
    ) -> Result<runtime::RemoteObjectId> {
        let call = runtime::CallFunctionOn {
            function_declaration: HELD.to_owned(),
            arguments: Some(vec![value(json!(handle))]),
            ..Default::default()
        };
        let result = self.in_isolated(frame, call).await?;
        result.object_id.ok_or(Error::DocumentGone {})
    }

    /// The handle of a node that the browser told of, in our world of its frame.
    pub(super) async fn handle_of(
        &self,
        frame: &FrameId,
        node: dom::BackendNodeId,
    ) -> Result<Handle> {
        let world = self.isolated_world(frame).await?;
        let session = self.session_of(&world.session);
        let resolved = session
            .call(&dom::ResolveNode {
                backend_node_id: Some(node),
                execution_context_id: Some(world.id),
                ..Default::default()
            })
            .await?;
        let element = resolved.object.object_id.ok_or(Error::DocumentGone {})?;
        let call = runtime::CallFunctionOn {
            function_declaration: KEEP.to_owned(),
            arguments: Some(vec![object(element)]),
            return_by_value: Some(true),
            ..Default::default()
        };
        let result = self.in_isolated(frame, call).await?;
        parsed(&result)?.as_u64().ok_or(Error::DocumentGone {})
    }

    pub(super) async fn frames_of(
        &self,
        frame: &FrameId,
        owners: &[Handle],
    ) -> Result<Vec<Option<FrameId>>> {
        // All questions go out before the first answer is waited for.
        try_join_all(owners.iter().map(|&owner| async move {
            let element = self.remote_element(frame, owner).await?;
            let node = self
                .session_for(frame)?
                .call(&dom::DescribeNode {
                    object_id: Some(element),
                    ..Default::default()
                })
                .await?;
            Ok(node.node.frame_id.as_ref().map(FrameId::from))
        }))
        .await
    }

    /// The world is made where the browser has not done so by itself.
    async fn isolated_world(&self, frame: &FrameId) -> Result<World> {
        if let Some(world) = self.worlds().isolated(frame) {
            return Ok(world);
        }
        let session = self.session_for(frame)?;
        let made = session
            .call(&page::CreateIsolatedWorld {
                frame_id: frame.as_str().to_owned(),
                world_name: Some(WORLD.to_owned()),
                grant_univeral_access: Some(true),
                ..Default::default()
            })
            .await;
        let made = match made {
            Ok(made) => made,
            // The frame went, or is moving to another process.
            Err(wire::Error::Protocol { .. }) => return Err(Error::DocumentGone {}),
            Err(error) => return Err(error.into()),
        };
        let session: Arc<str> = session.id().cloned().unwrap_or_else(|| "".into());
        Ok(self.worlds().made(
            frame,
            World {
                session,
                id: made.execution_context_id,
                injected: false,
            },
        ))
    }

    /// The page's own world is there as soon as its document is.
    async fn main_world(&self, frame: &FrameId) -> Result<World> {
        if let Some(world) = self.worlds().main(frame) {
            return Ok(world);
        }
        // It is announced right after the commit.
        self.flush_events().await?;
        self.worlds().main(frame).ok_or(Error::DocumentGone {})
    }

    /// Tells a refusal by a context that is gone from any other.
    async fn or_gone<T>(
        &self,
        frame: &FrameId,
        world: &World,
        answer: wire::Result<T>,
    ) -> Result<T> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(error @ wire::Error::Protocol { .. }) => {
                self.flush_events().await?;
                if self.worlds().has(frame, world) {
                    Err(error.into())
                } else {
                    Err(Error::DocumentGone {})
                }
            }
            // A frame that moved to another process took its session along; the page is still there.
            Err(wire::Error::SessionClosed { .. }) if !self.is_session(&world.session) => {
                Err(Error::DocumentGone {})
            }
            Err(error) => Err(error.into()),
        }
    }

    fn session_of(&self, id: &Arc<str>) -> Session {
        self.session().connection().session(id.clone())
    }
}

/// A function that runs the caller's expression and returns its value as JSON text, or null for undefined.
fn function_around(expression: &str) -> String {
    format!("async function(element) {{\n  let value = (\n{expression}\n);{RETURN_JSON}}}")
}

/// What JSON has no word for is told in text; a cycle is cut.
const RETURN_JSON: &str = r#"
  if (typeof value === 'function') value = value(element);
  value = await value;
  const plain = (inner, above) => {
    if (typeof inner === 'bigint') return inner + 'n';
    if (typeof inner === 'function' || typeof inner === 'symbol') return String(inner);
    if (typeof inner !== 'object' || inner === null) return inner;
    if (inner === globalThis) return 'ref: <Window>';
    if (inner instanceof Document) return 'ref: <Document>';
    if (inner instanceof Node) return 'ref: <Node>';
    if (inner instanceof Error) return inner.stack || String(inner);
    if (inner instanceof RegExp) return String(inner);
    if (above.includes(inner)) return '[Circular]';
    if (typeof inner.toJSON === 'function') return inner.toJSON();
    const path = [...above, inner];
    if (inner instanceof Map || inner instanceof Set || Array.isArray(inner)) return Array.from(inner, (item) => plain(item, path));
    const copy = {};
    for (const key of Object.keys(inner)) copy[key] = plain(inner[key], path);
    return copy;
  };
  const json = JSON.stringify(plain(value, []));
  return json === undefined ? null : json;
"#;

fn value(value: Value) -> runtime::CallArgument {
    runtime::CallArgument {
        value: Some(value),
        ..Default::default()
    }
}

fn object(id: runtime::RemoteObjectId) -> runtime::CallArgument {
    runtime::CallArgument {
        object_id: Some(id),
        ..Default::default()
    }
}

fn parsed(object: &runtime::RemoteObject) -> Result<Value> {
    match &object.value {
        Some(raw) => serde_json::from_str(raw.get()).map_err(|error| Error::Protocol {
            method: "Runtime.callFunctionOn".to_owned(),
            message: error.to_string(),
        }),
        None => Ok(Value::Null),
    }
}

fn thrown(details: Option<runtime::ExceptionDetails>) -> Result<()> {
    let Some(details) = details else {
        return Ok(());
    };
    Err(Error::Script {
        message: super::console::exception(&details),
    })
}
