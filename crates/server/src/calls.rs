//! A tool call: its client, permission, timeouts and turn.

pub(crate) mod handover;
pub(crate) mod queue;
mod status;
mod step_client;
pub(crate) mod tool_spec;

use crate::access::audit::Entry;
use crate::access::policy::{Action, DECISION_TIMEOUT, Policy, Subject};
use crate::access::principal::Permission;
use crate::access::urls;
use crate::config::Settings;
use crate::telemetry::turn_span;
use engine::codegen::Language;
use engine::{Progress, Selector, estimate_tokens};
use handover::Handovers;
use queue::Ticket;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tool_spec::{OutputFormat, ToolSpec};

pub(crate) use status::Status;
pub(crate) use step_client::StepClient;

/// The client of a call, as far as tools need it.
pub(crate) trait Client: Send + Sync {
    /// Returns the URIs of the client's roots; empty if it supports none, `None` if it does not respond.
    fn roots(&self) -> Pin<Box<dyn Future<Output = Option<Vec<String>>> + Send + '_>>;

    /// Sends an elicitation to the client's user. It takes as long as the user needs.
    fn ask<'a>(
        &'a self,
        question: &'a Elicitation,
    ) -> Pin<Box<dyn Future<Output = ElicitationResult> + Send + 'a>>;

    /// Returns the host name by which the client reaches the server, if any.
    fn host(&self) -> Option<&str> {
        None
    }

    /// Returns whether the client was requested to repeat the call with the result of an elicitation, so that it ignores the answer of this
    /// one.
    fn is_retried_by_client(&self) -> bool {
        false
    }

    /// Returns where the call records what it waits for, if the client requested progress notifications.
    fn status(&self) -> Option<&Status> {
        None
    }

    /// Returns whether the client is still connected, as far as that is known. It may take as long as the timeout of requests to the
    /// client.
    fn is_connected(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(std::future::ready(true))
    }

    /// Returns whether the client responds to an elicitation by repeating the whole call.
    fn repeats_calls(&self) -> bool {
        false
    }

    /// Resolves when the client can receive an answer. A client that does not read its answers receives no more.
    fn ready(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// An elicitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elicitation {
    /// The text for the user, one or two sentences.
    pub(crate) text: String,
    /// The kind of the elicitation.
    pub(crate) kind: ElicitationKind,
}

/// The kind of an elicitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ElicitationKind {
    /// Confirm or decline, with an editable text if one is suggested.
    Confirm { suggestion: Option<String> },
    /// Allow the call once, always, or not.
    Permission,
    /// Do a step and confirm that it is done.
    Action,
    /// Open a page of the server.
    OpenUrl { url: String },
}

/// The outcome of an elicitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ElicitationResult {
    /// The user responded.
    Decided(Decision),
    /// The user declined.
    Declined,
    /// The client does not support elicitation.
    Unsupported,
    /// The client elicits the response, and repeats the call with it.
    RetriedByClient,
}

/// The response of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The user accepted.
    pub(crate) accept: bool,
    /// The response also applies to the same elicitation later in this session.
    pub(crate) for_session: bool,
    /// The text of the user.
    pub(crate) text: Option<String>,
}

/// A client without any capabilities.
pub(crate) struct Anonymous;

impl Client for Anonymous {
    fn roots(&self) -> Pin<Box<dyn Future<Output = Option<Vec<String>>> + Send + '_>> {
        Box::pin(std::future::ready(Some(Vec::new())))
    }

    fn ask<'a>(
        &'a self,
        _: &'a Elicitation,
    ) -> Pin<Box<dyn Future<Output = ElicitationResult> + Send + 'a>> {
        Box::pin(std::future::ready(ElicitationResult::Unsupported))
    }

    fn ready(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }
}

/// The exclusive right to use a session, until its last clone is dropped or another call closes the session.
#[derive(Clone)]
pub(crate) struct Turn {
    /// `None`: the session was closed before the turn.
    guard: Option<Arc<tokio::sync::OwnedMutexGuard<()>>>,
    closed: CancellationToken,
}

