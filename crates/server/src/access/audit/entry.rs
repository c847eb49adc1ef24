//! The record of a call, from its arrival to its end.

use super::arguments::{bounded, cut, shown};
use super::{AuditLog, WriteError};
use crate::access::urls::origin;
use crate::config::Secrets;
use crate::timestamp::timestamp;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

/// A call to be recorded. If it is dropped before [`Entry::end`], it is recorded as cancelled.
pub(crate) struct Entry {
    log: Arc<AuditLog>,
    began: SystemTime,
    started: Instant,
    /// `None` after it was recorded.
    facts: Mutex<Option<Facts>>,
}

struct Facts {
    request: String,
    principal: String,
    method: &'static str,
    tool: Option<String>,
    arguments: Value,
    /// Whether its texts may have been typed into password fields.
    redact_typed_texts: bool,
    /// Whether a dialog interrupted the page.
    set_interrupted: bool,
    secrets: Secrets,
    session: Option<String>,
    before: Option<String>,
    after: Option<String>,
    decision: Option<Decision>,
}

/// The policy's decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The rule that applied.
    pub(crate) rule: String,
    /// The decision, and whether the user made it.
    pub(crate) decision: &'static str,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A successful answer.
    Ok,
    /// An error with that code.
    Failed(Cow<'static, str>),
    /// A JSON-RPC error.
    Refused(i32),
    /// An elicitation, whose response comes with another call.
    InputRequired,
}

impl Entry {
    /// Creates the record of a request. `request` is its identifier, `method` the MCP method, `tool` the called tool.
    pub(crate) fn new(
        log: Arc<AuditLog>,
        request: &str,
        principal: &impl ToString,
        method: &'static str,
        tool: Option<&str>,
        arguments: Value,
        secrets: Secrets,
    ) -> Self {
        Self {
            log,
            began: SystemTime::now(),
            started: Instant::now(),
            facts: Mutex::new(Some(Facts {
                request: request.to_owned(),
                principal: principal.to_string(),
                method,
                tool: tool.map(|tool| cut(tool.to_owned())),
                arguments,
                redact_typed_texts: false,
                set_interrupted: false,
                secrets,
                session: None,
                before: None,
                after: None,
                decision: None,
            })),
        }
    }

    /// Sets the session of the call.
    pub(crate) fn set_session(&self, session: &str) {
        self.with(|facts| facts.session = Some(cut(session.to_owned())));
    }

    /// Marks its texts as possibly typed into fields of the page. If the call fails or is interrupted, they are not recorded, because they
    /// may be passwords.
    pub(crate) fn redact_typed_texts(&self) {
        self.with(|facts| facts.redact_typed_texts = true);
    }

    /// Records that a dialog interrupted the page.
    pub(crate) fn set_interrupted(&self) {
        self.with(|facts| facts.set_interrupted = true);
    }

    /// Adds secrets that the record must not contain.
    pub(crate) fn set_secrets(&self, secrets: &Secrets) {
        self.with(|facts| facts.secrets = secrets.clone());
    }

    /// Sets the URL of the page before the call.
    pub(crate) fn set_initial_page(&self, url: Option<&str>) {
        self.with(|facts| facts.before = url.map(|url| cut(origin(url))));
    }

    /// Sets the URL of the page after the call.
    pub(crate) fn set_final_page(&self, url: Option<&str>) {
        self.with(|facts| facts.after = url.map(|url| cut(origin(url))));
    }

    /// Sets the policy's decision.
    pub(crate) fn set_decision(&self, decision: Decision) {
        self.with(|facts| facts.decision = Some(decision));
    }

    /// Writes the record. If that fails, the answer must not be sent.
    pub(crate) async fn end(&self, outcome: Outcome) -> Result<(), WriteError> {
        let Some(facts) = self.facts().take() else {
            return Ok(());
        };
        let (log, began, started) = (self.log.clone(), self.began, self.started);
        // Also written if the caller is cancelled.
        let write = move || log.append(facts.record(began, started, outcome));
        let written = tokio::task::spawn_blocking(write).await;
        written.unwrap_or_else(|panic| Err(WriteError(panic.to_string())))
    }

    fn with(&self, change: impl FnOnce(&mut Facts)) {
        if let Some(facts) = &mut *self.facts() {
            change(facts);
        }
    }

    fn facts(&self) -> MutexGuard<'_, Option<Facts>> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(facts) = self.facts().take() {
            let record = facts.record(
                self.began,
                self.started,
                Outcome::Failed("CANCELLED".into()),
            );
            if let Err(error) = self.log.append(record) {
                tracing::warn!(%error, "a call was not recorded in the audit log");
            }
        }
    }
}

impl Facts {
    fn record(self, began: SystemTime, started: Instant, outcome: Outcome) -> Map<String, Value> {
        let mut record = Map::new();
        let mut add = |name: &str, value: Value| {
            record.insert(name.to_owned(), value);
        };
        add("time", timestamp(began).into());
        add("requestId", self.request.into());
        add("principal", cut(self.principal).into());
        add("session", self.session.into());
        add("method", self.method.into());
        if let Some(tool) = self.tool {
            add("tool", tool.into());
        }
        let has_typed = outcome == Outcome::Ok && !self.set_interrupted;
        let is_typed = has_typed || !self.redact_typed_texts;
        let arguments = shown(self.arguments, &self.secrets, is_typed);
        add("arguments", bounded(arguments));
        add("originBefore", self.before.into());
        add("originAfter", self.after.into());
        if let Some(Decision { rule, decision }) = self.decision {
            add("rule", cut(rule).into());
            add("decision", decision.into());
        }
        add(
            "result",
            match outcome {
                Outcome::Ok => "ok".into(),
                Outcome::Failed(code) => code.into_owned().into(),
                Outcome::InputRequired => "input_required".into(),
                Outcome::Refused(code) => code.to_string().into(),
            },
        );
        let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        add("durationMs", took.into());
        record
    }
}
