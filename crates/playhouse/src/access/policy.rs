//! The policy of the operator (`--policy`): rules of tool and origin that allow a call, deny it, or have the user asked. The first rule that fits decides.

mod file;
#[cfg(test)]
mod tests;

pub(crate) use file::LoadError;

use engine::{OriginRules, is_like};
use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What the reading of a resource is called in rules.
pub(crate) const READ_RESOURCE: &str = "resources/read";

/// How long the user may take to decide about a call.
pub(crate) const DECISION_TIMEOUT: Duration = Duration::from_secs(120);

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Policy {
    rules: Vec<Rule>,
    /// What holds where no rule fits.
    default: Action,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Its place in the file, from 1.
    number: usize,
    /// The name that the file gives it.
    id: Option<String>,
    /// The line where it begins, from 1.
    line: usize,
    /// `None`: all tools.
    tools: Option<Vec<ToolPattern>>,
    /// `None`: wherever, also where there is no page.
    origins: Option<OriginRules>,
    action: Action,
    /// What the agent is told.
    reason: Option<String>,
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Action {
    /// It is carried out.
    Allow,
    /// The user decides.
    Ask,
    /// It is refused.
    Deny,
}

/// Which tools a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ToolPattern {
    /// Those of that name, in which `*` stands for any text.
    Name(String),
    /// Those that only read (`readOnlyHint`).
    ReadOnly,
    /// Those that change something (`destructiveHint`).
    Destructive,
}

/// A tool, as far as rules know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subject {
    /// Its name.
    pub(crate) name: &'static str,
    /// It only reads.
    pub(crate) is_read_only: bool,
}

impl Subject {
    /// The reading of a resource.
    pub(crate) const RESOURCE: Self = Self {
        name: READ_RESOURCE,
        is_read_only: true,
    };
}

/// What the policy says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ruling<'a> {
    /// What becomes of it.
    pub(crate) action: Action,
    /// The rule that says so; `None`: the default.
    rule: Option<&'a Rule>,
}

impl Ruling<'_> {
    /// What the agent is to be told besides.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.rule?.reason.as_deref()
    }
}

/// Such as `rule 2 (line 7)`, `rule 2 "bank" (line 7)`, `the default`.
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
    /// What it says of a call of a tool at a URL; `None`: there is no page.
    pub(crate) fn judge(&self, tool: Subject, url: Option<&str>) -> Ruling<'_> {
        let fits = |rule: &&Rule| rule.is_about(tool) && rule.holds_at(url);
        let rule = self.rules.iter().find(fits);
        Ruling {
            action: rule.map_or(self.default, |rule| rule.action),
            rule,
        }
    }

    /// The rule by which a tool is denied wherever it is called.
    pub(crate) fn denies_everywhere(&self, tool: Subject) -> Option<Ruling<'_>> {
        let mut rules = self.rules.iter().filter(|rule| rule.is_about(tool));
        // A rule about some origins that denies leaves the others to those behind it.
        let decides = |rule: &&Rule| rule.action != Action::Deny || rule.origins.is_none();
        let rule = rules.find(decides);
        let ruling = Ruling {
            action: rule.map_or(self.default, |rule| rule.action),
            rule,
        };
        (ruling.action == Action::Deny).then_some(ruling)
    }

    /// Whether the user may be asked about a tool.
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
        // What has no host the rules of origins let pass.
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

/// The origin of a URL that comes from a host; that of a `blob:` URL is the one of its maker.
fn web_origin(url: &str) -> Option<String> {
    let origin = crate::access::urls::origin(url);
    origin.contains("://").then_some(origin)
}

/// What the user of a session has allowed until it ends.
#[derive(Debug, Default)]
pub(crate) struct Approvals(Mutex<HashSet<Approval>>);

/// A tool at an origin, as a rule had it asked about.
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
    /// Whether it was given.
    pub(crate) fn has(&self, approval: &Approval) -> bool {
        let approvals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        approvals.contains(approval)
    }

    /// Gives it.
    pub(crate) fn add(&self, approval: Approval) {
        let mut approvals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        approvals.insert(approval);
    }
}
