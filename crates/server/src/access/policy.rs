//! The policy of the operator (`--policy`): rules by tool and origin that allow a call, deny it, or require confirmation by the user. The
//! first matching rule decides.

mod file;
#[cfg(test)]
mod tests;

pub(crate) use file::LoadError;

use engine::{OriginRules, is_like};
use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The name of resource reads in rules.
pub(crate) const READ_RESOURCE: &str = "resources/read";

/// How long the user may take to confirm a call.
pub(crate) const DECISION_TIMEOUT: Duration = Duration::from_secs(120);

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Policy {
    rules: Vec<Rule>,
    /// The action without a matching rule.
    default: Action,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    /// The number in the file, from 1.
    number: usize,
    /// The name in the file.
    id: Option<String>,
    /// The line of the rule's start, from 1.
    line: usize,
    /// `None`: all tools.
    tools: Option<Vec<ToolPattern>>,
    /// `None`: any origin, also without a page.
    origins: Option<OriginRules>,
    action: Action,
    /// The reason for the agent.
    reason: Option<String>,
}

/// The action of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Action {
    /// The call is executed.
    Allow,
    /// The user confirms or declines.
    Ask,
    /// The call is rejected.
    Deny,
}

/// A pattern of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ToolPattern {
    /// Tools with that name, in which `*` matches any text.
    Name(String),
    /// Tools that only read (`readOnlyHint`).
    ReadOnly,
    /// Tools that change something (`destructiveHint`).
    Destructive,
}

/// The facts of a tool that rules use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subject {
    /// The name.
    pub(crate) name: &'static str,
    /// Whether it only reads.
    pub(crate) is_read_only: bool,
}

/// The name of the use of a browser by a user at the dashboard in rules.
pub(crate) const DASHBOARD: &str = "dashboard";

impl Subject {
    /// The use of a browser by a user at the dashboard.
    pub(crate) const DASHBOARD: Self = Self {
        name: DASHBOARD,
        is_read_only: false,
    };

    /// The upload of files to a file chooser, also by a user.
    pub(crate) const FILE_UPLOAD: Self = Self {
        name: "browser_file_upload",
        is_read_only: false,
    };

    /// The snapshot of a page.
    pub(crate) const SNAPSHOT: Self = Self {
        name: "browser_snapshot",
        is_read_only: true,
    };

    /// Reading a resource.
    pub(crate) const RESOURCE: Self = Self {
        name: READ_RESOURCE,
        is_read_only: true,
    };
}

/// The decision of the policy about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ruling<'a> {
    /// The action.
    pub(crate) action: Action,
    /// The matching rule; `None`: the default.
    rule: Option<&'a Rule>,
}

impl Ruling<'_> {
    /// Returns the reason for the agent.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.rule?.reason.as_deref()
    }
}

/// The format: `rule 2 (line 7)`, `rule 2 "bank" (line 7)`, `the default`.
impl fmt::Display for Ruling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(rule) = self.rule else {
            return f.write_str("the default");
        };
        write!(f, "rule {}", rule.number)?;
        if let Some(id) = &rule.id {
            write!(f, " \"{id}\"")?;
        }
        write!(f, " (line {})", rule.line)
    }
}

impl Policy {
    /// Returns the decision about a call of a tool at a URL; `None`: there is no page.
    pub(crate) fn judge(&self, tool: Subject, url: Option<&str>) -> Ruling<'_> {
        let fits = |rule: &&Rule| rule.is_about(tool) && rule.holds_at(url);
        let rule = self.rules.iter().find(fits);
        Ruling {
            action: rule.map_or(self.default, |rule| rule.action),
            rule,
        }
    }

    /// Returns the rule that denies a tool at every origin.
    pub(crate) fn denies_everywhere(&self, tool: Subject) -> Option<Ruling<'_>> {
        let mut rules = self.rules.iter().filter(|rule| rule.is_about(tool));
        // A rule that denies only some origins leaves the others to later rules.
        let decides = |rule: &&Rule| rule.action != Action::Deny || rule.origins.is_none();
        let rule = rules.find(decides);
        let ruling = Ruling {
            action: rule.map_or(self.default, |rule| rule.action),
            rule,
        };
        (ruling.action == Action::Deny).then_some(ruling)
    }

    /// Returns whether a rule may require confirmation for a tool.
    pub(crate) fn may_ask(&self, tool: Subject) -> bool {
        let asks = |rule: &Rule| rule.action == Action::Ask && rule.is_about(tool);
        self.default == Action::Ask || self.rules.iter().any(asks)
    }
}

impl Rule {
    fn is_about(&self, tool: Subject) -> bool {
        let fits = |pattern: &ToolPattern| pattern.fits(tool);
        self.tools
            .as_ref()
            .is_none_or(|tools| tools.iter().any(fits))
    }

    fn holds_at(&self, url: Option<&str>) -> bool {
        let Some(origins) = &self.origins else {
            return true;
        };
        // `OriginRules` allow URLs without a host, but a rule about origins must not match them.
        url.and_then(web_origin)
            .is_some_and(|origin| origins.allow(&origin))
    }
}

impl ToolPattern {
    fn fits(&self, tool: Subject) -> bool {
        match self {
            Self::Name(pattern) => is_like(pattern, tool.name),
            Self::ReadOnly => tool.is_read_only,
            Self::Destructive => !tool.is_read_only,
        }
    }
}

/// Returns the origin of a URL with a host; a `blob:` URL has the origin of its creator.
fn web_origin(url: &str) -> Option<String> {
    let origin = crate::access::urls::origin(url);
    origin.contains("://").then_some(origin)
}

/// The confirmations of a user for the rest of a session.
#[derive(Debug, Default)]
pub(crate) struct Approvals(Mutex<HashSet<Approval>>);

/// A confirmation: a tool at an origin, for a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Approval {
    /// The rule.
    pub(crate) rule: String,
    /// The tool.
    pub(crate) tool: &'static str,
    /// The origin.
    pub(crate) origin: Option<String>,
}

impl Approvals {
    /// Returns whether the user has confirmed.
    pub(crate) fn has(&self, approval: &Approval) -> bool {
        let approvals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        approvals.contains(approval)
    }

    /// Adds a confirmation.
    pub(crate) fn add(&self, approval: Approval) {
        let mut approvals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        approvals.insert(approval);
    }
}