impl Turn {
    /// Waits for the next turn on the resource of `lock`; it ends early with `closed`.
    pub(crate) async fn on(lock: Arc<tokio::sync::Mutex<()>>, closed: CancellationToken) -> Self {
        let guard = tokio::select! {
            // Polled first, so that it enters the queue at once.
            biased;
            guard = lock.lock_owned() => Some(Arc::new(guard)),
            () = closed.cancelled() => None,
        };
        Self { guard, closed }
    }
}

/// A tool call.
pub(crate) struct Call {
    /// The called tool.
    pub(crate) tool: &'static ToolSpec,
    /// The settings of the server.
    pub(crate) settings: Arc<Settings>,
    /// The client.
    pub(crate) client: Arc<dyn Client>,
    /// The open requests to users to type a value.
    pub(crate) handovers: Arc<Handovers>,
    cancel: CancellationToken,
    ticket: Ticket,
    /// The named context that the call is for, if any.
    context: Option<String>,
    /// The permission of the caller.
    permission: Permission,
    /// The timeout of the call, if it has one.
    timeout: Option<Duration>,
    /// The limit of the answer, in tokens, if the call has one.
    max_tokens: Option<usize>,
    turn: Mutex<Option<Turn>>,
    /// The turn of the batch that the call is a step of, if it is one.
    turn_of_batch: Option<Turn>,
    /// Cancelled when another call closes its session; set with the turn.
    closed: watch::Sender<Option<CancellationToken>>,
    begun: Notify,
    /// The session that tests an app, if the call uses it without naming it.
    tested: OnceLock<String>,
    /// The locators of the elements that the call has found, in generated code.
    targets: Mutex<Vec<Selector>>,
    /// The record in the audit log, if there is one.
    entry: Option<Arc<Entry>>,
    /// The policy of the operator, if there is one.
    policy: Option<Arc<Policy>>,
    /// The origin by which the policy has judged the call.
    judged_origin: OnceLock<Option<String>>,
}

