//! What the grammars of all commands use: switches, and syntax errors.

use clap::{
    Arg, ArgAction, Command,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::config::ConfigError;
use crate::error::nearest::nearest;

/// An option without a value.
pub(super) fn switch(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

pub(super) fn explain(error: &clap::Error, command: &Command) -> ConfigError {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    let argument = word(ContextKind::InvalidArg).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let flag = argument
                .split(['=', ' '])
                .next()
                .unwrap_or(&argument)
                .to_owned();
            let known: Vec<_> = flags_of(command);
            let nearest = nearest(&flag, known.iter().map(String::as_str)).map(str::to_owned);
            ConfigError::UnknownFlag { flag, nearest }
        }
        ErrorKind::UnknownArgument => unknown_command(argument, command),
        ErrorKind::InvalidSubcommand => unknown_command(
            word(ContextKind::InvalidSubcommand).unwrap_or_default(),
            command,
        ),
        ErrorKind::MissingRequiredArgument => {
            let missing = match error.get(ContextKind::InvalidArg) {
                Some(ContextValue::Strings(names)) => names.join(" "),
                _ => argument,
            };
            let usage = match error.get(ContextKind::Usage) {
                Some(ContextValue::StyledStr(usage)) => format!("\n{usage}"),
                _ => String::new(),
            };
            ConfigError::Usage(format!("missing argument {missing}{usage}"))
        }
        ErrorKind::InvalidValue
            if !word(ContextKind::InvalidValue)
                .unwrap_or_default()
                .is_empty() =>
        {
            let text = error.to_string();
            let lines: Vec<_> = text
                .lines()
                .take_while(|line| !line.starts_with("For more"))
                .collect();
            ConfigError::Usage(
                lines
                    .join("\n")
                    .trim_start_matches("error: ")
                    .trim_end()
                    .to_owned(),
            )
        }
        ErrorKind::InvalidValue | ErrorKind::NoEquals | ErrorKind::TooFewValues => {
            ConfigError::MissingValue { flag: argument }
        }
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            ConfigError::Usage(line.trim_start_matches("error: ").to_owned())
        }
    }
}

fn unknown_command(word: String, command: &Command) -> ConfigError {
    let names = command.get_subcommands().map(Command::get_name);
    let nearest = nearest(&word, names).map(str::to_owned);
    ConfigError::UnknownCommand { word, nearest }
}

fn flags_of(command: &Command) -> Vec<String> {
    let visible = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set());
    visible
        .filter_map(Arg::get_long)
        .map(|long| format!("--{long}"))
        .collect()
}
