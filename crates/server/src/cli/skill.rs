//! `playhouse skill`: prints a skill that teaches coding agents the command line.

use std::process::ExitCode;

use clap::Command;

use super::print;

pub(super) const NAME: &str = "skill";

/// The skill: Markdown with front matter, as coding agents read it.
pub(super) const TEXT: &str = include_str!("skill.md");

pub(super) fn command() -> Command {
    Command::new(NAME).about(
        "Print a skill for coding agents: playhouse skill > .claude/skills/playhouse/SKILL.md",
    )
}

pub(super) fn run() -> ExitCode {
    print(TEXT)
}