impl Call {
    pub(crate) fn new(
        tool: &'static ToolSpec,
        settings: Arc<Settings>,
        client: Arc<dyn Client>,
        ticket: Ticket,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            tool,
            settings,
            client,
            handovers: Arc::default(),
            cancel,
            ticket,
            context: None,
            permission: Permission::Admin,
            timeout: None,
            max_tokens: None,
            turn: Mutex::default(),
            turn_of_batch: None,
            closed: watch::Sender::new(None),
            begun: Notify::new(),
            tested: OnceLock::new(),
            targets: Mutex::default(),
            entry: None,
            policy: None,
            judged_origin: OnceLock::new(),
        }
    }

    /// Sets the policy of the operator.
    pub(crate) fn with_policy(self, policy: Option<Arc<Policy>>) -> Self {
        Self { policy, ..self }
    }

    /// Returns the policy of the operator, if there is one.
    pub(crate) fn policy(&self) -> Option<&Policy> {
        self.policy.as_deref()
    }

    /// Sets the origin by which the policy judges the call.
    pub(crate) fn set_judged_origin(&self, origin: Option<String>) {
        // A call is judged once.
        let _ = self.judged_origin.set(origin);
    }

    /// Returns whether the policy lets the answer show a page with this URL. It may be another one than the page that the call was judged
    /// by; and a batch shows a snapshot that no step has asked for.
    pub(crate) fn may_show(&self, url: &str) -> bool {
        let Some(policy) = &self.policy else {
            return true;
        };
        let origin = Some(urls::origin(url)).filter(|origin| origin.contains("://"));
        if origin.is_none() {
            return true;
        }
        let is_allowed = |subject| policy.judge(subject, Some(url)).action == Action::Allow;
        let is_judged = self.judged_origin.get() == Some(&origin);
        let may_call = is_judged || is_allowed(self.tool.subject());
        may_call && (!self.tool.has_steps || is_allowed(Subject::SNAPSHOT))
    }

    /// Sets the record in the audit log.
    pub(crate) fn with_entry(self, entry: Option<Arc<Entry>>) -> Self {
        Self { entry, ..self }
    }

    /// Returns the record in the audit log, if there is one.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.entry.as_deref()
    }

    /// Makes the call a step of a batch, which has this turn.
    pub(crate) fn in_turn_of_batch(self, turn_of_batch: Option<Turn>) -> Self {
        Self {
            turn_of_batch,
            ..self
        }
    }

    /// Returns whether the call is a step of a batch. The answer of the batch reports the page state and the events.
    pub(crate) fn is_step(&self) -> bool {
        self.turn_of_batch.is_some()
    }

    /// Returns the turn of the call, for its steps.
    pub(crate) fn turn_for_steps(&self) -> Option<Turn> {
        self.turn().clone()
    }

    /// Sets the store of requests to users to type a value.
    pub(crate) fn with_handovers(self, handovers: Arc<Handovers>) -> Self {
        Self { handovers, ..self }
    }

    /// Sets a timeout for what the call waits for.
    pub(crate) fn with_timeout(self, timeout: Option<Duration>) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the limit of the answer, in tokens.
    pub(crate) fn with_max_tokens(self, max_tokens: Option<usize>) -> Self {
        Self { max_tokens, ..self }
    }

    /// Returns the limit of the answer that the call itself has, in tokens.
    pub(crate) fn own_max_tokens(&self) -> Option<usize> {
        self.max_tokens
    }

    /// Returns the limit of the answer, in tokens.
    pub(crate) fn max_tokens(&self) -> usize {
        self.max_tokens.unwrap_or(self.settings.answers.max_tokens)
    }

    /// Returns the limit of a snapshot in the answer, in tokens. The other sections, which may contain the URL of the page, need the rest.
    pub(crate) fn max_snapshot_tokens(&self, url: &str) -> usize {
        const MIN_REST: usize = 200;
        let most = self.max_tokens();
        let rest = (most / 10).max(MIN_REST) + estimate_tokens(url);
        most.saturating_sub(rest).max(most / 4)
    }

    /// Sets the permission of the caller.
    pub(crate) fn permitted(self, permission: Permission) -> Self {
        Self { permission, ..self }
    }

    /// Returns the permission of the caller.
    pub(crate) fn permission(&self) -> Permission {
        self.permission
    }

    /// Sets the named context that the call is for.
    pub(crate) fn in_context(self, context: Option<String>) -> Self {
        Self { context, ..self }
    }

    /// Returns the named context that the call is for; `None`: the active one.
    pub(crate) fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// Marks the call as begun without a turn.
    pub(crate) fn skip_turn(&self) {
        self.ticket.leave();
        self.begun.notify_one();
    }

    /// Waits for its turn on a session, in the order of the call queue, and keeps it until the call ends.
    pub(crate) async fn take_turn(&self, turn: impl Future<Output = Turn>) {
        if let Some(taken) = self.turn_of_batch.clone() {
            return self.begin_turn(taken).await;
        }
        let span = turn_span();
        self.ticket.first().await;
        let mut turn = pin!(turn);
        // After the first poll, the turn is queued, and the next call may enter the queue.
        let mut asked = std::future::poll_fn(|context| {
            let poll = turn.as_mut().poll(context);
            self.ticket.leave();
            match poll {
                Poll::Ready(turn) => Poll::Ready(Some(turn)),
                Poll::Pending => Poll::Ready(None),
            }
        })
        .await;
        let taken = match asked.take() {
            Some(taken) => taken,
            None => {
                self.set_status("waiting for an earlier call on the same session");
                let taken = turn.await;
                self.clear_status();
                taken
            }
        };
        drop(span);
        self.begin_turn(taken).await;
    }

    async fn begin_turn(&self, taken: Turn) {
        self.closed.send_replace(Some(taken.closed.clone()));
        if taken.guard.is_none() {
            // `session_closed` ends the call.
            return std::future::pending().await;
        }
        *self.turn() = Some(taken);
        self.client.ready().await;
        self.begun.notify_one();
    }

    /// Passes the turn on the session to the next call.
    pub(crate) fn release_turn(&self) {
        *self.turn() = None;
    }

    /// Resolves when another call closes the session of this one, also while this one waits for its turn.
    pub(crate) async fn session_closed(&self) {
        let mut closed = self.closed.subscribe();
        let closed = closed.wait_for(Option::is_some).await;
        let closed = closed.ok().and_then(|closed| closed.clone());
        match closed {
            Some(closed) => closed.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Returns whether the call had to wait for a turn, and has it.
    pub(crate) fn has_turn(&self) -> bool {
        self.turn().is_some()
    }

    /// Returns the language of generated code in answers.
    pub(crate) fn language(&self) -> Language {
        self.settings.answers.codegen
    }

    /// Resolves when the call has its turn; no timeout includes the wait for it.
    pub(crate) async fn begun(&self) {
        self.begun.notified().await;
    }

    /// Starts the timeout of an action.
    pub(crate) fn action(&self) -> Progress {
        self.within(self.timeout.unwrap_or(self.settings.timeouts.action))
    }

    /// Returns whether the call has a timeout of its own.
    pub(crate) fn has_own_timeout(&self) -> bool {
        self.timeout.is_some()
    }

    /// Returns the timeout of the call, or `usual`.
    pub(crate) fn timeout_or(&self, usual: Duration) -> Duration {
        self.timeout.unwrap_or(usual)
    }

    /// Starts the timeout of an action that takes `more` time by itself.
    pub(crate) fn action_with_extra(&self, more: Duration) -> Progress {
        self.within(self.timeout.unwrap_or(self.settings.timeouts.action) + more)
    }

    /// Starts the timeout for reading a page, which is at least that of a navigation: it takes long if the page is large.
    pub(crate) fn reading(&self) -> Progress {
        let timeouts = &self.settings.timeouts;
        let usual = timeouts.navigation.max(timeouts.action);
        self.within(self.timeout.unwrap_or(usual))
    }

    /// Starts the timeout of a navigation.
    pub(crate) fn navigation(&self) -> Progress {
        let timeouts = &self.settings.timeouts;
        let usual = match self.tool.output_format {
            OutputFormat::Json => timeouts.navigation_of_sessions,
            OutputFormat::Markdown => timeouts.navigation,
        };
        self.within(self.timeout.unwrap_or(usual))
    }

    /// Starts a timeout of the given length.
    pub(crate) fn within(&self, limit: Duration) -> Progress {
        let progress = Progress::cancelled_by(limit, self.cancel.clone());
        if let Some(status) = self.client.status() {
            status.follow(&progress, &self.settings);
        }
        progress
    }

    /// Records what the call waits for, such as `waiting for the browser to start`.
    pub(crate) fn set_status(&self, what: impl Into<String>) {
        if let Some(status) = self.client.status() {
            status.set(what);
        }
    }

    /// Records that the wait is over.
    pub(crate) fn clear_status(&self) {
        if let Some(status) = self.client.status() {
            status.clear();
        }
    }

    /// Returns the longest time that the call may take after it got its turn.
    pub(crate) fn limit(&self) -> Duration {
        let decision = self.policy.as_ref().map(|_| DECISION_TIMEOUT);
        self.settings.longest_call()
            + self.timeout.unwrap_or_default()
            + self.tool.extra_time
            + decision.unwrap_or_default()
    }

    /// Records that the call uses this session, which tests an app.
    pub(crate) fn set_tested(&self, session_id: &str) {
        let _ = self.tested.set(session_id.to_owned());
    }

    /// Returns the session that tests an app, if the call uses it without naming it.
    pub(crate) fn tested(&self) -> Option<&str> {
        self.tested.get().map(String::as_str)
    }

    /// Records the locator of an element that the call has found.
    pub(crate) fn record_target(&self, target: &Selector) {
        self.targets().push(target.clone());
    }

    /// Returns the locators of the elements that the call has found, in order.
    pub(crate) fn targets(&self) -> MutexGuard<'_, Vec<Selector>> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> MutexGuard<'_, Option<Turn>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resolves when the call is cancelled.
    pub(crate) async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }
}
