//! `playhouse do`: calls a tool on the background server of the workspace.

mod commands;
mod grammar;
mod help;
mod value;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Command;
use clap::error::ErrorKind;

use super::background::{Workspace, fail};
use super::call::{Call, Output};
use super::{print, syntax};
use crate::config::Environment;
use crate::error::ErrorClass;
use crate::error::nearest::nearest;
use commands::DoCommand;

pub(super) const NAME: &str = "do";

/// What the words after `playhouse do` require.
pub(super) enum Parsed {
    /// A call.
    Call(Call),
    /// A text to print: help.
    Text(String),
}

/// The command without those of the tools, which [`run`] parses.
pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("Call a tool: open a page, click, type …; `playhouse do --help` lists the commands")
        .disable_help_flag(true)
        .arg(
            clap::Arg::new("words")
                .value_name("COMMAND")
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true),
        )
}

/// The command with those of the tools, for the completions of shells.
pub(super) fn with_subcommands() -> Command {
    Command::new(NAME)
        .about("Call a tool: open a page, click, type …")
        .subcommands(commands::all().map(|command| grammar::grammar(&command)))
}

/// Runs the command with these words. They are parsed without the grammar of the whole program, which takes longer than a call.
pub(super) fn run(words: Vec<OsString>, environment: &Environment, cwd: &Path) -> ExitCode {
    let words = words.into_iter();
    let words = words.map(|word| word.to_string_lossy().into_owned());
    let call = match parse(words.collect(), cwd) {
        Ok(Parsed::Call(call)) => call,
        Ok(Parsed::Text(text)) => return print(&text),
        Err(problem) => return fail(&problem, ErrorClass::Usage),
    };
    let answer = || {
        let mut connection = Workspace::of(environment, cwd)?.connect()?;
        call.make(&mut connection)
    };
    let output = Output {
        is_json: call.is_json,
        step: None,
    };
    match answer() {
        Ok(answer) => output.print(&call, &answer),
        Err(error) => output.fail(&error, error.class()),
    }
}

