//! The grammar of a command, from the JSON Schema of its tool.

use super::commands::DoCommand;
use super::value::{Kind, split};
use crate::tools::tool::Arguments;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};
use std::path::Path;

/// The option that names the session.
pub(super) const SESSION: &str = "session";
/// The option for JSON output.
pub(super) const JSON: &str = "json";

/// A parameter on the command line.
struct Parameter {
    name: String,
    kind: Kind,
    about: String,
    /// Whether the parameter is positional.
    is_positional: bool,
    is_required: bool,
}

/// Returns the parameters of a command, positional ones first.
fn parameters(command: &DoCommand) -> Vec<Parameter> {
    let schema = command.tool.full_schema();
    let (required, others) = split(&schema);
    let positionals: Vec<&str> = match command.positionals() {
        Some(positionals) => positionals.to_vec(),
        None => required.clone(),
    };
    let fixed = |name: &str| command.arguments().iter().any(|(other, _)| *other == name);
    let options = required.iter().chain(&others).copied();
    let options = options.filter(|name| !positionals.contains(name) && !fixed(name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let no_properties = Map::new();
    let properties = properties.unwrap_or(&no_properties);
    let parameter = |name: &str, is_positional: bool| Parameter {
        name: name.to_owned(),
        kind: Kind::of(&properties[name]),
        about: about(&properties[name]),
        is_positional,
        is_required: required.contains(&name),
    };
    let mut all: Vec<_> = positionals
        .iter()
        .map(|name| parameter(name, true))
        .collect();
    all.extend(options.map(|name| parameter(name, false)));
    all
}

fn about(property: &Value) -> String {
    let mut about = property["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    if let Some(default) = property.get("default") {
        let default = default.as_str().map_or(default.to_string(), str::to_owned);
        about = format!("{about} [default: {default}]").trim().to_owned();
    }
    about
}

/// Returns the grammar of a command.
pub(super) fn grammar(command: &DoCommand) -> Command {
    let parameters = parameters(command);
    let last = parameters
        .iter()
        .rposition(|parameter| parameter.is_positional);
    let arguments = parameters.iter().enumerate();
    let arguments = arguments.map(|(index, parameter)| argument(parameter, Some(index) == last));
    let session = Arg::new(SESSION)
        .long(SESSION)
        .value_name("NAME")
        .help("The session, which is created on first use");
    Command::new(command.name.clone())
        .bin_name(format!("playhouse do {}", command.name))
        .about(command.tool.description())
        .disable_help_subcommand(true)
        .max_term_width(100)
        .args(arguments)
        .args(command.tool.has_session.then_some(session))
        .arg(
            Arg::new(JSON)
                .long(JSON)
                .action(ArgAction::SetTrue)
                .help("Print the answer as JSON"),
        )
}

fn argument(parameter: &Parameter, is_last: bool) -> Arg {
    let name = kebab(&parameter.name);
    let argument = Arg::new(parameter.name.clone())
        .help(parameter.about.clone())
        .allow_hyphen_values(true);
    let (element, is_list) = match &parameter.kind {
        Kind::List(element) => (&**element, true),
        kind => (kind, false),
    };
    let argument = match element {
        Kind::Choice(choices) => argument.value_parser(PossibleValuesParser::new(choices.clone())),
        Kind::Switch => argument.value_parser(["true", "false"]),
        Kind::Number | Kind::Text | Kind::Json { .. } | Kind::List(_) => argument,
    };
    let value = match element {
        Kind::Number => "NUMBER",
        Kind::Json { has_text: false } => "JSON",
        _ => "TEXT",
    };
    match parameter.is_positional {
        true => {
            let argument = argument
                .value_name(name.to_uppercase())
                .required(parameter.is_required);
            match is_list && is_last {
                true => argument.num_args(1..).action(ArgAction::Append),
                false => argument,
            }
        }
        false if parameter.kind == Kind::Switch => argument
            .long(name)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("BOOL")
            .required(parameter.is_required),
        false => argument
            .long(name)
            .value_name(value)
            .required(parameter.is_required)
            .action(match is_list {
                true => ArgAction::Append,
                false => ArgAction::Set,
            }),
    }
}

/// Returns the arguments of the call, or what is wrong with a word.
pub(super) fn arguments(
    command: &DoCommand,
    matches: &ArgMatches,
    cwd: &Path,
) -> Result<Arguments, String> {
    let mut arguments = Arguments::new();
    for (name, json) in command.arguments() {
        let value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        arguments.insert((*name).to_owned(), value);
    }
    for parameter in parameters(command) {
        let words = matches.get_many::<String>(&parameter.name);
        let Some(words) = words else { continue };
        let blame = |problem| match parameter.is_positional {
            true => format!("<{}>: {problem}", kebab(&parameter.name).to_uppercase()),
            false => format!("--{}: {problem}", kebab(&parameter.name)),
        };
        let values = words.map(|word| parameter.kind.parse(word, cwd));
        let mut values = values.collect::<Result<Vec<_>, _>>().map_err(blame)?;
        let value = match parameter.kind {
            Kind::List(_) => Value::Array(values),
            _ => values.pop().unwrap_or_default(),
        };
        arguments.insert(parameter.name, value);
    }
    Ok(arguments)
}

/// Returns the usage of a command: its name and its positional parameters.
pub(super) fn usage(command: &DoCommand) -> String {
    let mut usage = command.name.clone();
    for parameter in parameters(command) {
        if parameter.is_positional {
            let name = kebab(&parameter.name).to_uppercase();
            usage += &match (parameter.is_required, &parameter.kind) {
                (true, Kind::List(_)) => format!(" {name}..."),
                (true, _) => format!(" {name}"),
                (false, Kind::List(_)) => format!(" [{name}...]"),
                (false, _) => format!(" [{name}]"),
            };
        }
    }
    usage
}

/// Writes `doubleClick` as `double-click`.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for char in name.chars() {
        if char.is_ascii_uppercase() {
            kebab.push('-');
        }
        kebab.push(char.to_ascii_lowercase());
    }
    kebab
}
