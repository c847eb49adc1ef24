//! All tools: those of the core by toolset, and those of the features. `tools/list` and the reference have this order.

mod names;
pub(crate) mod reference;

use crate::access::policy::{LoadError, Policy, Subject};
use crate::config::{Capability, Settings, ToolSettings, ToolsetName};
use crate::features;
use crate::tools::tool::{Arguments, Effect, SESSION, SessionNaming, ToolDef, Toolset};
use crate::tools::{browser, e2e, session};
use serde_json::Value;

/// All toolsets, in the order of `tools/list`.
pub const TOOLSETS: &[(ToolsetName, Toolset)] = &[
    (ToolsetName::Browser, browser::TOOLSET.with(features::TOOLS)),
    (ToolsetName::Session, session::TOOLSET),
    (ToolsetName::E2e, e2e::TOOLSET),
];

/// Returns all tools in the form that the rules of a policy are matched against.
fn subjects() -> Vec<Subject> {
    let all = TOOLSETS.iter().flat_map(|(_, toolset)| toolset.tools());
    all.map(|tool| tool.subject()).collect()
}

/// Loads the policy that the settings name. Returns `None` if they name none.
pub(crate) fn policy(settings: &Settings) -> Result<Option<Policy>, LoadError> {
    let path = settings.security.policy.as_deref();
    path.map(|path| Policy::load(path, &subjects())).transpose()
}

/// The tools that are enabled on a server, in the order of `tools/list`.
#[derive(Debug, Clone)]
pub struct Toolbox {
    enabled: Vec<&'static ToolDef>,
    /// Tools that are enabled and not listed: those that call the listed tools of pages.
    unlisted: Vec<&'static ToolDef>,
    naming: SessionNaming,
    has_app: bool,
}

/// The result of searching a tool by its name.
pub(crate) enum Lookup {
    /// The tool exists and is enabled.
    On(&'static ToolDef),
    /// The tool exists and is disabled.
    Off(&'static ToolDef),
    /// No tool has this name. The field is the enabled tool with the most similar name.
    Unknown(Option<&'static str>),
}

impl Toolbox {
    /// Returns the tools that the settings enable.
    pub fn new(settings: &ToolSettings) -> Self {
        let enabled: Vec<_> = TOOLSETS
            .iter()
            .flat_map(|(name, toolset)| toolset.tools().map(move |tool| (*name, tool)))
            .filter(|(toolset, tool)| is_enabled(settings, *toolset, tool))
            .map(|(_, tool)| tool)
            .collect();
        let sessions = [ToolsetName::Session, ToolsetName::E2e];
        let has_sessions = sessions.iter().any(|name| settings.toolsets.contains(name))
            || enabled.iter().any(|tool| tool.creates_sessions);
        let unlisted = match settings.webmcp {
            true => web_mcp_tools(settings, &enabled),
            false => Vec::new(),
        };
        Self {
            enabled,
            unlisted,
            naming: match (has_sessions, settings.require_session) {
                (false, _) => SessionNaming::Impossible,
                (true, false) => SessionNaming::Optional,
                (true, true) => SessionNaming::Required,
            },
            has_app: settings.app,
        }
    }

    /// Returns the first rule about a tool that does not exist: its name, and the tool with the most similar name.
    pub fn unknown_rule(settings: &ToolSettings) -> Option<(&str, Option<&'static str>)> {
        let names: Vec<_> = TOOLSETS
            .iter()
            .flat_map(|(_, toolset)| toolset.tools().map(|tool| tool.name))
            .collect();
        let rules = settings.rules.iter().map(|rule| rule.name.as_str());
        let name = rules.into_iter().find(|name| !names.contains(name))?;
        Some((name, names::most_similar(name, names.iter().copied())))
    }

    /// Returns the enabled tools, in the order of `tools/list`.
    pub fn iter(&self) -> impl Iterator<Item = &'static ToolDef> + '_ {
        self.enabled.iter().copied()
    }

    /// Returns whether calls can or must name their session.
    pub fn session_naming(&self) -> SessionNaming {
        self.naming
    }

    /// Returns the tools that clients see, in the order of `tools/list`: those that the policy does not deny for all pages.
    pub(crate) fn shown(&self, policy: Option<&Policy>) -> impl Iterator<Item = &'static ToolDef> {
        self.iter().filter(move |tool| {
            policy.is_none_or(|policy| policy.denies_everywhere(tool.subject()).is_none())
        })
    }

    /// Returns the `sessionId` of the arguments, whether or not such a session exists.
    pub(crate) fn named_session(&self, arguments: &Arguments) -> Option<String> {
        let named = arguments.get(SESSION)?.as_str()?;
        let names_session = self.naming != SessionNaming::Impossible && !named.is_empty();
        names_session.then(|| named.to_owned())
    }

    /// Returns whether sessions can have named contexts. Refs can then contain the name of a context.
    pub(crate) fn has_contexts(&self) -> bool {
        self.iter()
            .any(|tool| tool.capability == Some(Capability::Contexts))
    }

    /// Returns whether the tool is disabled because no app under test is configured.
    pub(crate) fn is_without_app(&self, tool: &ToolDef) -> bool {
        !self.has_app && e2e::TOOLSET.tools().any(|other| other.name == tool.name)
    }

    /// Returns the toolset of a tool if that toolset is disabled.
    pub(crate) fn disabled_toolset(
        &self,
        tool: &ToolDef,
        settings: &ToolSettings,
    ) -> Option<&'static str> {
        let mut toolsets = TOOLSETS.iter();
        let (name, toolset) =
            toolsets.find(|(_, set)| set.tools().any(|other| other.name == tool.name))?;
        (!settings.toolsets.contains(name)).then_some(toolset.name)
    }

    /// Returns the enabled tools as JSON objects for `tools/list`.
    pub fn to_json(&self) -> impl Iterator<Item = Value> + '_ {
        self.iter().map(|tool| tool.to_json(self.naming))
    }

