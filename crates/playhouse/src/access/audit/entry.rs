//! The record of one call, from its arrival to its end.

use super::arguments::{bounded, cut, shown};
use super::{AuditLog, WriteError, timestamp};
use crate::access::urls::origin;
use crate::config::Secrets;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use time::OffsetDateTime;

/// A call that is to be recorded. One that is dropped before [`Entry::end`] is recorded as cancelled.
pub(crate) struct Entry {
    log: Arc<AuditLog>,
    began: OffsetDateTime,
    started: Instant,
    /// `None` once it was recorded.
    facts: Mutex<Option<Facts>>,
}

struct Facts {
    principal: String,
    method: &'static str,
    tool: Option<String>,
    arguments: Value,
    /// Its texts may be for fields of the page.
    redact_typed_texts: bool,
    /// The page could not answer.
    set_interrupted: bool,
    secrets: Secrets,
    session: Option<String>,
    before: Option<String>,
    after: Option<String>,
    decision: Option<Decision>,
}

/// What the policy said of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The rule that decided.
    pub(crate) rule: String,
    /// What was decided, and by whom where that was the user.
    pub(crate) decision: &'static str,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// With an answer that is no error.
    Ok,
    /// With an error of that code.
    Failed(Cow<'static, str>),
    /// With an error of JSON-RPC.
    Refused(i32),
    /// With a question to the user, whose answer comes with another call.
    InputRequired,
}

impl Entry {
    /// The record of a request that has just come. `method` is that of MCP, `tool` the name of the tool that is called.
    pub(crate) fn new(
        log: Arc<AuditLog>,
        principal: &impl ToString,
        method: &'static str,
        tool: Option<&str>,
        arguments: Value,
        secrets: Secrets,
    ) -> Self {
        Self {
            log,
            began: OffsetDateTime::now_utc(),
            started: Instant::now(),
            facts: Mutex::new(Some(Facts {
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

    /// The session that it is for.
    pub(crate) fn set_session(&self, session: &str) {
        self.with(|facts| facts.session = Some(cut(session.to_owned())));
    }

    /// It may type its texts into fields of the page. Those of a call that fails or is interrupted are not recorded: whether they were
    /// passwords is not known.
    pub(crate) fn redact_typed_texts(&self) {
        self.with(|facts| facts.redact_typed_texts = true);
    }

    /// A dialog has kept the page from answering.
    pub(crate) fn set_interrupted(&self) {
        self.with(|facts| facts.set_interrupted = true);
    }

    /// What its record must not show, from now on and until it ends.
    pub(crate) fn set_secrets(&self, secrets: &Secrets) {
        self.with(|facts| facts.secrets = secrets.clone());
    }

    /// The page that it finds, by its URL.
    pub(crate) fn set_initial_page(&self, url: Option<&str>) {
        self.with(|facts| facts.before = url.map(|url| cut(origin(url))));
    }

    /// The page that it leaves behind, by its URL.
    pub(crate) fn set_final_page(&self, url: Option<&str>) {
        self.with(|facts| facts.after = url.map(|url| cut(origin(url))));
    }

    /// What the policy said of it.
    pub(crate) fn set_decision(&self, decision: Decision) {
        self.with(|facts| facts.decision = Some(decision));
    }

    /// Writes the record. Fails where that is not possible; then the answer must not be given.
    pub(crate) async fn end(&self, outcome: Outcome) -> Result<(), WriteError> {
        let Some(facts) = self.facts().take() else {
            return Ok(());
        };
        let (log, began, started) = (self.log.clone(), self.began, self.started);
        // Also written when nobody waits any more.
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
    fn record(
        self,
        began: OffsetDateTime,
        started: Instant,
        outcome: Outcome,
    ) -> Map<String, Value> {
        let mut record = Map::new();
        let mut add = |name: &str, value: Value| {
            record.insert(name.to_owned(), value);
        };
        add("time", timestamp(began).into());
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
