//! Calls of tools: their admission, their audit record, spans and metrics, and what runs around a tool.

use super::admission::{Rejection, UnknownTool};
use super::request::{IncomingCall, Request, not_recorded};
use super::steps::Steps;
use super::{Server, dispatch};
use crate::access::audit::{Outcome, WriteError};
use crate::access::principal::Principal;
use crate::answers::Content;
use crate::calls::queue::CallQueue;
use crate::calls::tool_spec::{OutputFormat, ToolSpec};
use crate::calls::{Anonymous, Call, Client};
use crate::error::Error;
use crate::sessions::{Caller, SelectedSession, Visible};
use crate::telemetry::{CallResult, CallSpan, METRICS, RequestInfo};
use crate::toolbox::Lookup;
use crate::tools::tool::{Arguments, BoxFuture, Reach, ToolDef};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The call that launches a browser before the first call of a client.
const PRELAUNCH: ToolSpec = ToolSpec::internal("prelaunch", OutputFormat::Markdown);

impl Server {
    /// Calls a tool for a client, and records it. The shutdown of the server ends it early.
    pub(crate) fn call<'a>(
        self: &'a Arc<Self>,
        name: &'a str,
        arguments: Arguments,
        caller: Caller,
        client: Arc<dyn Client>,
        incoming: IncomingCall,
    ) -> BoxFuture<'a, Result<Content, UnknownTool>> {
        let request = Request {
            arguments,
            caller,
            client,
            incoming,
            entry: None,
            batch: None,
        };
        self.serve(name, request)
    }

    /// Calls a tool for a client or for a batch, and records it. A call of a page's tool is one of `browser_webmcp_call`.
    ///
    /// The future is boxed because it would be compiled into each of its callers.
    pub(super) fn serve<'a>(
        self: &'a Arc<Self>,
        name: &'a str,
        request: Request,
    ) -> BoxFuture<'a, Result<Content, UnknownTool>> {
        Box::pin(self.serve_in_span(name, request))
    }

    async fn serve_in_span(
        self: &Arc<Self>,
        name: &str,
        mut request: Request,
    ) -> Result<Content, UnknownTool> {
        let name = self
            .redirect_document_tool(name, &mut request)
            .unwrap_or(name);
        let known = match self.toolbox.find(name) {
            Lookup::On(tool) | Lookup::Off(tool) => tool.name,
            Lookup::Unknown(_) => "unknown",
        };
        let span = CallSpan::begin(known, &request.incoming.info, request.batch.is_some());
        let answer = span.instrument(self.serve_recorded(name, request, &span));
        let answer = answer.await;
        span.end(call_result(&answer));
        answer
    }

    /// Calls a tool, and records it in the audit log.
    async fn serve_recorded(
        self: &Arc<Self>,
        name: &str,
        mut request: Request,
        span: &CallSpan,
    ) -> Result<Content, UnknownTool> {
        let arguments = &request.arguments;
        let session_id = self.toolbox.named_session(arguments);
        let recorded = || Value::Object(arguments.clone());
        let info = &request.incoming.info;
        let entry = self.record(
            &request.caller.principal,
            info,
            "tools/call",
            Some(name),
            recorded,
        );
        let entry = match entry.await {
            Ok(entry) => entry,
            Err(error) => return self.not_recorded(name, &error, false, session_id.as_deref()),
        };
        if let (Some(entry), Some(id)) = (&entry, &session_id) {
            entry.set_session(id);
        }
        if let Some(entry) = &entry
            && self.toolbox.may_type(name)
        {
            entry.redact_typed_texts();
        }
        request.entry.clone_from(&entry);
        let client = request.client.clone();
        let answer = self.answer(name, request, session_id.as_deref(), span);
        let answer = answer.await;
        if let Some(entry) = entry {
            let outcome = match client.is_retried_by_client() {
                true => Outcome::InputRequired,
                false => outcome(&answer),
            };
            if let Err(error) = entry.end(outcome).await {
                return self.not_recorded(name, &error, true, session_id.as_deref());
            }
        }
        answer
    }

    async fn answer(
        self: &Arc<Self>,
        name: &str,
        request: Request,
        session_id: Option<&str>,
        span: &CallSpan,
    ) -> Result<Content, UnknownTool> {
        let tool = match self.admit(name, &request.caller.principal) {
            Ok(tool) => tool,
            Err(Rejection::Unknown(unknown)) => return Err(unknown),
            Err(Rejection::Refused(tool, error)) => {
                return Ok(dispatch::refused(tool, error, session_id, &self.settings));
            }
        };
        // Otherwise other calls would have to wait for it. A batch that has begun is completed.
        if self.under_way.is_closed() && request.batch.is_none() {
            return Ok(dispatch::cancelled(tool, session_id, &self.settings));
        }
        let _under_way = self.under_way.token();
        let counted = METRICS.call(tool.name);
        let is_step = request.batch.is_some();
        let ran = self.run(tool, request, session_id, span).await;
        let content =
            ran.unwrap_or_else(|error| dispatch::refused(tool, error, session_id, &self.settings));
        counted.ended(content.is_error);
        // The answer of the batch has the results of its steps.
        if !is_step && self.settings.http.is_some() {
            METRICS.answered(content.size(), content.tokens());
        }
        Ok(content)
    }

    /// Returns the answer to a call that cannot be recorded.
    fn not_recorded(
        &self,
        name: &str,
        error: &WriteError,
        ran: bool,
        session_id: Option<&str>,
    ) -> Result<Content, UnknownTool> {
        let tool = match self.toolbox.find(name) {
            Lookup::On(tool) | Lookup::Off(tool) => tool,
            Lookup::Unknown(nearest) => return Err(UnknownTool::new(name, nearest)),
        };
        let error = not_recorded(error, ran);
        Ok(dispatch::refused(tool, error, session_id, &self.settings))
    }

    async fn run(
        self: &Arc<Self>,
        tool: &'static ToolDef,
        request: Request,
        named: Option<&str>,
        span: &CallSpan,
    ) -> Result<Content, Error> {
        let Request {
            mut arguments,
            caller,
            client,
            incoming,
            entry,
            batch,
        } = request;
        let IncomingCall {
            ticket,
            cancel,
            info,
        } = incoming;
        let common = tool.common(&mut arguments, self.toolbox.session_naming())?;
        let context = match self.toolbox.has_contexts() {
            true => tool.context(&mut arguments)?,
            false => None,
        };
        let permission = caller.principal.permission();
        let sessions = Visible::new(self.sessions.clone(), caller.clone());
        if common.session_id.is_none() && tool.has_session && batch.is_none() {
            tokio::select! {
                () = sessions.adopt_profile_session(&client) => {}
                () = cancel.cancelled() => {}
                () = self.stop.cancelled() => {}
            }
        }
        let chosen = match &batch {
            Some(batch) => SelectedSession::of_batch(batch.session.clone()),
            None if tool.has_session => sessions.select(common.session_id.as_deref())?,
            None => sessions.default_session(),
        };
        span.set_session(chosen.session.id());
        if let Some(entry) = &entry {
            entry.set_session(chosen.session.id());
            entry.set_secrets(&chosen.session.settings().secrets);
        }
        let call = Call::new(
            tool.spec(),
            chosen.session.settings().clone(),
            client,
            ticket,
            cancel.clone(),
        )
        .with_handovers(self.handovers.clone())
        .with_entry(entry.clone())
        .with_policy(self.policy.clone())
        .permitted(permission)
        .with_timeout(common.timeout)
        .with_max_tokens(common.max_tokens)
        .in_context(context)
        .in_turn_of_batch(batch.as_ref().map(|batch| batch.turn.clone()));
        let reach = Reach {
            sessions,
            session: chosen.session.clone(),
            steps: Arc::new(Steps {
                server: self.clone(),
                caller,
                session: chosen.session.clone(),
                session_id: named.map(str::to_owned),
                cancel: cancel.clone(),
                info,
                entry,
            }),
        };
        // The dashboard shows the batch and not its steps.
        let logged = (self.settings.dashboard.is_some() && !call.is_step()).then(|| {
            let secrets = &chosen.session.settings().secrets;
            let log = chosen.session.control().call_log();
            log.begin(tool, permission, &arguments, secrets)
        });
        let stop = self.stop.cancelled();
        let content = tokio::select! {
            content = dispatch::run(tool, arguments, &call, &reach, named) => content,
            () = stop => { cancel.cancel(); dispatch::cancelled(tool, named, &self.settings) }
        };
        if let Some(logged) = logged {
            let text = content.text_without_boundary();
            logged.end(&text, content.is_error, reach.has_dialog(&call));
        }
        if let Some(entry) = call.entry() {
            entry.set_final_page(reach.page_url(&call).as_deref());
            if reach.has_dialog(&call) {
                entry.set_interrupted();
                // Its record has the texts of all steps.
                if let Some(entry) = batch.and_then(|batch| batch.entry) {
                    entry.set_interrupted();
                }
            }
        }
        Ok(content)
    }

    /// Launches the browser for a new client if that is configured; calls that arrive meanwhile wait for it.
    pub(crate) fn prelaunch(&self, caller: Caller, client: Arc<dyn Client>) {
        if !self.settings.browser.prelaunch {
            return;
        }
        let sessions = Visible::new(self.sessions.clone(), caller);
        let ticket = CallQueue::default().join();
        let cancel = self.stop.child_token();
        let call = Call::new(
            &PRELAUNCH,
            self.settings.clone(),
            client.clone(),
            ticket,
            cancel.clone(),
        );
        task::spawn("prelaunch", async move {
            let started = async {
                sessions.adopt_profile_session(&client).await;
                let chosen = sessions.default_session();
                call.take_turn(chosen.session.turn()).await;
                chosen.session.tabs(&call).await.map(drop)
            };
            tokio::select! {
                // The first call meets the same error and reports it.
                started = started => tracing::debug!(?started, "prelaunch"),
                () = cancel.cancelled() => {}
            }
        })
        .detach();
    }

    /// Calls a tool from within this process.
    pub(crate) fn call_here<'a>(
        self: &'a Arc<Self>,
        name: &'a str,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<Content, UnknownTool>> {
        let incoming = IncomingCall {
            ticket: CallQueue::default().join(),
            cancel: CancellationToken::new(),
            info: RequestInfo::internal(),
        };
        let caller = self.caller(Principal::anonymous());
        self.call(name, arguments, caller, Arc::new(Anonymous), incoming)
    }
}

/// Returns the outcome of a call for its spans.
fn call_result(answer: &Result<Content, UnknownTool>) -> CallResult<'_> {
    match answer {
        Ok(content) if !content.is_error => CallResult::Success,
        Ok(content) => {
            let object = content.structured.as_ref();
            let code = object.and_then(|object| object["errorCode"].as_str());
            CallResult::Failed(code.unwrap_or("INTERNAL_ERROR"))
        }
        Err(UnknownTool { .. }) => CallResult::Refused(UnknownTool::CODE),
    }
}

/// Returns the outcome of a call for its audit record.
fn outcome(answer: &Result<Content, UnknownTool>) -> Outcome {
    match call_result(answer) {
        CallResult::Success => Outcome::Ok,
        CallResult::Failed(code) => Outcome::Failed(code.to_owned().into()),
        CallResult::Refused(code) => Outcome::Refused(code),
    }
}
