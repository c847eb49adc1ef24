//! The server: its settings, the enabled tools, and what runs for its clients. It implements the features of MCP, without the protocol.

mod admission;
pub(crate) mod dispatch;
mod document_tools;
pub(crate) mod instructions;
pub(crate) mod prompts;
pub(crate) mod resources;
mod steps;

use crate::access::audit::{AuditLog, Decision, Entry, OpenError, Outcome, WriteError};
use crate::access::policy::{self, Action, Policy, Subject};
use crate::access::principal::{Permission, Principal};
use crate::access::urls::origin;
use crate::answers::Content;
use crate::apps::DevServers;
use crate::calls::handover::Handovers;
use crate::calls::queue::{CallQueue, Ticket};
use crate::calls::tool_spec::{OutputFormat, ToolSpec};
use crate::calls::{Anonymous, Call, Client};
use crate::config::{AnswerStyle, Settings, ToolsetName};
use crate::error::{Denial, Error};
use crate::sessions::browsers::Browsers;
use crate::sessions::{Caller, OwnedSession, SelectedSession, Sessions, Visible};
use crate::telemetry::metrics::HealthStats;
use crate::telemetry::{CallResult, CallSpan, METRICS, RequestInfo};
use crate::tools::tool::{Arguments, Reach, ToolDef};
use crate::tools::{self, Lookup, Toolbox};
use admission::Rejection;
use prompts::Prompts;
use resources::Resources;
use serde_json::Value;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use steps::{Batch, Steps};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The call that launches a browser before the first call of a client.
const PRELAUNCH: ToolSpec = ToolSpec::internal("prelaunch", OutputFormat::Markdown);

/// Loaded on the first request, because most clients never request prompts and startup must not wait for them.
type LazyPrompts = LazyLock<Prompts, Box<dyn FnOnce() -> Prompts + Send>>;

/// The state that outlives a call.
pub(crate) struct Server {
    settings: Arc<Settings>,
    toolbox: Toolbox,
    prompts: Option<LazyPrompts>,
    sessions: Arc<Sessions>,
    browsers: Arc<Browsers>,
    dev_servers: Arc<DevServers>,
    handovers: Arc<Handovers>,
    audit: Option<Arc<AuditLog>>,
    policy: Option<Arc<Policy>>,
    under_way: TaskTracker,
    stop: CancellationToken,
}

