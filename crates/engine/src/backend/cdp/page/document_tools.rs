//! Calls of tools that documents register with the WebMCP API of Chromium, by the domain of the protocol. Calls of
//! the API by a script cannot be cancelled, and end with the document of the tool.

use super::CdpPage;
use crate::backend::FrameId;
use crate::backend::cdp::console;
use crate::changes::Changes;
use crate::error::{Error, Result};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use wire::Session;
use wire::cdp::{runtime, web_mcp};

/// The responses of tools that calls wait for.
#[derive(Default)]
pub(super) struct ToolResponses {
    state: Mutex<Responses>,
    changes: Changes,
}

#[derive(Default)]
struct Responses {
    calls: usize,
    /// The responses by their invocations. A response can arrive before the call knows its invocation.
    arrived: HashMap<String, web_mcp::ToolResponded>,
}

impl ToolResponses {
    pub(super) fn add(&self, response: web_mcp::ToolResponded) {
        self.with(|state| {
            if state.calls > 0 {
                state
                    .arrived
                    .insert(response.invocation_id.clone(), response);
            }
        });
        self.changes.notify();
    }

    fn with<T>(&self, of: impl FnOnce(&mut Responses) -> T) -> T {
        of(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A call of a tool, which is cancelled when it is dropped, unless the tool waits for the answer to a dialog.
struct Invocation<'a> {
    page: &'a CdpPage,
    session: Session,
    /// The running invocation.
    id: Option<String>,
}

impl Drop for Invocation<'_> {
    fn drop(&mut self) {
        self.page.tool_responses.with(|state| {
            state.calls -= 1;
            if state.calls == 0 {
                state.arrived.clear();
            }
        });
        let waits_for_answer = self.page.state().dialog.is_some();
        if let Some(invocation_id) = self.id.take().filter(|_| !waits_for_answer) {
            self.session
                .post(&web_mcp::CancelInvocation { invocation_id });
        }
    }
}

impl CdpPage {
    /// Returns the result as JSON or as the text that the tool gave; `None` if Chromium has no such tool.
    pub(super) async fn invoke_document_tool(
        &self,
        frame: &FrameId,
        name: &str,
        arguments: &Value,
    ) -> Result<Option<String>> {
        let session = self.session_for(frame)?;
        // Other versions do not have the domain.
        match session.call(&web_mcp::Enable {}).await {
            Err(wire::Error::Protocol { .. }) => return Ok(None),
            enabled => enabled?,
        };
        let responses = &self.tool_responses;
        responses.with(|state| state.calls += 1);
        let mut invocation = Invocation {
            page: self,
            session: session.clone(),
            id: None,
        };
        let invoke = web_mcp::InvokeTool {
            frame_id: frame.as_str().to_owned(),
            tool_name: name.to_owned(),
            input: arguments.clone(),
        };
        let id = match session.call(&invoke).await {
            // A tool of a polyfill.
            Err(wire::Error::Protocol { .. }) => return Ok(None),
            invoked => invoked?.invocation_id,
        };
        invocation.id = Some(id.clone());
        let arrived = || responses.with(|state| state.arrived.remove(&id));
        let response = responses.changes.wait(arrived).await;
        invocation.id = None;
        let output = response.output.as_deref().map_or("null", |json| json.get());
        let message = match (response.status, response.exception) {
            (web_mcp::InvocationStatus::Completed, _) => {
                let text = serde_json::from_str::<String>(output);
                return Ok(Some(text.unwrap_or_else(|_| output.to_owned())));
            }
            (web_mcp::InvocationStatus::Canceled, _) => "the tool was cancelled".to_owned(),
            (_, exception @ Some(_)) => console::exception(&runtime::ExceptionDetails {
                exception,
                ..Default::default()
            }),
            (_, None) => response.error_text.unwrap_or_default(),
        };
        Err(Error::Script { message })
    }
}
