//! The grammar of the command line.

use std::ffi::OsString;
use std::io;

use anstream::{AutoStream, ColorChoice};
use clap::{ArgMatches, Command, error::ErrorKind};

use super::syntax::{explain, switch};
#[cfg(unix)]
use super::{app, background, do_command, run_command, skill};
use super::{audit, completions, doctor, install, manual, setup, tools, try_command, upgrade};
use crate::config::{ConfigError, flags, safe_help};

const AFTER: &str = "\
Each option can also be given as an environment variable (PLAYHOUSE_VIEWPORT_SIZE, and so on; those
of @playwright/mcp work too) or in the file of --config. `playhouse config show` prints the result.";

const MORE: &str =
    "`playhouse --help` shows all options, `playhouse COMMAND -h` those of a command.";

/// A parsed command line.
pub(super) enum Parsed {
    /// A command to run.
    Matches(ArgMatches),
    /// A text to print: help or version.
    Text(String),
}

/// Parses a command line that includes the program's name.
pub(super) fn parse(words: impl Iterator<Item = OsString>) -> Result<Parsed, ConfigError> {
    let mut words: Vec<String> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    // Words after `--` belong to another command.
    let own = words.iter().take_while(|word| *word != "--").count();
    for word in &mut words[..own] {
        *word = flags::spell_out(std::mem::take(word));
    }
    #[cfg(unix)]
    app::move_options_forward(&mut words);
    let asks_about_safe = words[..own].iter().any(|word| word == "--safe");
    let mut command = command();
    match command.try_get_matches_from_mut(words) {
        Ok(matches) if matches.get_flag("version") => Ok(Parsed::Text(format!(
            "Version {}\n",
            env!("CARGO_PKG_VERSION")
        ))),
        Ok(matches) => Ok(Parsed::Matches(matches)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp if asks_about_safe => Ok(Parsed::Text(safe_help())),
            ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                let text = error.render();
                Ok(Parsed::Text(match AutoStream::choice(&io::stdout()) {
                    ColorChoice::Never => text.to_string(),
                    _ => text.ansi().to_string(),
                }))
            }
            _ => Err(explain(&error, &command)),
        },
    }
}

pub(super) fn command() -> Command {
    let command = server_command();
    #[cfg(unix)]
    let command = command
        .subcommand(app::command())
        .subcommand(app::supervisor())
        .subcommand(do_command::command())
        .subcommand(run_command::command())
        .subcommands(background::commands())
        .subcommand(skill::command());
    command
}

fn server_command() -> Command {
    Command::new("playhouse")
        .about("An MCP server that gives AI agents real browsers. Without a command it serves on stdio.")
        .disable_version_flag(true)
        .infer_long_args(false)
        .max_term_width(100)
        .after_help(MORE)
        .after_long_help(AFTER)
        .args(flags::arguments())
        .arg(switch("version").short('V').help("Print the version").global(true))
        .subcommand(setup::command())
        .subcommand(try_command::command())
        .subcommand(doctor::command())
        .subcommand(install::command())
        .subcommand(tools::command())
        .subcommand(
            Command::new("config")
                .about("The configuration")
                .subcommand_required(true)
                .arg_required_else_help(true)
                .subcommand(
                    Command::new("show")
                        .about("Print each value and where it came from")
                        .arg(switch("json").help("Print JSON"))
                        .args(flags::of_the_server()),
                ),
        )
        .subcommand(audit::command())
        .subcommand(completions::command())
        .subcommand(manual::command())
        .subcommand(upgrade::command())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> impl Iterator<Item = OsString> {
        std::iter::once("playhouse")
            .chain(line.split_whitespace())
            .map(OsString::from)
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn refusal(line: &str) -> String {
        match parse(words(line)) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{line} was taken"),
        }
    }

    #[test]
    fn the_grammar_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn what_is_unknown_is_named_with_the_nearest() {
        assert_eq!(
            refusal("--heedless"),
            "error: unknown option '--heedless'\nDid you mean '--headless'?"
        );
        assert_eq!(refusal("--x"), "error: unknown option '--x'");
        assert_eq!(
            refusal("--viewport-sise=1x1"),
            "error: unknown option '--viewport-sise'\nDid you mean '--viewport-size'?"
        );
        assert_eq!(
            refusal("doctr"),
            "error: unknown command 'doctr'\nDid you mean 'doctor'?"
        );
        assert_eq!(
            refusal("--codegen"),
            "error: option '--codegen <WORD>' argument missing"
        );
    }

    #[test]
    fn the_version_is_one_line() {
        for line in ["-V", "--version"] {
            let Ok(Parsed::Text(text)) = parse(words(line)) else {
                panic!("{line}")
            };
            assert_eq!(text, concat!("Version ", env!("CARGO_PKG_VERSION"), "\n"));
        }
    }

    #[test]
    fn options_may_stand_before_and_after_a_command() {
        for line in [
            "--isolated config show --json",
            "config show --isolated --json",
        ] {
            let Ok(Parsed::Matches(matches)) = parse(words(line)) else {
                panic!("{line}")
            };
            let config = crate::config::Config::load(
                &matches,
                &Default::default(),
                std::path::Path::new("/"),
            );
            assert!(config.expect("valid").settings.browser.isolated, "{line}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_last_word_may_be_an_option_of_ours_and_the_others_are_the_apps() {
        let read = |line: &str| {
            let Ok(Parsed::Matches(matches)) = parse(words(line)) else {
                panic!("{line}")
            };
            let matches = matches.subcommand_matches("app").expect("it").clone();
            let option = ["start", "restart", "status", "shutdown"]
                .into_iter()
                .find(|name| matches.get_flag(name));
            let command = matches.get_many::<String>("command");
            let command = command.into_iter().flatten().cloned().collect::<Vec<_>>();
            (option, command.join(" "))
        };
        for (line, option, command) in [
            ("app -- npm run dev", None, "npm run dev"),
            ("app -- npm run dev --status", Some("status"), "npm run dev"),
            ("app --restart -- npm start", Some("restart"), "npm start"),
            (
                "app --start -- npm start --shutdown",
                Some("shutdown"),
                "npm start",
            ),
            (
                "app -- serve --start --start",
                Some("start"),
                "serve --start",
            ),
            ("app -- serve --status x", None, "serve --status x"),
            (
                "app -- chrome --no-sandbox -- --x",
                None,
                "chrome --no-sandbox -- --x",
            ),
            ("app --name web --status", Some("status"), ""),
        ] {
            assert_eq!(read(line), (option, command.to_owned()), "{line}");
        }
    }
}
