//! The commands of `playhouse do`: one for each tool, and further names.

use crate::config::ToolsetName;
use crate::toolbox::TOOLSETS;
use crate::tools::tool::ToolDef;

/// A command.
pub(super) struct DoCommand {
    /// The name that users type.
    pub(super) name: String,
    /// The tool that the command calls.
    pub(super) tool: &'static ToolDef,
    /// The further name that this is, if it is one.
    alias: Option<&'static Alias>,
}

/// A further name of a tool.
struct Alias {
    name: &'static str,
    tool: &'static str,
    /// The parameters that are positional, in order; those that the tool does not require may be missing.
    positionals: &'static [&'static str],
    /// Arguments that the name stands for, as JSON. They are no options of the command.
    arguments: &'static [(&'static str, &'static str)],
}

/// The further names: those of `@playwright/cli` and `agent-browser`, where they differ from those of the tools.
const ALIASES: &[Alias] = &[
    alias("open", "browser_navigate", &["url"]),
    alias("goto", "browser_navigate", &["url"]),
    alias("back", "browser_navigate_back", &[]),
    alias("go-back", "browser_navigate_back", &[]),
    alias("snapshot", "browser_snapshot", &["target"]),
    alias("screenshot", "browser_take_screenshot", &["target"]),
    alias("eval", "browser_evaluate", &["function", "target"]),
    alias("fill", "browser_type", &["target", "text"]),
    alias("press", "browser_press_key", &["key"]),
    alias("select", "browser_select_option", &["target", "values"]),
    alias("upload", "browser_file_upload", &["paths"]),
    alias("wait", "browser_wait_for", &["text"]),
    alias("find", "browser_find", &["text"]),
    alias("console", "browser_console_messages", &["level"]),
    alias("requests", "browser_network_requests", &["filter"]),
    alias("pdf", "browser_pdf_save", &["filename"]),
    alias("run-code", "browser_run_code_unsafe", &["code"]),
    Alias {
        arguments: &[("doubleClick", "true")],
        ..alias("dblclick", "browser_click", &["target"])
    },
    Alias {
        arguments: &[("action", "\"list\"")],
        ..alias("tab-list", "browser_tabs", &[])
    },
    Alias {
        arguments: &[("action", "\"new\"")],
        ..alias("tab-new", "browser_tabs", &["url"])
    },
    Alias {
        arguments: &[("action", "\"select\"")],
        ..alias("tab-select", "browser_tabs", &["index"])
    },
    Alias {
        arguments: &[("action", "\"close\"")],
        ..alias("tab-close", "browser_tabs", &["index"])
    },
    Alias {
        arguments: &[("accept", "true")],
        ..alias("dialog-accept", "browser_handle_dialog", &["promptText"])
    },
    Alias {
        arguments: &[("accept", "false")],
        ..alias("dialog-dismiss", "browser_handle_dialog", &[])
    },
];

const fn alias(
    name: &'static str,
    tool: &'static str,
    positionals: &'static [&'static str],
) -> Alias {
    Alias {
        name,
        tool,
        positionals,
        arguments: &[],
    }
}

impl DoCommand {
    /// Returns the command of that name. The names of the `browser_` tools in `tools/list` are accepted too.
    pub(super) fn find(name: &str) -> Option<Self> {
        all().find(|command| command.name == name || command.tool.name == name && is_browser(name))
    }

    /// Returns the positional parameters if they are not those that the tool requires.
    pub(super) fn positionals(&self) -> Option<&'static [&'static str]> {
        self.alias.map(|alias| alias.positionals)
    }

    /// Returns the arguments that the name stands for, as JSON.
    pub(super) fn arguments(&self) -> &'static [(&'static str, &'static str)] {
        self.alias.map_or(&[], |alias| alias.arguments)
    }

    /// Returns whether this is a further name of a tool that has a command of its own.
    pub(super) fn is_alias(&self) -> bool {
        self.alias.is_some()
    }
}

