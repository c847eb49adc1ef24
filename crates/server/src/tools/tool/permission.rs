//! The decision whether a call is executed, by the policy of the operator. The policy judges the call when it has its turn, by the page
//! that it would act on.

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

/// A call that has not been permitted yet.
pub(super) struct Unpermitted {
    tool: &'static ToolSpec,
    /// The arguments for the question to the user. `None` if no rule requires a question.
    arguments: Option<Arguments>,
}

/// Checks whether the policy denies the tool for all pages. Such a call is denied before it waits for its turn.
pub(super) fn begin(
    tool: &'static ToolSpec,
    arguments: &Arguments,
    call: &Call,
) -> Result<Unpermitted> {
    let policy = call.policy();
    if let Some(ruling) = policy.and_then(|policy| policy.denies_everywhere(tool.subject())) {
        record_decision(call, ruling, "denied");
        return Err(denied(tool, ruling, None, Denial::Denied));
    }
    let may_ask = policy.is_some_and(|policy| policy.may_ask(tool.subject()));
    Ok(Unpermitted {
        tool,
        arguments: may_ask.then(|| arguments.clone()),
    })
}

/// The page by which the policy judges a call.
pub(crate) enum JudgedPage {
    /// The current page.
    Current,
    /// The page with this URL, which the call opens or works on instead of the current one.
    Url(String),
    /// The tab with this index among those of all contexts of the session.
    Tab(i64),
    /// None: the call works on no page.
    None,
}

impl JudgedPage {
    /// Returns the tab of a session with this index.
    pub(crate) fn of_tab(session: &Session, index: Option<i64>) -> Self {
        let index = index.and_then(|index| usize::try_from(index).ok());
        let tabs = session.open_tabs().map(|tabs| tabs.all());
        let tab = index.and_then(|index| tabs?.get(index).cloned());
        tab.map_or(Self::None, |tab| Self::Url(tab.page.url()))
    }
}

/// Returns the URL of the page by which the policy judges the call.
pub(super) fn judged_url(
    call: &Call,
    reach: &Reach,
    judged_page: impl FnOnce(&Session) -> JudgedPage,
) -> Option<String> {
    call.policy()?;
    let part = reach.session.part(call);
    match judged_page(part.as_deref().unwrap_or(&reach.session)) {
        // A `javascript:` URL runs in the current page, so the call is judged by that page.
        JudgedPage::Url(url) if Url::parse(&url).is_ok_and(|url| url.scheme() == "javascript") => {
            reach.page_url(call)
        }
        JudgedPage::Url(url) => Some(url),
        JudgedPage::Current => reach.page_url(call),
        JudgedPage::Tab(index) => {
            let tab = reach.session.tabs_of_contexts().numbered(index).ok()?;
            Some(tab.tab.page.url())
        }
        JudgedPage::None => None,
    }
}

impl Unpermitted {
    /// Decides whether the call is permitted, with the user's consent if a rule requires it. Fails if it is denied. The call must have its
    /// turn; `url` is that of the page by which it is judged.
    pub(super) async fn obtain(
        self,
        call: &Call,
        reach: &Reach,
        url: Option<String>,
    ) -> Result<()> {
        let Some(policy) = call.policy() else {
            return Ok(());
        };
        let ruling = policy.judge(self.tool.subject(), url.as_deref());
        let origin = url.as_deref().map(origin);
        call.set_judged_origin(origin.clone());
        match ruling.action {
            Action::Allow => {
                record_decision(call, ruling, "allowed");
                Ok(())
            }
            Action::Deny => {
                record_decision(call, ruling, "denied");
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
            record_decision(call, ruling, "approved-for-session");
            return Ok(());
        }
        let elicitation = Elicitation {
            text: self.question_text(call, ruling, approval.origin.as_deref()),
            kind: ElicitationKind::Permission,
        };
        call.set_status("waiting for the user to allow the call");
        let answer = call.client.ask(&elicitation);
        let result = tokio::time::timeout(DECISION_TIMEOUT, answer).await;
        call.clear_status();
        let (denial, decision) = match result {
            Ok(ElicitationResult::Decided(decision)) if decision.accept => {
                if decision.for_session {
                    record_decision(call, ruling, "approved-for-session");
                    reach.session.approvals().add(approval);
                } else {
                    record_decision(call, ruling, "approved");
                }
                return Ok(());
            }
            Ok(ElicitationResult::RetriedByClient) => {
                record_decision(call, ruling, "asked");
                return Err(Error::Cancelled {});
            }
            Ok(ElicitationResult::Decided(_) | ElicitationResult::Declined) => {
                (Denial::Declined, "declined")
            }
            Ok(ElicitationResult::Unsupported) => (Denial::CannotAsk, "cannot-ask"),
            Err(_) => (Denial::Unanswered, "unanswered"),
        };
        record_decision(call, ruling, decision);
        Err(denied(self.tool, ruling, approval.origin, denial))
    }

    /// Returns the text of the question to the user.
    fn question_text(&self, call: &Call, ruling: Ruling<'_>, origin: Option<&str>) -> String {
        let on_origin = origin.map_or_else(String::new, |origin| format!(" on {origin}"));
        let arguments = Value::Object(self.arguments.clone().unwrap_or_default());
        let arguments = call.settings.secrets.redacted(arguments.to_string());
        let arguments = match arguments.char_indices().nth(MAX_SHOWN_CHARS) {
            Some((at, _)) => format!("{}…", &arguments[..at]),
            None => arguments,
        };
        let reason = ruling.reason().map(|reason| format!(": {reason}"));
        format!(
            "Allow \"{}\" ({}){on_origin}?\nArguments: {arguments}\nAsked because of {ruling} of the server's policy{}",
            self.tool.title,
            self.tool.name,
            reason.unwrap_or_default(),
        )
    }
}

/// Records the decision in the audit log entry of the call.
fn record_decision(call: &Call, ruling: Ruling<'_>, decision: &'static str) {
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