/// Parses the words after `playhouse do`.
pub(super) fn parse(words: Vec<String>, cwd: &Path) -> Result<Parsed, String> {
    let mut before = Vec::new();
    let mut words = words.into_iter();
    let name = loop {
        match words.next() {
            None => return Ok(Parsed::Text(help::text())),
            Some(word) if word == "-h" || word == "--help" => {
                return Ok(Parsed::Text(help::text()));
            }
            Some(word) if word == "--session" => {
                before.push(word);
                before.extend(words.next());
            }
            Some(word) if word.starts_with("--session=") || word == "--json" => before.push(word),
            Some(word) if word.starts_with('-') => {
                return Err(format!(
                    "unknown option '{word}'. Options of the server belong to `playhouse start`, those of a command after its name"
                ));
            }
            Some(word) => break word,
        }
    };
    let Some(command) = DoCommand::find(&name) else {
        let names: Vec<_> = commands::all().map(|command| command.name).collect();
        let hint = match nearest(&name, names.iter().map(String::as_str)) {
            Some(nearest) => format!("Did you mean '{nearest}'?"),
            None => "`playhouse do --help` lists the commands.".to_owned(),
        };
        return Err(format!("unknown command '{name}'\n{hint}"));
    };
    let mut grammar = grammar::grammar(&command);
    let words = std::iter::once(name).chain(before).chain(words);
    let matches = match grammar.try_get_matches_from_mut(words) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            return Ok(Parsed::Text(error.render().to_string()));
        }
        Err(error) => {
            let problem = syntax::explain(&error, &grammar).to_string();
            return Err(problem.trim_start_matches("error: ").to_owned());
        }
    };
    Ok(Parsed::Call(Call {
        tool: command.tool.name.to_owned(),
        arguments: grammar::arguments(&command, &matches, cwd)?,
        session: match command.tool.has_session {
            true => matches.get_one::<String>(grammar::SESSION).cloned(),
            false => None,
        },
        has_session: command.tool.has_session,
        is_json: matches.get_flag(grammar::JSON),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(line: &str) -> Call {
        match parse(shlex::split(line).expect("words"), Path::new("/")) {
            Ok(Parsed::Call(call)) => call,
            Ok(Parsed::Text(text)) => panic!("{line} is help: {text}"),
            Err(problem) => panic!("{line}: {problem}"),
        }
    }

    fn problem(line: &str) -> String {
        match parse(shlex::split(line).expect("words"), Path::new("/")) {
            Ok(_) => panic!("{line} was accepted"),
            Err(problem) => problem,
        }
    }

    #[test]
    fn the_grammar_of_each_command_is_sound() {
        for command in commands::all() {
            grammar::grammar(&command).debug_assert();
        }
        super::with_subcommands().debug_assert();
    }

    #[test]
    fn words_become_the_arguments_of_the_tool() {
        for (line, tool, arguments) in [
            (
                "open https://example.com",
                "browser_navigate",
                json!({ "url": "https://example.com" }),
            ),
            ("click e5", "browser_click", json!({ "target": "e5" })),
            (
                "click e5 --double-click --modifiers Shift --modifiers Alt",
                "browser_click",
                json!({ "target": "e5", "doubleClick": true, "modifiers": ["Shift", "Alt"] }),
            ),
            (
                "dblclick e5",
                "browser_click",
                json!({ "doubleClick": true, "target": "e5" }),
            ),
            (
                "fill e3 'two words' --submit",
                "browser_type",
                json!({ "target": "e3", "text": "two words", "submit": true }),
            ),
            (
                "select e9 red green",
                "browser_select_option",
                json!({ "target": "e9", "values": ["red", "green"] }),
            ),
            (
                "resize 800 600",
                "browser_resize",
                json!({ "width": 800, "height": 600 }),
            ),
            (
                "mouse-wheel --delta-y -100",
                "browser_mouse_wheel",
                json!({ "deltaY": -100 }),
            ),
            (
                "tab-new https://example.com",
                "browser_tabs",
                json!({ "action": "new", "url": "https://example.com" }),
            ),
            (
                "handle-dialog false",
                "browser_handle_dialog",
                json!({ "accept": false }),
            ),
            (
                "eval '() => 1'",
                "browser_evaluate",
                json!({ "function": "() => 1" }),
            ),
            (
                r#"fill-form '[{"name":"a","value":"b"}]'"#,
                "browser_fill_form",
                json!({ "fields": [{ "name": "a", "value": "b" }] }),
            ),
            (
                "close-session buyer",
                "close_session",
                json!({ "sessionId": "buyer" }),
            ),
            (
                "session-click '#go' --timeout 100",
                "click",
                json!({ "selector": "#go", "timeout": 100 }),
            ),
        ] {
            let call = call(line);
            assert_eq!(
                (call.tool.as_str(), json!(call.arguments)),
                (tool, arguments),
                "{line}"
            );
        }
    }

    #[test]
    fn the_options_of_every_command_stand_before_or_after_its_name() {
        for line in [
            "--session buyer --json click e5",
            "click e5 --json --session=buyer",
            "--session=buyer click --json e5",
        ] {
            let call = call(line);
            assert_eq!(call.session.as_deref(), Some("buyer"), "{line}");
            assert!(call.is_json, "{line}");
        }
    }

    #[test]
    fn wrong_words_are_named_with_what_was_meant() {
        assert_eq!(
            problem("clik e5"),
            "unknown command 'clik'\nDid you mean 'click'?"
        );
        let option = problem("click e5 --double-clik");
        assert!(
            option.contains("Did you mean '--double-click'?"),
            "{option}"
        );
        assert!(problem("click").contains("missing argument <TARGET>"));
        assert!(problem("resize wide 600").contains("<WIDTH>: 'wide' is not a number"));
        assert!(problem("click e5 --button up").contains("left"));
        assert!(problem("--headless click e5").contains("playhouse start"));
        assert!(problem("list-sessions --session x").contains("--session"));
    }

    #[test]
    fn help_names_every_command_in_less_than_a_hundred_lines() {
        let text = help::text();
        for command in commands::all() {
            let mut words = text.split([' ', ',', '(', ')', '\n']);
            assert!(words.any(|word| word == command.name), "{}", command.name);
        }
        assert!(text.lines().count() < 100, "{}", text.lines().count());
    }
}
