//! `playhouse config show`: prints each value and its source.

use std::process::ExitCode;

use clap::ArgMatches;

use super::print;
use crate::config::Config;

pub(super) fn run(matches: &ArgMatches, config: &Config) -> ExitCode {
    let json = matches
        .subcommand()
        .is_some_and(|(_, show)| show.get_flag("json"));
    match json {
        true => print(&format!("{:#}\n", config.show_json())),
        false => print(&config.show()),
    }
}
