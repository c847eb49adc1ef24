//! Every tool, by toolset. The order here is the order of `tools/list` and of the reference.

mod browser;
mod e2e;
pub(crate) mod evidence;
pub(crate) mod image_diff;
pub(crate) mod image_size;
mod names;
pub(crate) mod reference;
pub(crate) mod scope;
mod session;
pub(crate) mod tool;
mod verbs;

pub(crate) use session::{element, network_log};

use crate::access::policy::{LoadError, Policy, Subject};
use crate::config::{Capability, Settings, ToolSettings, ToolsetName};
use serde_json::Value;
use tool::{Arguments, Effect, SESSION, SessionNaming, ToolDef, Toolset};

/// Rules about requests that a context may have.
const MAX_ROUTES: usize = 200;

/// All toolsets there are.
pub const TOOLSETS: &[(ToolsetName, Toolset)] = &[
    (ToolsetName::Browser, browser::TOOLSET),
    (ToolsetName::Session, session::TOOLSET),
    (ToolsetName::E2e, e2e::TOOLSET),
];

/// All tools there are, as rules of a policy know them.
fn subjects() -> Vec<Subject> {
    let all = TOOLSETS.iter().flat_map(|(_, toolset)| toolset.tools());
    all.map(|tool| tool.subject()).collect()
}

/// The policy about tools that these settings name, if they name one.
pub(crate) fn policy(settings: &Settings) -> Result<Option<Policy>, LoadError> {
    let path = settings.security.policy.as_deref();
    path.map(|path| Policy::load(path, &subjects())).transpose()
}

/// The tools that a server has switched on, in the order of `tools/list`.
#[derive(Debug, Clone)]
pub struct Toolbox {
    on: Vec<&'static ToolDef>,
    naming: SessionNaming,
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
        let on: Vec<_> = TOOLSETS
            .iter()
            .flat_map(|(name, toolset)| toolset.tools().map(move |tool| (*name, tool)))
            .filter(|(toolset, tool)| switched_on(settings, *toolset, tool))
            .map(|(_, tool)| tool)
            .collect();
        let sessions = [ToolsetName::Session, ToolsetName::E2e];
        let has_sessions = sessions.iter().any(|name| settings.toolsets.contains(name))
            || on.iter().any(|tool| tool.creates_sessions);
        Self {
            on,
            naming: match (has_sessions, settings.require_session) {
                (false, _) => SessionNaming::Impossible,
                (true, false) => SessionNaming::Optional,
                (true, true) => SessionNaming::Required,
            },
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
        Some((name, names::meant(name, names.iter().copied())))
    }

