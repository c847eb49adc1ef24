//! `playhouse run`: calls tools on the background server, one for each line of a file or of stdin.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use serde::Deserialize;

use super::background::{Workspace, fail};
use super::call::{Call, Output};
use super::do_command::{self, Parsed};
use super::syntax::switch;
use crate::config::Environment;
use crate::error::ErrorClass;
use crate::toolbox::TOOLSETS;
use crate::tools::tool::Arguments;

pub(super) const NAME: &str = "run";

const FULL: &str = "\
Calls tools on the background server of this workspace, one for each line of FILE:

  click e5 --double-click                                  the words of `playhouse do`
  [\"click\", \"e5\"]                                          the same words as JSON
  {\"tool\": \"browser_click\", \"arguments\": {\"target\": \"e5\"}}   a call as in MCP; \"session\" names its session

Empty lines and lines that begin with # are skipped. The first call that fails ends the run, and its
error is the exit status.";

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("Call tools, one for each line of a file or of stdin")
        .long_about(FULL)
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .help("The file; - is stdin"),
        )
        .arg(
            Arg::new("session")
                .long("session")
                .value_name("NAME")
                .help("The session of the lines that name none; it is created on first use"),
        )
        .arg(switch("keep-going").help("Continue after a call that fails"))
        .arg(switch("json").help("Print each answer as JSON, on one line"))
}

/// A line that is a call as in MCP.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine {
    tool: String,
    #[serde(default)]
    arguments: Arguments,
    session: Option<String>,
}

pub(super) fn run(matches: &ArgMatches, environment: &Environment, cwd: &Path) -> ExitCode {
    let file = matches
        .get_one::<String>("file")
        .map_or("-", String::as_str);
    let lines: Box<dyn BufRead> = match file {
        "-" => Box::new(io::stdin().lock()),
        file => match File::open(cwd.join(file)) {
            Ok(file) => Box::new(BufReader::new(file)),
            Err(error) => {
                let problem = format!("cannot read {file}: {error}");
                return fail(&problem, ErrorClass::Usage);
            }
        },
    };
    let is_json = matches.get_flag("json");
    let mut connection =
        match Workspace::of(environment, cwd).and_then(|workspace| workspace.connect()) {
            Ok(connection) => connection,
            Err(error) => return fail(&error, error.class()),
        };
    let mut status = ExitCode::SUCCESS;
    let mut step = 0;
    for line in lines.lines() {
        let line = match line {
            Ok(line) => line,
            Err(error) => return fail(&format!("cannot read {file}: {error}"), ErrorClass::Usage),
        };
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        step += 1;
        let output = Output {
            is_json,
            step: Some(step),
        };
        let is_first_failure = status == ExitCode::SUCCESS;
        let (code, failed) = match parse(line, file == "-", cwd) {
            Err(problem) => (output.fail(&problem, ErrorClass::Usage), true),
            Ok(mut call) => {
                let session = matches.get_one::<String>("session").cloned();
                call.session = call.session.or(session);
                match call.make(&mut connection) {
                    Ok(answer) => (output.print(&call, &answer), answer.is_error()),
                    // The server is gone, and with it the state that the next calls need.
                    Err(error) => return output.fail(&error, error.class()),
                }
            }
        };
        if failed && is_first_failure {
            status = code;
        }
        if failed && !matches.get_flag("keep-going") {
            return status;
        }
    }
    status
}

/// Returns the call of a line.
fn parse(line: &str, is_stdin: bool, cwd: &Path) -> Result<Call, String> {
    let unreadable = |error: serde_json::Error| format!("the line cannot be read: {error}");
    let words: Vec<String> = match line.chars().next() {
        Some('{') => {
            let line: CallLine = serde_json::from_str(line).map_err(unreadable)?;
            return Ok(of_tool(line));
        }
        Some('[') => serde_json::from_str(line).map_err(unreadable)?,
        _ => shlex::split(line).ok_or("a quotation mark is missing")?,
    };
    if is_stdin && words.iter().any(|word| word == "-") {
        return Err(
            "stdin has the lines of the script, so no argument can be read from it".to_owned(),
        );
    }
    match do_command::parse(words, cwd)? {
        Parsed::Call(call) => Ok(call),
        Parsed::Text(_) => Err("the line has no command".to_owned()),
    }
}

fn of_tool(line: CallLine) -> Call {
    let mut tools = TOOLSETS.iter().flat_map(|(_, toolset)| toolset.tools());
    // The server reports a tool that does not exist.
    let tool = tools.find(|tool| tool.name == line.tool);
    Call {
        has_session: tool.is_none_or(|tool| tool.has_session),
        tool: line.tool,
        arguments: line.arguments,
        session: line.session,
        is_json: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_line_is_words_or_json() {
        for line in [
            "click e5 --double-click",
            r#"["click", "e5", "--double-click"]"#,
            r#"{"tool": "browser_click", "arguments": {"target": "e5", "doubleClick": true}}"#,
        ] {
            let call = parse(line, true, Path::new("/")).expect(line);
            let arguments = Value::Object(call.arguments);
            assert_eq!(call.tool, "browser_click", "{line}");
            assert_eq!(
                arguments,
                json!({ "target": "e5", "doubleClick": true }),
                "{line}"
            );
        }
    }

    #[test]
    fn an_error_of_a_line_names_the_problem() {
        let problem = |line: &str| match parse(line, true, Path::new("/")) {
            Ok(call) => panic!("{line} calls {}", call.tool),
            Err(problem) => problem,
        };
        assert!(problem("{\"tool\": 5}").contains("cannot be read"));
        assert!(problem("{\"tool\": \"x\", \"argument\": {}}").contains("argument"));
        assert!(problem("click 'e5").contains("quotation mark"));
        assert!(problem("fill e5 -").contains("stdin"));
        assert!(problem("clik e5").contains("Did you mean 'click'?"));
    }
}
