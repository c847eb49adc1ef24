//! One tool call on its way: what it may reach, how long it may take, and its turn.

pub(crate) mod handover;
pub(crate) mod queue;
mod status;
pub(crate) mod tool_spec;

use crate::access::audit::Entry;
use crate::access::policy::{DECISION_TIMEOUT, Policy};
use crate::access::principal::Permission;
use crate::config::{CodegenLanguage, Settings};
use engine::Progress;
use engine::codegen::Language;
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

/// Who asked, as far as a tool may know.
pub(crate) trait Client: Send + Sync {
    /// The URIs of the folders that the client works in; empty when it has none to tell, `None` when it does not
    /// answer.
    fn roots(&self) -> Pin<Box<dyn Future<Output = Option<Vec<String>>> + Send + '_>>;

    /// Puts a question to the client's user. It may take as long as people take.
    fn ask<'a>(
        &'a self,
        question: &'a Elicitation,
    ) -> Pin<Box<dyn Future<Output = ElicitationResult> + Send + 'a>>;

    /// The name under which it knows us, where it has one.
    fn host(&self) -> Option<&str> {
        None
    }

    /// Whether it was told to make the call again with the answer to a question: nobody reads what this one says.
    fn is_retried_by_client(&self) -> bool {
        false
    }

    /// Where the call notes what it waits for, if the client wants to hear of that.
    fn status(&self) -> Option<&Status> {
        None
    }

    /// Whether the client is still there, as far as it can be found out. It may take as long as a client may take for an answer.
    fn is_connected(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(std::future::ready(true))
    }

    /// Resolves when it can take an answer. One that reads none of its answers gets no more.
    fn ready(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// Something that is put to a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elicitation {
    /// In a sentence or two.
    pub(crate) text: String,
    /// What is wanted of them.
    pub(crate) kind: ElicitationKind,
}

/// What is wanted of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ElicitationKind {
    /// Yes or no; and a text, where one is suggested.
    Confirm { suggestion: Option<String> },
    /// Whether a call may be carried out: this time, each time, or not.
    Permission,
    /// To do something, and to say when it is done.
    Action,
    /// To go to a page of ours.
    OpenUrl { url: String },
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ElicitationResult {
    /// The user said something.
    Decided(Decision),
    /// The user would rather not.
    Declined,
    /// The client cannot ask.
    Unsupported,
    /// The client asks, and comes back with another call.
    RetriedByClient,
}

/// What the user said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Yes.
    pub(crate) accept: bool,
    /// Yes also to the same question in this session.
    pub(crate) for_session: bool,
    /// The text that was wanted.
    pub(crate) text: Option<String>,
}

/// A client that says nothing of itself.
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

/// The right to touch a session, until it is dropped or the session is closed by another call.
pub(crate) struct Turn {
    /// `None`: the session was closed before the turn came.
    guard: Option<tokio::sync::OwnedMutexGuard<()>>,
    closed: CancellationToken,
}

impl Turn {
    /// The next turn on what `lock` protects; it ends early with `closed`.
    pub(crate) async fn on(lock: Arc<tokio::sync::Mutex<()>>, closed: CancellationToken) -> Self {
        let guard = tokio::select! {
            // Asked first, so that it has its place in the queue.
            biased;
            guard = lock.lock_owned() => Some(guard),
            () = closed.cancelled() => None,
        };
        Self { guard, closed }
    }
}