    /// The tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static ToolDef> + '_ {
        self.on.iter().copied()
    }

    /// Whether calls name the session that they are for.
    pub fn session_naming(&self) -> SessionNaming {
        self.naming
    }

    /// The tools that clients are shown, in order: those that the policy does not deny everywhere.
    pub(crate) fn shown(&self, policy: Option<&Policy>) -> impl Iterator<Item = &'static ToolDef> {
        self.iter().filter(move |tool| {
            policy.is_none_or(|policy| policy.denies_everywhere(tool.subject()).is_none())
        })
    }

    /// The session that arguments name, right or wrong as they may be.
    pub(crate) fn named_session(&self, arguments: &Arguments) -> Option<String> {
        let named = arguments.get(SESSION)?.as_str()?;
        let is_read = self.naming != SessionNaming::Impossible && !named.is_empty();
        is_read.then(|| named.to_owned())
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

    /// The toolset of a tool, where it is not on.
    pub(crate) fn missing_toolset(
        &self,
        tool: &ToolDef,
        settings: &ToolSettings,
    ) -> Option<&'static str> {
        let mut toolsets = TOOLSETS.iter();
        let (name, toolset) =
            toolsets.find(|(_, set)| set.tools().any(|other| other.name == tool.name))?;
        (!settings.toolsets.contains(name)).then_some(toolset.name)
    }

    /// The tools as `tools/list` shows them.
    pub fn to_json(&self) -> impl Iterator<Item = Value> + '_ {
        self.iter().map(|tool| tool.to_json(self.naming))
    }

    /// Whether a call of that name may be one that types into a page; one of no tool may be meant so.
    pub(crate) fn may_type(&self, name: &str) -> bool {
        match self.find(name) {
            Lookup::On(tool) | Lookup::Off(tool) => tool.effect == Effect::Acts,
            Lookup::Unknown(_) => true,
        }
    }

    /// Whether a tool of that name is on.
    pub(crate) fn has(&self, name: &str) -> bool {
        matches!(self.find(name), Lookup::On(_))
    }

    /// The tool that is on and that a name of none most likely means.
    pub(crate) fn meant(&self, name: &str) -> Option<&'static str> {
        names::meant(name, self.on.iter().map(|tool| tool.name))
    }

    pub(crate) fn find(&self, name: &str) -> Lookup {
        if let Some(tool) = self.iter().find(|tool| tool.name == name) {
            return Lookup::On(tool);
        }
        let mut all = TOOLSETS.iter().flat_map(|(_, toolset)| toolset.tools());
        match all.find(|tool| tool.name == name) {
            Some(tool) => Lookup::Off(tool),
            None => Lookup::Unknown(self.meant(name)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    /// A tool that opens a URL has a `goal`, by which policies judge it; others take a URL for something else.
    #[test]
    fn a_parameter_that_is_a_url_is_a_goal_or_is_known_not_to_be() {
        let goals = ["browser_navigate", "browser_tabs", "navigate", "new_page"];
        let others = [
            "wait_for_url",
            "wait_for_response",
            "block_resource",
            "mock_response",
            "e2e_start",
        ];
        let all = TOOLSETS.iter().flat_map(|(_, toolset)| toolset.tools());
        for tool in all {
            let schema = tool.input_schema(SessionNaming::Impossible);
            let has_url = schema["properties"].get("url").is_some();
            let is_known = goals.contains(&tool.name) || others.contains(&tool.name);
            assert_eq!(has_url, is_known, "{}", tool.name);
        }
    }

    /// What the whole answer to `tools/list` may cost by default, in tokens of o200k. They are estimated at four characters each: measured with
    /// gpt-tokenizer 4.0.0 the list has 4.45 (17,622 characters, 3,964 tokens), so the estimate is above what is paid.
    const DEFAULT_TOKENS: usize = 4_500;

    #[test]
    fn the_default_list_is_the_browser_tools_and_those_that_make_sessions_within_its_budget() {
        let toolbox = |flags: &[&str]| Toolbox::new(&Settings::of_flags(flags).tools);
        let default = toolbox(&[]);
        let names: Vec<_> = default.iter().map(|tool| tool.name).collect();
        let browser = toolbox(&["--toolsets=browser"]);
        let mut expected: Vec<_> = browser.iter().map(|tool| tool.name).collect();
        expected.extend(["create_session", "close_session", "list_sessions"]);
        assert_eq!(names, expected);
        let list: Vec<_> = default.to_json().collect();
        let cost = serde_json::json!({ "tools": list })
            .to_string()
            .len()
            .div_ceil(4);
        assert!(cost <= DEFAULT_TOKENS, "about {cost} tokens");
        let session = |name: &str| {
            default.iter().all(|tool| {
                let schema = tool.input_schema(default.session_naming());
                !tool.name.starts_with("browser_") || schema["properties"].get(name).is_some()
            })
        };
        assert!(session("sessionId"));
        let with_app = toolbox(&["--server-command=app"]);
        assert!(with_app.iter().any(|tool| tool.name == "e2e_start"));
        let all = toolbox(&["--server-command=app", "--toolsets=all"]);
        let listed = all.iter().filter(|tool| {
            tool.capability.is_none() || tool.capability == Some(Capability::Contexts)
        });
        let all = TOOLSETS.iter().flat_map(|(_, toolset)| toolset.tools());
        let known = all.filter(|tool| {
            tool.capability.is_none() || tool.capability == Some(Capability::Contexts)
        });
        assert_eq!(listed.count(), known.count());
    }
}
