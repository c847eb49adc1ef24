//! Requests: what identifies and cancels them, their audit record, and the policy about those that call no tool.

use super::Server;
use crate::access::audit::{Decision, Entry, WriteError};
use crate::access::policy::{Action, Subject};
use crate::access::principal::Principal;
use crate::access::urls::origin;
use crate::calls::queue::Ticket;
use crate::calls::{Client, Turn};
use crate::error::{Denial, Error};
use crate::sessions::Caller;
use crate::sessions::session::Session;
use crate::telemetry::RequestInfo;
use crate::tools::tool::Arguments;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

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
pub(super) struct Request {
    pub(super) arguments: Arguments,
    pub(super) caller: Caller,
    pub(super) client: Arc<dyn Client>,
    pub(super) incoming: IncomingCall,
    /// The record in the audit log, if there is one.
    pub(super) entry: Option<Arc<Entry>>,
    /// The batch that the call is a step of, if it is one.
    pub(super) batch: Option<Batch>,
}

/// The batch of a step.
pub(super) struct Batch {
    /// The session of all steps.
    pub(super) session: Arc<Session>,
    /// The turn on that session.
    pub(super) turn: Turn,
    /// The record of the batch in the audit log, if there is one.
    pub(super) entry: Option<Arc<Entry>>,
}

/// Returns the error for a request that cannot be recorded; `ran` is whether it was executed.
pub(crate) fn not_recorded(error: &WriteError, ran: bool) -> Error {
    let reason = error.to_string();
    Error::NotRecorded { reason, ran }
}

impl Server {
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
}