fn is_browser(name: &str) -> bool {
    name.starts_with(PREFIX)
}

const PREFIX: &str = "browser_";

/// Returns the command that calls a tool, with its parameters as they are.
pub(super) fn of_tool(toolset: ToolsetName, tool: &'static ToolDef) -> DoCommand {
    let stem = tool.name.strip_prefix(PREFIX).unwrap_or(tool.name);
    let short = stem.replace('_', "-");
    // Of two tools with the same name, that of the `browser` toolset has it.
    let is_taken = toolset != ToolsetName::Browser
        && (ALIASES.iter().any(|alias| alias.name == short) || browser_tools().any(|t| t == short));
    DoCommand {
        name: match is_taken {
            true => format!("session-{short}"),
            false => short,
        },
        tool,
        alias: None,
    }
}

/// Returns the names of the commands of the `browser` toolset.
fn browser_tools() -> impl Iterator<Item = String> {
    let browser = TOOLSETS
        .iter()
        .filter(|(name, _)| *name == ToolsetName::Browser);
    let tools = browser.flat_map(|(_, toolset)| toolset.tools());
    tools.map(|tool| tool.name.trim_start_matches(PREFIX).replace('_', "-"))
}

/// Returns all commands: further names first, because one of them can replace the command of its tool.
pub(super) fn all() -> impl Iterator<Item = DoCommand> {
    let tools = || {
        let all = TOOLSETS.iter();
        all.flat_map(|(name, toolset)| toolset.tools().map(move |tool| (*name, tool)))
    };
    let aliases = ALIASES.iter().filter_map(move |alias| {
        let (_, tool) = tools().find(|(_, tool)| tool.name == alias.tool)?;
        Some(DoCommand {
            name: alias.name.to_owned(),
            tool,
            alias: Some(alias),
        })
    });
    let own = tools().map(|(toolset, tool)| of_tool(toolset, tool));
    let is_replaced = |command: &DoCommand| ALIASES.iter().any(|alias| alias.name == command.name);
    aliases.chain(own.filter(move |command| !is_replaced(command)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_tool_has_a_command_and_each_command_its_own_name() {
        let mut names = BTreeSet::new();
        for command in all() {
            assert!(names.insert(command.name.clone()), "{}", command.name);
        }
        let called: BTreeSet<_> = all().map(|command| command.tool.name).collect();
        let tools = TOOLSETS.iter().flat_map(|(_, toolset)| toolset.tools());
        for tool in tools {
            assert!(called.contains(tool.name), "{}", tool.name);
        }
        for alias in ALIASES {
            let command = DoCommand::find(alias.name).expect(alias.name);
            assert_eq!(command.tool.name, alias.tool);
        }
    }

    #[test]
    fn a_name_that_two_toolsets_have_is_that_of_the_browser_tool() {
        let tool = |name: &str| DoCommand::find(name).map(|command| command.tool.name);
        assert_eq!(tool("click"), Some("browser_click"));
        assert_eq!(tool("browser_click"), Some("browser_click"));
        assert_eq!(tool("session-click"), Some("click"));
        assert_eq!(tool("fill"), Some("browser_type"));
        assert_eq!(tool("session-fill"), Some("fill"));
        assert_eq!(tool("check"), Some("check"));
        assert_eq!(tool("go-forward"), Some("go_forward"));
        assert_eq!(tool("clik"), None);
    }

    #[test]
    fn further_names_use_parameters_that_their_tools_have() {
        for alias in ALIASES {
            let command = DoCommand::find(alias.name).expect(alias.name);
            let schema = command.tool.full_schema();
            let fixed = alias.arguments.iter().map(|(name, _)| name);
            for parameter in alias.positionals.iter().chain(fixed) {
                assert!(schema["properties"].get(parameter).is_some(), "{parameter}");
            }
        }
    }
}
