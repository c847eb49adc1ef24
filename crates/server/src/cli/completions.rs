//! `playhouse completions`: prints a shell's completion script.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

#[cfg(unix)]
use super::do_command;
use super::{arguments, print};
use crate::config::flags;

pub(super) const NAME: &str = "completions";

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("Print a script that completes commands and options in a shell")
        .arg(
            Arg::new("shell")
                .value_name("SHELL")
                .required(true)
                .value_parser(value_parser!(Shell))
                .help("For example: playhouse completions bash > ~/.local/share/bash-completion/completions/playhouse"),
        )
}

pub(super) fn run(matches: &ArgMatches) -> ExitCode {
    let Some(shell) = matches.get_one::<Shell>("shell") else {
        return ExitCode::FAILURE;
    };
    let mut script = Vec::new();
    let mut command = arguments::command();
    #[cfg(unix)]
    {
        command = command.mut_subcommand(do_command::NAME, |_| do_command::with_subcommands());
    }
    command = with_values(command);
    clap_complete::generate(*shell, &mut command, "playhouse", &mut script);
    print(&String::from_utf8_lossy(&script))
}

fn with_values(command: Command) -> Command {
    let command = command.mut_args(flags::with_values);
    command.mut_subcommands(with_values)
}