/// A tool call.
pub(crate) struct Call {
    /// The tool that is called.
    pub(crate) tool: &'static ToolSpec,
    /// What the server was told.
    pub(crate) settings: Arc<Settings>,
    /// Who asked.
    pub(crate) client: Arc<dyn Client>,
    /// What people are asked to type.
    pub(crate) handovers: Arc<Handovers>,
    cancel: CancellationToken,
    ticket: Ticket,
    /// The context that it is for, where it names one.
    context: Option<String>,
    /// How far its caller may go.
    permission: Permission,
    /// How long it may wait, where it says so.
    timeout: Option<Duration>,
    turn: Mutex<Option<Turn>>,
    /// Cancelled when its session is closed by another call; known with the turn.
    closed: watch::Sender<Option<CancellationToken>>,
    begun: Notify,
    /// The session that tests an app, where the call is for one that it may not have named.
    tested: OnceLock<String>,
    /// Its record in the audit log, where there is one.
    entry: Option<Arc<Entry>>,
    /// What decides whether it is carried out, where the operator has a policy.
    policy: Option<Arc<Policy>>,
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
            turn: Mutex::default(),
            closed: watch::Sender::new(None),
            begun: Notify::new(),
            tested: OnceLock::new(),
            entry: None,
            policy: None,
        }
    }

    /// Under the policy of the operator, where there is one.
    pub(crate) fn with_policy(self, policy: Option<Arc<Policy>>) -> Self {
        Self { policy, ..self }
    }

    /// The policy of the operator, where there is one.
    pub(crate) fn policy(&self) -> Option<&Policy> {
        self.policy.as_deref()
    }

    /// With a record in the audit log.
    pub(crate) fn with_entry(self, entry: Option<Arc<Entry>>) -> Self {
        Self { entry, ..self }
    }

    /// Its record in the audit log, where there is one.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.entry.as_deref()
    }

    /// Where people type what they are asked for.
    pub(crate) fn with_handovers(self, handovers: Arc<Handovers>) -> Self {
        Self { handovers, ..self }
    }

    /// With a time limit of its own for what it waits for.
    pub(crate) fn with_timeout(self, timeout: Option<Duration>) -> Self {
        Self { timeout, ..self }
    }

    /// Of a caller who may go so far.
    pub(crate) fn permitted(self, permission: Permission) -> Self {
        Self { permission, ..self }
    }

    /// How far its caller may go.
    pub(crate) fn permission(&self) -> Permission {
        self.permission
    }

    /// For a context of the session that it names.
    pub(crate) fn in_context(self, context: Option<String>) -> Self {
        Self { context, ..self }
    }

    /// The context that it names; `None`: the active one.
    pub(crate) fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// Goes ahead without a turn: nobody has to wait for it.
    pub(crate) fn skip_turn(&self) {
        self.ticket.leave();
        self.begun.notify_one();
    }

    /// Waits for its turn on a session, in the order in which calls came, and keeps it until the call is over.
    pub(crate) async fn take_turn(&self, turn: impl Future<Output = Turn>) {
        self.ticket.first().await;
        let mut turn = pin!(turn);
        // Once asked for, the turn's place is safe, and the next call may ask.
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
        self.closed.send_replace(Some(taken.closed.clone()));
        if taken.guard.is_none() {
            // The call is answered by `session_closed`.
            return std::future::pending().await;
        }
        *self.turn() = Some(taken);
        self.client.ready().await;
        self.begun.notify_one();
    }

    /// Lets the next call have the session.
    pub(crate) fn release_turn(&self) {
        *self.turn() = None;
    }

    /// Resolves when another call closes the session that this one has its turn on, or waits for.
    pub(crate) async fn session_closed(&self) {
        let mut closed = self.closed.subscribe();
        let closed = closed.wait_for(Option::is_some).await;
        let closed = closed.ok().and_then(|closed| closed.clone());
        match closed {
            Some(closed) => closed.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Whether it had to wait for a turn, and has it.
    pub(crate) fn has_turn(&self) -> bool {
        self.turn().is_some()
    }

    /// The language of code in answers.
    pub(crate) fn language(&self) -> Language {
        self.settings.answers.codegen.into()
    }

    /// Resolves once the call has its turn; the wait for it counts against no limit.
    pub(crate) async fn begun(&self) {
        self.begun.notified().await;
    }

    /// The time limit of an action, from now on.
    pub(crate) fn action(&self) -> Progress {
        self.within(self.timeout.unwrap_or(self.settings.timeouts.action))
    }

    /// Whether it says itself how long it may take.
    pub(crate) fn has_own_timeout(&self) -> bool {
        self.timeout.is_some()
    }

    /// How long it may wait for somebody; `usual`, unless it says so.
    pub(crate) fn timeout_or(&self, usual: Duration) -> Duration {
        self.timeout.unwrap_or(usual)
    }

    /// The same, and the time that the action takes by itself.
    pub(crate) fn action_with_extra(&self, more: Duration) -> Progress {
        self.within(self.timeout.unwrap_or(self.settings.timeouts.action) + more)
    }

    /// The time limit of a navigation, from now on.
    pub(crate) fn navigation(&self) -> Progress {
        let timeouts = &self.settings.timeouts;
        let usual = match self.tool.output_format {
            OutputFormat::Json => timeouts.navigation_of_sessions,
            OutputFormat::Markdown => timeouts.navigation,
        };
        self.within(self.timeout.unwrap_or(usual))
    }

    /// A time limit of its own, from now on.
    pub(crate) fn within(&self, limit: Duration) -> Progress {
        let progress = Progress::cancelled_by(limit, self.cancel.clone());
        if let Some(status) = self.client.status() {
            status.follow(&progress, &self.settings);
        }
        progress
    }

    /// Notes what it waits for, such as `waiting for the browser to start`.
    pub(crate) fn set_status(&self, what: impl Into<String>) {
        if let Some(status) = self.client.status() {
            status.set(what);
        }
    }

    /// Notes that what it waited for has come.
    pub(crate) fn clear_status(&self) {
        if let Some(status) = self.client.status() {
            status.clear();
        }
    }

    /// The longest that any call may take once it has its turn.
    pub(crate) fn limit(&self) -> Duration {
        let decision = self.policy.as_ref().map(|_| DECISION_TIMEOUT);
        self.settings.longest_call()
            + self.timeout.unwrap_or_default()
            + decision.unwrap_or_default()
    }

    /// The session that tests an app and that the call is for turned out to be this one.
    pub(crate) fn set_tested(&self, session_id: &str) {
        let _ = self.tested.set(session_id.to_owned());
    }

    /// The session that tests an app, where the call is for one that it may not have named.
    pub(crate) fn tested(&self) -> Option<&str> {
        self.tested.get().map(String::as_str)
    }

    fn turn(&self) -> MutexGuard<'_, Option<Turn>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resolves when nobody waits for the call any more.
    pub(crate) async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }
}

impl From<CodegenLanguage> for Language {
    fn from(language: CodegenLanguage) -> Self {
        match language {
            CodegenLanguage::None => Self::None,
            CodegenLanguage::Typescript => Self::Typescript,
            CodegenLanguage::Python => Self::Python,
            CodegenLanguage::Java => Self::Java,
            CodegenLanguage::Csharp => Self::Csharp,
        }
    }
}