/// Why the server cannot be created with these settings.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// A prompt file of the user is invalid.
    #[error(transparent)]
    Prompts(#[from] prompts::LoadError),
    /// The policy cannot be read.
    #[error(transparent)]
    Policy(#[from] policy::LoadError),
    /// The audit log cannot be used.
    #[error(transparent)]
    Audit(#[from] OpenError),
}

impl Server {
    /// Creates a server. Fails if a prompt file or the policy is invalid, or the audit log cannot be used.
    pub(crate) fn new(settings: Settings) -> Result<Self, StartError> {
        LazyLock::force(&METRICS);
        let settings = Arc::new(settings);
        let policy = tools::policy(&settings)?.map(Arc::new);
        let audit = settings.security.audit_log.as_deref();
        let audit = audit.map(AuditLog::open).transpose()?.map(Arc::new);
        let browsers = Arc::new(Browsers::new(settings.clone()));
        let dev_servers = Arc::new(DevServers::new(&settings.dev_servers));
        let sessions = Sessions::new(settings.clone(), browsers.clone(), dev_servers.clone());
        let toolbox = Toolbox::new(&settings.tools);
        let prompts = prompts(&settings, &toolbox)?;
        Ok(Self {
            toolbox,
            prompts,
            sessions: Arc::new(sessions),
            browsers,
            dev_servers,
            settings,
            handovers: Arc::default(),
            audit,
            policy,
            under_way: TaskTracker::new(),
            stop: CancellationToken::new(),
        })
    }

    /// Launches the browsers of the pool, and stops servers of the app that killed Playhouse processes left running.
    pub(crate) fn begin(&self) {
        self.browsers.fill();
        self.dev_servers.stop_leftovers();
    }

    /// Returns how long closing may take in addition to browsers and clients.
    pub(crate) fn closing(&self) -> Duration {
        self.settings.dev_servers.longest_shutdown()
    }

    /// Returns the enabled tools.
    pub(crate) fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// Returns the tools that clients see.
    pub(crate) fn shown_tools(&self) -> impl Iterator<Item = &'static ToolDef> {
        self.toolbox.shown(self.policy.as_deref())
    }

    /// Returns whether clients see exactly what `@playwright/mcp` shows.
    pub(crate) fn is_drop_in(&self) -> bool {
        is_drop_in(&self.settings)
    }

    /// Returns whether errors contain the identifier of their request. Those of `@playwright/mcp` do not.
    pub(crate) fn shows_request_ids(&self) -> bool {
        self.settings.answers.style == AnswerStyle::Compact
    }

    /// Returns the instructions for agents.
    pub(crate) fn instructions(&self) -> String {
        instructions::text(&self.toolbox, &self.settings.answers)
    }

    /// Returns the permission that a caller of that tool needs.
    pub(crate) fn permission_for(&self, tool: &str) -> Permission {
        match self.toolbox.find(tool) {
            Lookup::On(tool) => tool.permission,
            Lookup::Off(_) | Lookup::Unknown(_) => Permission::Read,
        }
    }

    /// Returns the prompts, if any are offered.
    pub(crate) fn prompts(&self) -> Option<&Prompts> {
        self.prompts.as_deref()
    }

    /// Returns the resources of a caller.
    pub(crate) fn resources(&self, caller: Caller) -> Resources {
        Resources::new(Visible::new(self.sessions.clone(), caller))
    }

    /// Returns the sessions of a principal, without prolonging them.
    pub(crate) fn owned_sessions(&self, owner: &Principal) -> Vec<OwnedSession> {
        self.sessions.owned_by(owner)
    }

    /// Returns the session of a principal with that id, without prolonging it.
    pub(crate) fn owned_session(&self, owner: &Principal, id: &str) -> Result<OwnedSession, Error> {
        self.sessions.owned(owner, id)
    }

    /// Closes a session of a principal.
    pub(crate) async fn close_session(&self, owner: &Principal, id: &str) -> Result<(), Error> {
        self.sessions.close_owned(owner, id).await
    }

    /// Returns whether the dashboard is served.
    pub(crate) fn has_dashboard(&self) -> bool {
        self.settings.dashboard.is_some()
    }

    /// Returns the port of the dashboard over stdio, if there is a dashboard.
    pub(crate) fn dashboard_port(&self) -> Option<u16> {
        self.settings.dashboard
    }

    /// Returns the open requests to users to type a value.
    pub(crate) fn handovers(&self) -> &Arc<Handovers> {
        &self.handovers
    }

    /// Returns the name and version of the server.
    pub(crate) fn name_and_version(&self) -> (String, String) {
        self.settings.server.clone()
    }

    /// Creates a caller that is identified by its principal alone.
    pub(crate) fn caller(&self, principal: Principal) -> Caller {
        self.sessions.caller(principal)
    }

    /// Creates a caller for a connected client, which disconnects when the last clone is dropped.
    pub(crate) fn connected_caller(&self, principal: Principal) -> Caller {
        self.sessions.connected_caller(principal)
    }

    /// Returns whether the caller has sessions beside the server's default one.
    #[cfg(unix)]
    pub(crate) fn has_sessions(&self, caller: &Caller) -> bool {
        let visible = Visible::new(self.sessions.clone(), caller.clone());
        !visible.list().is_empty()
    }

    /// Begins the audit record of a request; `None` without an audit log. Fails if the log cannot be written: the request must then be
    /// rejected.
    pub(crate) async fn record(
        &self,
        principal: &Principal,
        request: &RequestInfo,
        method: &'static str,
        tool: Option<&str>,
        arguments: impl FnOnce() -> Value,
    ) -> Result<Option<Arc<Entry>>, WriteError> {
        let Some(log) = &self.audit else {
            return Ok(None);
        };
        log.ready().await?;
        let secrets = self.settings.secrets.clone();
        let id = request.id.as_str();
        let entry = Entry::new(
            log.clone(),
            id,
            principal,
            method,
            tool,
            arguments(),
            secrets,
        );
        Ok(Some(Arc::new(entry)))
    }

    /// Returns an error if the policy denies reading a page with this URL. Reading never requires confirmation of the user.
    pub(crate) fn permit_reading(
        &self,
        url: Option<&str>,
        entry: Option<&Entry>,
    ) -> Result<(), Error> {
        self.permit(Subject::RESOURCE, url, entry)
    }

    /// Returns an error if the policy denies what no tool does. The user cannot be asked for it.
    pub(crate) fn permit(
        &self,
        subject: Subject,
        url: Option<&str>,
        entry: Option<&Entry>,
    ) -> Result<(), Error> {
        let Some(policy) = &self.policy else {
            return Ok(());
        };
        let ruling = policy.judge(subject, url);
        let (denial, decision) = match ruling.action {
            Action::Allow => (None, "allowed"),
            Action::Ask => (Some(Denial::CannotAsk), "cannot-ask"),
            Action::Deny => (Some(Denial::Denied), "denied"),
        };
        let rule = ruling.to_string();
        if let Some(entry) = entry {
            let rule = rule.clone();
            entry.set_initial_page(url);
            entry.set_decision(Decision { rule, decision });
        }
        match denial {
            None => Ok(()),
            Some(denial) => Err(Error::PolicyDenied {
                tool: subject.name,
                origin: url.map(origin),
                rule,
                denial,
                reason: ruling.reason().map(str::to_owned),
            }),
        }
    }

    /// Calls a tool for a client, and records it. The shutdown of the server ends it early.
    pub(crate) async fn call(
        self: &Arc<Self>,
        name: &str,
        arguments: Arguments,
        caller: Caller,
        client: Arc<dyn Client>,
        incoming: IncomingCall,
    ) -> Result<Content, UnknownTool> {
        let request = Request {
            arguments,
            caller,
            client,
            incoming,
            entry: None,
            batch: None,
        };
        self.serve(name, request).await
    }

    /// Calls a tool for a client or for a batch, and records it. A call of a page's tool is one of `browser_webmcp_call`.
    async fn serve(
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
        let content = self.run(tool, request, span).await;
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
        let reason = error.to_string();
        let error = Error::NotRecorded { reason, ran };
        Ok(dispatch::refused(tool, error, session_id, &self.settings))
    }

    async fn run(
        self: &Arc<Self>,
        tool: &'static ToolDef,
        request: Request,
        span: &CallSpan,
    ) -> Content {
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
        let named = self.toolbox.named_session(&arguments);
        let named = named.as_deref();
        let refused = |error| dispatch::refused(tool, error, named, &self.settings);
        let common = match tool.common(&mut arguments, self.toolbox.session_naming()) {
            Ok(common) => common,
            Err(error) => return refused(error),
        };
        let context = match self.toolbox.has_contexts() {
            true => tool.context(&mut arguments),
            false => Ok(None),
        };
        let context = match context {
            Ok(context) => context,
            Err(error) => return refused(error),
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
            Some(batch) => Ok(SelectedSession::of_batch(batch.session.clone())),
            None if tool.has_session => sessions.select(common.session_id.as_deref()),
            None => Ok(sessions.default_session()),
        };
        let chosen = match chosen {
            Ok(chosen) => chosen,
            Err(error) => return refused(error),
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
            let log = chosen.session.call_log();
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
        content
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
    pub(crate) async fn call_here(
        self: &Arc<Self>,
        name: &str,
        arguments: Arguments,
    ) -> Result<Content, UnknownTool> {
        let incoming = IncomingCall {
            ticket: CallQueue::default().join(),
            cancel: CancellationToken::new(),
            info: RequestInfo::internal(),
        };
        let caller = self.caller(Principal::anonymous());
        self.call(name, arguments, caller, Arc::new(Anonymous), incoming)
            .await
    }

    /// Resolves when no call is in progress; no more are accepted.
    pub(crate) async fn finished(&self) {
        self.under_way.close();
        self.under_way.wait().await;
    }

    /// Returns the current numbers of browsers and sessions.
    pub(crate) fn health_stats(&self) -> HealthStats {
        HealthStats {
            browsers: self.browsers.len(),
            sessions: self.sessions.len(),
            busy_sessions: self.sessions.busy(),
            uptime: METRICS.uptime(),
        }
    }

    /// Returns the metrics in the text format of OpenMetrics.
    pub(crate) fn metrics(&self, mcp_sessions: usize) -> String {
        METRICS.text(self.health_stats(), mcp_sessions)
    }

    /// Cancels all calls that are in progress.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Resolves when [`Self::stop`] was called.
    pub(crate) async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Closes everything that the server started.
    pub(crate) async fn close(&self) {
        self.stop();
        // Closed before the browsers, which end quickly.
        let apps = self.dev_servers.close();
        let browsers = async {
            self.sessions.close_all().await;
            self.browsers.close().await;
        };
        tokio::join!(apps, browsers);
    }
}

/// A call as it arrived.
pub(crate) struct IncomingCall {
    /// The place in the order of calls.
    pub(crate) ticket: Ticket,
    /// Cancels the call.
    pub(crate) cancel: CancellationToken,
    /// What identifies the request.
    pub(crate) info: RequestInfo,
}

/// The parameters of a call beside the name of the tool.
struct Request {
    arguments: Arguments,
    caller: Caller,
    client: Arc<dyn Client>,
    incoming: IncomingCall,
    /// The record in the audit log, if there is one.
    entry: Option<Arc<Entry>>,
    /// The batch that the call is a step of, if it is one.
    batch: Option<Batch>,
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

/// With the `browser` toolset alone, clients see exactly what `@playwright/mcp` shows.
fn is_drop_in(settings: &Settings) -> bool {
    let toolsets = &settings.tools.toolsets;
    toolsets.iter().all(|name| *name == ToolsetName::Browser)
}

/// Returns the prompts; `None` if clients expect none, unless the user has prompt files.
fn prompts(
    settings: &Arc<Settings>,
    toolbox: &Toolbox,
) -> Result<Option<LazyPrompts>, prompts::LoadError> {
    let has_own = settings.prompts.dir.is_some();
    if !has_own && is_drop_in(settings) {
        return Ok(None);
    }
    let settings = settings.clone();
    let tools: Vec<_> = toolbox.iter().map(|tool| tool.name).collect();
    let load = move || {
        let Settings { tools: on, .. } = &*settings;
        let tools = tools.into_iter();
        Prompts::load(&settings.prompts, &on.toolsets, tools, &settings.secrets)
    };
    Ok(Some(LazyLock::new(match has_own {
        // Errors are reported at startup.
        true => {
            let prompts = load()?;
            Box::new(move || prompts)
        }
        false => Box::new(move || load().expect("the prompts of the house are in order")),
    })))
}

/// There is no tool of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownTool {
    /// The name in the call.
    pub(crate) name: String,
    /// A tool with a similar name.
    pub(crate) nearest: Option<&'static str>,
}

impl UnknownTool {
    /// The JSON-RPC error code.
    pub(crate) const CODE: i32 = -32601;

    fn new(name: &str, nearest: Option<&'static str>) -> Self {
        Self {
            name: name.to_owned(),
            nearest,
        }
    }
}

impl std::fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tool \"{}\" not found", self.name)?;
        match self.nearest {
            Some(nearest) => write!(f, ". Did you mean \"{nearest}\"?"),
            None => Ok(()),
        }
    }
}
