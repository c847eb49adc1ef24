//! The list of all commands.

use super::commands::{self, DoCommand};
use super::grammar::usage;
use crate::config::ToolsetName;
use crate::toolbox::TOOLSETS;
use std::fmt::Write as _;

/// The width of the text.
const WIDTH: usize = 100;
/// The width of the column of commands.
const COLUMN: usize = 32;

const HEAD: &str = "\
Usage: playhouse do [--session NAME] [--json] COMMAND [ARGUMENTS]

Calls a tool on the background server of this workspace, which starts by itself. `playhouse do
COMMAND --help` describes a command; TARGET is a ref of the snapshot (e5) or a selector.
";

const TAIL: &str = "
--session NAME works in a session of its own, which is created on first use. --json prints JSON.
A text `-` is read from stdin, `@FILE` from a file; `@@` begins a text with @.
Exit status: 0 done, 1 page or element, 2 wrong command line, 3 timeout, 4 not allowed, 5 failure.
";

/// Returns the help of `playhouse do`.
pub(super) fn text() -> String {
    let all: Vec<_> = commands::all().collect();
    let mut text = HEAD.to_owned();
    for (toolset, tools) in TOOLSETS {
        let tools: Vec<_> = tools.tools().collect();
        let mut capabilities: Vec<_> = tools.iter().map(|tool| tool.capability).collect();
        capabilities.sort();
        capabilities.dedup();
        for capability in capabilities {
            let group: Vec<_> = tools
                .iter()
                .filter(|tool| tool.capability == capability)
                .map(|tool| {
                    let mut commands: Vec<_> = all
                        .iter()
                        .filter(|command| command.tool.name == tool.name)
                        .collect();
                    // The command of the tool itself comes first, unless a further name has replaced it.
                    commands.sort_by_key(|command| command.is_alias());
                    commands
                })
                .collect();
            match (toolset, capability) {
                (ToolsetName::Browser, None) => {
                    text.push_str("\nCommands:\n");
                    for commands in &group {
                        text.push_str(&line(commands));
                    }
                }
                (_, Some(capability)) => {
                    let capability: &str = capability.into();
                    let title = format!("With `playhouse start --caps {capability}`:");
                    text.push_str(&names(&title, &group));
                }
                (ToolsetName::Session, None) => {
                    let title =
                        "With answers in JSON (toolset session; SELECTOR may be a ref, too):";
                    text.push_str(&names(title, &group));
                }
                (ToolsetName::E2e, None) => {
                    let title = "With `playhouse start --server-command …`:";
                    text.push_str(&names(title, &group));
                }
            }
        }
    }
    text + TAIL
}

/// Returns the line of a tool: its usage, what it does, and its further names.
fn line(commands: &[&DoCommand]) -> String {
    let Some((first, others)) = commands.split_first() else {
        return String::new();
    };
    let about = first.tool.description();
    let about = about
        .split(['.', ';'])
        .next()
        .unwrap_or_default()
        .to_owned();
    let others: Vec<_> = others.iter().map(|command| command.name.as_str()).collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" ({})", others.join(", ")),
    };
    format!("  {:COLUMN$} {about}{others}\n", usage(first))
}

/// Returns the names of commands below a title.
fn names(title: &str, group: &[Vec<&DoCommand>]) -> String {
    let mut text = format!("\n{title}\n ");
    let mut width = 1;
    for command in group.iter().flatten() {
        if width + command.name.len() + 1 > WIDTH {
            text.push_str("\n ");
            width = 1;
        }
        let _ = write!(text, " {}", command.name);
        width += command.name.len() + 1;
    }
    text.push('\n');
    text
}
