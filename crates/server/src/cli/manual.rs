//! `playhouse man`: prints the manual page.

use std::process::ExitCode;

use clap::Command;

use super::{arguments, print};

pub(super) const NAME: &str = "man";

pub(super) fn command() -> Command {
    Command::new(NAME).about("Print the manual page: playhouse man | man -l -")
}

pub(super) fn run() -> ExitCode {
    let mut page = Vec::new();
    // Writing to memory does not fail.
    let _ = clap_mangen::Man::new(arguments::command()).render(&mut page);
    print(&String::from_utf8_lossy(&page))
}