    /// Returns whether a call of this name may type into a page. This is true for unknown names, because they may be misspelled.
    pub(crate) fn may_type(&self, name: &str) -> bool {
        match self.find(name) {
            Lookup::On(tool) | Lookup::Off(tool) => tool.effect == Effect::Acts,
            Lookup::Unknown(_) => true,
        }
    }

    /// Returns whether a tool of this name is enabled.
    pub(crate) fn has(&self, name: &str) -> bool {
        matches!(self.find(name), Lookup::On(_))
    }

    /// Returns the enabled tool whose name is most similar to `name`, or `None` if none is similar.
    pub(crate) fn most_similar(&self, name: &str) -> Option<&'static str> {
        names::most_similar(name, self.enabled.iter().map(|tool| tool.name))
    }

    pub(crate) fn find(&self, name: &str) -> Lookup {
        let mut callable = self.enabled.iter().chain(&self.unlisted);
        if let Some(tool) = callable.find(|tool| tool.name == name) {
            return Lookup::On(tool);
        }
        let mut all = TOOLSETS.iter().flat_map(|(_, toolset)| toolset.tools());
        match all.find(|tool| tool.name == name) {
            Some(tool) => Lookup::Off(tool),
            None => Lookup::Unknown(self.most_similar(name)),
        }
    }
}

/// Returns the tools for the tools of pages that no rule disables and that are not `listed`.
fn web_mcp_tools(settings: &ToolSettings, listed: &[&'static ToolDef]) -> Vec<&'static ToolDef> {
    let with_capability = ToolSettings {
        capabilities: vec![Capability::Webmcp],
        ..settings.clone()
    };
    browser::TOOLSET
        .tools()
        .filter(|tool| tool.capability == Some(Capability::Webmcp))
        .filter(|tool| listed.iter().all(|other| other.name != tool.name))
        .filter(|tool| is_enabled(&with_capability, ToolsetName::Browser, tool))
        .collect()
}

/// Returns whether the settings enable a tool. Forbidden risks have precedence, then the last rule about the tool, then its toolset and its
/// capability. Tools of the `e2e` toolset also require an app under test.
fn is_enabled(settings: &ToolSettings, toolset: ToolsetName, tool: &ToolDef) -> bool {
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
                && (settings.webmcp || tool.capability != Some(Capability::Webmcp))
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

    /// Policies judge a tool that opens a URL by that URL (`Tool::judged_page`). The other tools use their `url` parameter for something else.
    #[test]
    fn each_tool_with_a_url_is_listed_as_opening_it_or_not() {
        let opening = ["browser_navigate", "browser_tabs", "navigate", "new_page"];
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
            let is_listed = opening.contains(&tool.name) || others.contains(&tool.name);
            assert_eq!(has_url, is_listed, "{}", tool.name);
        }
    }

    #[test]
    fn each_tool_of_a_feature_is_listed() {
        let browser = &TOOLSETS[0].1;
        for (after, tools) in features::TOOLS {
            assert!(browser.tools().any(|tool| tool.name == *after), "{after}");
            let is_listed = |wanted: &ToolDef| browser.tools().any(|tool| tool.name == wanted.name);
            assert!(tools.iter().all(is_listed), "after {after}");
        }
    }

    /// The limit for the answer to `tools/list` by default, in estimated tokens of o200k.
    const DEFAULT_TOKENS: usize = 4_600;

    /// The same for all capabilities of the `browser` toolset. The list of `@playwright/mcp` 0.0.83 has 10,081 tokens.
    const BROWSER_TOKENS: usize = 9_500;

    fn tokens(toolbox: &Toolbox) -> usize {
        let list: Vec<_> = toolbox.to_json().collect();
        engine::estimate_tokens(&serde_json::json!({ "tools": list }).to_string())
    }

    #[test]
    fn the_browser_toolset_is_within_its_budget_with_all_capabilities() {
        let all = <Capability as strum::VariantNames>::VARIANTS.join(",");
        let flags = ["--toolsets=browser", &format!("--caps={all}")];
        let toolbox = Toolbox::new(&Settings::of_flags(&flags).tools);
        let cost = tokens(&toolbox);
        assert!(cost <= BROWSER_TOKENS, "about {cost} tokens");
    }

    #[test]
    fn the_default_list_has_browser_and_session_lifecycle_tools_within_its_budget() {
        let toolbox = |flags: &[&str]| Toolbox::new(&Settings::of_flags(flags).tools);
        let default = toolbox(&[]);
        let names: Vec<_> = default.iter().map(|tool| tool.name).collect();
        let browser = toolbox(&["--toolsets=browser"]);
        let mut expected: Vec<_> = browser.iter().map(|tool| tool.name).collect();
        expected.extend([
            "create_session",
            "close_session",
            "list_sessions",
            "browser_batch",
        ]);
        assert_eq!(names, expected);
        let cost = tokens(&default);
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
        let existing = all.filter(|tool| {
            tool.capability.is_none() || tool.capability == Some(Capability::Contexts)
        });
        assert_eq!(listed.count(), existing.count());
    }
}
