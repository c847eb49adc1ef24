//! Every tool, by toolset. The order here is the order of `tools/list` and of the reference.

mod browser;
mod e2e;
mod session;

pub(crate) use session::{element, network_log};

use crate::config::{Capability, ToolSettings, ToolsetName};
use crate::nearest::nearest;
use crate::tool::{ToolDef, Toolset};
use serde_json::Value;

/// All toolsets there are.
pub const TOOLSETS: &[(ToolsetName, Toolset)] = &[
    (ToolsetName::Browser, browser::TOOLSET),
    (ToolsetName::Session, session::TOOLSET),
    (ToolsetName::E2e, e2e::TOOLSET),
];

/// The tools that a server has switched on, in the order of `tools/list`.
#[derive(Debug, Clone)]
pub struct Toolbox {
    on: Vec<&'static ToolDef>,
    sessions: bool,
    app: bool,
}

/// What became of a name.
pub(crate) enum Lookup {
    /// A tool that is on.
    On(&'static ToolDef),
    /// A tool that is off.
    Off(&'static ToolDef),
    /// No tool; perhaps this one was meant.
    Unknown(Option<&'static str>),
}

impl Toolbox {
    /// The tools that these settings switch on.
    pub fn new(settings: &ToolSettings) -> Self {
        let on = TOOLSETS
            .iter()
            .flat_map(|(name, toolset)| toolset.tools().map(move |tool| (*name, tool)))
            .filter(|(toolset, tool)| switched_on(settings, *toolset, tool))
            .map(|(_, tool)| tool)
            .collect();
        let sessions = [ToolsetName::Session, ToolsetName::E2e];
        Self {
            on,
            sessions: sessions.iter().any(|name| settings.toolsets.contains(name)),
            app: settings.app,
        }
    }

    /// The first rule about a tool that does not exist: its name, and the tool that was perhaps meant.
    pub fn unknown_rule(settings: &ToolSettings) -> Option<(&str, Option<&'static str>)> {
        let names: Vec<_> = TOOLSETS
            .iter()
            .flat_map(|(_, toolset)| toolset.tools().map(|tool| tool.name))
            .collect();
        let rules = settings.rules.iter().map(|rule| rule.name.as_str());
        let name = rules.into_iter().find(|name| !names.contains(name))?;
        Some((name, nearest(name, names.iter().copied())))
    }

    /// The tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static ToolDef> + '_ {
        self.on.iter().copied()
    }

    /// Whether there may be other sessions than the default one, which calls can name.
    pub fn has_sessions(&self) -> bool {
        self.sessions
    }

    /// Whether there may be named contexts, which refs can name.
    pub(crate) fn has_contexts(&self) -> bool {
        self.iter()
            .any(|tool| tool.capability == Some(Capability::Contexts))
    }

    /// Whether the tool is off because there is no app under test.
    pub(crate) fn lacks_app(&self, tool: &ToolDef) -> bool {
        !self.app && e2e::TOOLSET.tools().any(|other| other.name == tool.name)
    }

    /// The tools as `tools/list` shows them.
    pub fn to_json(&self) -> impl Iterator<Item = Value> + '_ {
        self.iter().map(|tool| tool.to_json(self.sessions))
    }

    /// Whether a tool of that name is on.
    pub(crate) fn has(&self, name: &str) -> bool {
        matches!(self.find(name), Lookup::On(_))
    }

    pub(crate) fn find(&self, name: &str) -> Lookup {
        if let Some(tool) = self.iter().find(|tool| tool.name == name) {
            return Lookup::On(tool);
        }
        let mut all = TOOLSETS.iter().flat_map(|(_, toolset)| toolset.tools());
        match all.find(|tool| tool.name == name) {
            Some(tool) => Lookup::Off(tool),
            None => Lookup::Unknown(nearest(name, self.iter().map(|tool| tool.name))),
        }
    }
}

/// What is forbidden is off, and so are the tools of an app where there is none. Rules about the tool itself come next, the last one of them; then toolset and capability decide.
fn switched_on(settings: &ToolSettings, toolset: ToolsetName, tool: &ToolDef) -> bool {
    if tool
        .risk
        .is_some_and(|risk| settings.forbidden.contains(&risk))
    {
        return false;
    }
    let rule = settings
        .rules
        .iter()
        .rev()
        .find(|rule| rule.name == tool.name);
    match rule {
        Some(rule) => rule.allow,
        None => {
            settings.toolsets.contains(&toolset)
                && (settings.app || toolset != ToolsetName::E2e)
                && tool
                    .capability
                    .is_none_or(|capability| settings.capabilities.contains(&capability))
        }
    }
}
