//! Whether a call is carried out, by the policy of the operator: judged when the turn of the call has come, by the page that it would act on.

use super::{Arguments, Reach, ToolSpec};
use crate::access::audit::Decision;
use crate::access::policy::{Action, Approval, DECISION_TIMEOUT, Ruling};
use crate::access::urls::origin;
use crate::calls::{Call, Elicitation, ElicitationKind, ElicitationResult};
use crate::error::{Denial, Error, Result};
use crate::sessions::session::Session;
use serde_json::Value;
use url::Url;

/// The longest text of arguments that the user is shown, in characters.
const MAX_SHOWN_CHARS: usize = 500;

/// A call that is not permitted yet.
pub(super) struct Unpermitted {
    tool: &'static ToolSpec,
    /// The arguments, where the user may have to be shown them.
    arguments: Option<Arguments>,
}

/// Refuses a call that no page makes possible, before it waits for its turn.
pub(super) fn begin(
    tool: &'static ToolSpec,
    arguments: &Arguments,
    call: &Call,
) -> Result<Unpermitted> {
    let policy = call.policy();
    if let Some(ruling) = policy.and_then(|policy| policy.denies_everywhere(tool.subject())) {
        decided(call, ruling, "denied");
        return Err(denied(tool, ruling, None, Denial::Denied));
    }
    let may_ask = policy.is_some_and(|policy| policy.may_ask(tool.subject()));
    Ok(Unpermitted {
        tool,
        arguments: may_ask.then(|| arguments.clone()),
    })
}

/// The URL that a call opens in another page, at its turn. Nobody asks where there is no policy.
pub(super) fn goal(
    call: &Call,
    reach: &Reach,
    goal: impl FnOnce(&Session) -> Option<String>,
) -> Option<String> {
    call.policy()?;
    let part = reach.session.part(call);
    let url = goal(part.as_deref().unwrap_or(&reach.session))?;
    // What is done to the page opens no other one.
    let is_script = Url::parse(&url).is_ok_and(|url| url.scheme() == "javascript");
    (!is_script).then_some(url)
}

impl Unpermitted {
    /// Has it permitted, or fails. The call has its turn; `goal` is the URL that it opens.
    pub(super) async fn obtain(
        self,
        call: &Call,
        reach: &Reach,
        goal: Option<String>,
    ) -> Result<()> {
        let Some(policy) = call.policy() else {
            return Ok(());
        };
        let url = goal.or_else(|| reach.page_url(call));
        let ruling = policy.judge(self.tool.subject(), url.as_deref());
        let origin = url.as_deref().map(origin);
        match ruling.action {
            Action::Allow => {
                decided(call, ruling, "allowed");
                Ok(())
            }
            Action::Deny => {
                decided(call, ruling, "denied");
                Err(denied(self.tool, ruling, origin, Denial::Denied))
            }
            Action::Ask => {
                let approval = Approval {
                    rule: ruling.to_string(),
                    tool: self.tool.name,
                    origin,
                };
                self.ask_user(call, reach, ruling, approval).await
            }
        }
    }

    async fn ask_user(
        self,
        call: &Call,
        reach: &Reach,
        ruling: Ruling<'_>,
        approval: Approval,
    ) -> Result<()> {
        if reach.session.approvals().has(&approval) {
            decided(call, ruling, "approved-for-session");
            return Ok(());
        }
        let question = Elicitation {
            text: self.question(call, ruling, approval.origin.as_deref()),
            kind: ElicitationKind::Permission,
        };
        call.set_status("waiting for the user to allow the call");
        let asking = call.client.ask(&question);
        let reaction = tokio::time::timeout(DECISION_TIMEOUT, asking).await;
        call.clear_status();
        let (denial, decision) = match reaction {
            Ok(ElicitationResult::Decided(decision)) if decision.accept => {
                if decision.for_session {
                    decided(call, ruling, "approved-for-session");
                    reach.session.approvals().add(approval);
                } else {
                    decided(call, ruling, "approved");
                }
                return Ok(());
            }
            Ok(ElicitationResult::RetriedByClient) => {
                decided(call, ruling, "asked");
                return Err(Error::Cancelled {});
            }
            Ok(ElicitationResult::Decided(_) | ElicitationResult::Declined) => {
                (Denial::Declined, "declined")
            }
            Ok(ElicitationResult::Unsupported) => (Denial::CannotAsk, "cannot-ask"),
            Err(_) => (Denial::Unanswered, "unanswered"),
        };
        decided(call, ruling, decision);
        Err(denied(self.tool, ruling, approval.origin, denial))
    }

    /// The question for the user.
    fn question(&self, call: &Call, ruling: Ruling<'_>, origin: Option<&str>) -> String {
        let place = origin.map_or_else(String::new, |origin| format!(" on {origin}"));
        let arguments = Value::Object(self.arguments.clone().unwrap_or_default());
        let arguments = call.settings.secrets.redacted(arguments.to_string());
        let arguments = match arguments.char_indices().nth(MAX_SHOWN_CHARS) {
            Some((at, _)) => format!("{}…", &arguments[..at]),
            None => arguments,
        };
        let reason = ruling.reason().map(|reason| format!(": {reason}"));
        format!(
            "Allow \"{}\" ({}){place}?\nArguments: {arguments}\nAsked because of {ruling} of the server's policy{}",
            self.tool.title,
            self.tool.name,
            reason.unwrap_or_default(),
        )
    }
}

/// Notes in the record of the call what was decided.
fn decided(call: &Call, ruling: Ruling<'_>, decision: &'static str) {
    if let Some(entry) = call.entry() {
        entry.set_decision(Decision {
            rule: ruling.to_string(),
            decision,
        });
    }
}

fn denied(tool: &ToolSpec, ruling: Ruling<'_>, origin: Option<String>, denial: Denial) -> Error {
    Error::PolicyDenied {
        tool: tool.name,
        origin,
        rule: ruling.to_string(),
        denial,
        reason: ruling.reason().map(str::to_owned),
    }
}
