//! `playhouse tools`: lists the tools of a server with these flags, and their size in tokens.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{ArgMatches, Command};
use serde_json::Value;

use super::{print, syntax::switch};
use crate::{
    config::{Settings, flags},
    toolbox::{self, Toolbox},
};

pub(super) fn command() -> Command {
    Command::new("tools")
        .about("List the tools that these flags switch on and the policy does not deny everywhere, and about how many tokens each costs")
        .arg(switch("json").help("Print them as tools/list does"))
        .args(flags::of_the_server())
}

pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> ExitCode {
    let policy = match toolbox::policy(settings) {
        Ok(policy) => policy,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            return ExitCode::FAILURE;
        }
    };
    let toolbox = Toolbox::new(&settings.tools);
    let tools: Vec<_> = toolbox.shown(policy.as_ref()).collect();
    let naming = toolbox.session_naming();
    let shown = tools.iter().map(|tool| tool.to_json(naming));
    if matches.get_flag("json") {
        let tools: Value = shown.collect();
        return print(&format!("{tools:#}\n"));
    }
    let width = tools
        .iter()
        .map(|tool| tool.name.len())
        .max()
        .unwrap_or_default();
    let costs: Vec<_> = shown.map(|shown| tokens(&shown)).collect();
    let mut text = String::new();
    for (tool, cost) in tools.iter().zip(&costs) {
        let description = tool.description();
        let first = description
            .split_once(". ")
            .map_or(&*description, |(first, _)| first);
        let first = first.trim_end_matches('.');
        let _ = writeln!(text, "{:width$}  {cost:>5}  {first}", tool.name);
    }
    let sum: usize = costs.iter().sum();
    let _ = writeln!(text, "{} tools, about {sum} tokens", tools.len());
    print(&text)
}

/// Estimates the tokens of a tool in `tools/list`.
fn tokens(shown: &Value) -> usize {
    engine::estimate_tokens(&shown.to_string())
}
