//! The steps of a batch: calls of the server that have the client, the session and the turn of the batch.

use super::Server;
use super::admission::Rejection;
use super::request::{Batch, IncomingCall, Request};
use crate::access::audit::Entry;
use crate::answers::Content;
use crate::calls::queue::CallQueue;
use crate::calls::tool_spec::ToolSpec;
use crate::calls::{Call, StepClient};
use crate::error::{Error, Result};
use crate::sessions::Caller;
use crate::sessions::session::Session;
use crate::telemetry::RequestInfo;
use crate::tools::tool::{Arguments, BoxFuture, SESSION, StepCaller, StepError};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What the steps of a call have in common.
pub(super) struct Steps {
    pub(super) server: Arc<Server>,
    pub(super) caller: Caller,
    pub(super) session: Arc<Session>,
    /// The id or name of the session in the call.
    pub(super) session_id: Option<String>,
    pub(super) cancel: CancellationToken,
    /// What identifies the request of the batch.
    pub(super) info: RequestInfo,
    /// The record of the call in the audit log, if there is one.
    pub(super) entry: Option<Arc<Entry>>,
}

impl StepCaller for Steps {
    fn check(&self, tool: &str, arguments: &Arguments) -> Result<&'static ToolSpec, StepError> {
        let tool = match self.server.admit(tool, &self.caller.principal) {
            Ok(tool) => tool,
            Err(Rejection::Unknown(unknown)) => {
                return Err(parameter("tool", unknown.to_string()));
            }
            Err(Rejection::Refused(tool, error)) => {
                return Err(StepError::Refused(tool.spec(), error));
            }
        };
        if !tool.can_be_step {
            let message = "A step is a tool that works on the pages of the session of the batch";
            return Err(parameter("tool", message.to_owned()));
        }
        match arguments.get(SESSION) {
            Some(session) if session.as_str() != self.session_id.as_deref() => {
                let message = "The steps have the session of the batch: leave it out";
                Err(parameter("arguments.sessionId", message.to_owned()))
            }
            _ => Ok(tool.spec()),
        }
    }

    fn call<'a>(
        &'a self,
        batch: &'a Call,
        tool: &'a str,
        mut arguments: Arguments,
    ) -> BoxFuture<'a, Result<Content>> {
        Box::pin(async move {
            let turn = batch.turn_for_steps().ok_or(Error::Cancelled {})?;
            if let Some(id) = &self.session_id {
                arguments.insert(SESSION.to_owned(), id.as_str().into());
            }
            let request = Request {
                arguments,
                caller: self.caller.clone(),
                client: Arc::new(StepClient(batch.client.clone())),
                incoming: IncomingCall {
                    ticket: CallQueue::default().join(),
                    cancel: self.cancel.clone(),
                    info: self.info.clone(),
                },
                entry: None,
                batch: Some(Batch {
                    session: self.session.clone(),
                    turn,
                    entry: self.entry.clone(),
                }),
            };
            let answer = self.server.serve(tool, request).await;
            answer.map_err(|unknown| Error::ToolDisabled {
                tool: unknown.name,
                capability: None,
                toolset: None,
                instead: unknown.nearest,
            })
        })
    }
}

fn parameter(name: &'static str, message: String) -> StepError {
    StepError::Parameter { name, message }
}
