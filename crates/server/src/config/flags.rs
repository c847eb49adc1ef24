//! The flags of the command line, which are generated from the table of options.

use clap::{Arg, ArgAction, ArgMatches, builder::PossibleValuesParser};
use serde_json::Value;

use super::{
    error::ConfigError,
    layered::Source,
    options::{OPTIONS, Options},
    show::plain,
    table::OptionDef,
};

/// The options that the short help of the server lists.
const ESSENTIAL: [&str; 17] = [
    "browser",
    "headless",
    "executable_path",
    "isolated",
    "user_data_dir",
    "cdp_endpoint",
    "extension",
    "device",
    "viewport_size",
    "allowed_domains",
    "secrets",
    "caps",
    "toolsets",
    "server_command",
    "output_dir",
    "port",
    "config",
];

/// Returns a clap argument for each option that has a flag. The short help lists the essential ones.
pub(crate) fn arguments() -> impl Iterator<Item = Arg> {
    all().map(|(def, argument)| argument.hide_short_help(!ESSENTIAL.contains(&def.name)))
}

/// Returns the same arguments for a command that also takes the options of the server. Only the full help lists them.
pub(crate) fn of_the_server() -> impl Iterator<Item = Arg> {
    all().map(|(_, argument)| argument.hide_short_help(true))
}

/// Returns the arguments of one section.
pub(crate) fn of_section(section: &str) -> impl Iterator<Item = Arg> {
    let of_section = all().filter(move |(def, _)| def.section == section);
    of_section.map(|(_, argument)| argument)
}

fn all() -> impl Iterator<Item = (&'static OptionDef, Arg)> {
    OPTIONS.iter().filter(|def| def.spec.flag).map(|def| {
        let argument = Arg::new(def.name)
            .long(def.long())
            .help(help(def))
            .help_heading(def.section)
            .hide(def.spec.hidden || def.spec.later.is_some())
            .allow_hyphen_values(def.spec.dashes)
            .action(ArgAction::Append);
        let camel_case = def.camel_case();
        let argument = if camel_case == def.long() {
            argument
        } else {
            argument.alias(camel_case)
        };
        let argument = if def.is_switch() {
            argument
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_name("BOOL")
        } else {
            let many = if def.spec.many { 1..=usize::MAX } else { 1..=1 };
            argument.num_args(many).value_name(def.word)
        };
        (def, argument)
    })
}

/// Returns the argument with the words that its option takes, for completions. Errors about other words come from the option itself.
pub(crate) fn with_values(argument: Arg) -> Arg {
    let def = OPTIONS.iter().find(|def| argument.get_id() == def.name);
    let schema = def.map(|def| (def.schema)()).unwrap_or_default();
    let words = schema["enum"].as_array().into_iter().flatten();
    let words: Vec<_> = words.filter_map(Value::as_str).map(str::to_owned).collect();
    match words.is_empty() {
        true => argument,
        false => argument.value_parser(PossibleValuesParser::new(words)),
    }
}

fn help(def: &OptionDef) -> String {
    let fixed = (def.default)().filter(|value| *value != Value::Bool(false));
    let default = fixed
        .map(|value| plain(&value))
        .or(def.spec.default.map(str::to_owned));
    let default = default.map(|default| format!(" [default: {default}]"));
    def.doc() + &default.unwrap_or_default()
}

/// Applies the flags before and after a command to the options.
pub(crate) fn apply(matches: &ArgMatches, options: &mut Options) -> Result<(), ConfigError> {
    for def in OPTIONS.iter().filter(|def| def.spec.flag) {
        let flag = format!("--{}", def.long());
        let given = matches.try_get_many::<String>(def.name);
        for text in given.ok().flatten().into_iter().flatten() {
            (def.apply_text)(options, Source::Flag(flag.clone()), text).map_err(|problem| {
                ConfigError::Invalid {
                    name: flag.clone(),
                    text: text.clone(),
                    problem,
                }
            })?;
        }
    }
    match matches.subcommand() {
        Some((_, matches)) => apply(matches, options),
        None => Ok(()),
    }
}

/// Replaces `--no-sandbox` by `--sandbox=false`, for each switch.
pub(crate) fn spell_out(argument: String) -> String {
    let name = argument.strip_prefix("--no-");
    match name.and_then(|name| {
        OPTIONS
            .iter()
            .find(|def| def.is_switch() && def.long() == name)
    }) {
        Some(def) if def.spec.flag => format!("--{}=false", def.long()),
        _ => argument,
    }
}
