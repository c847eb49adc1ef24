//! The options that describe the servers of the app under test: one command line, or several servers with names.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{OptionValue, Problem};

/// A program and its arguments in one line, quoted as for a shell. The line is not run by a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine(pub String);

impl CommandLine {
    /// Splits the line into words. If the whole line is the path of a file, it is a single word.
    pub(crate) fn words(&self, folder: &Path) -> Vec<String> {
        let Self(line) = self;
        if folder.join(line).is_file() {
            return vec![line.clone()];
        }
        // `parse` has checked the quotes. A line that was made elsewhere is used as one word.
        shlex::split(line).unwrap_or_else(|| vec![line.clone()])
    }
}

impl OptionValue for CommandLine {
    const WORD: &'static str = "COMMAND";

    fn parse(text: &str) -> Result<Self, Problem> {
        match shlex::split(text) {
            Some(words) if words.first().is_some_and(|program| !program.is_empty()) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(Problem::expected("a program and its arguments")),
        }
    }

    fn to_json(&self) -> Value {
        json!(self.0)
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

/// The servers of the app under test by their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct NamedServers(pub BTreeMap<String, NamedServer>);

/// A server of the app under test in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NamedServer {
    /// The program; a whole command line if `args` is missing; or the URL of an app that runs already.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) command: String,
    /// The URL of an app that runs already. Such a server has no command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// The arguments of the program, which precede those of the command interface (`--start`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) args: Option<Vec<String>>,
    /// The working folder of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    /// Environment variables, in addition to those of Playhouse.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) env: BTreeMap<String, String>,
    /// The time that the start may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ready_timeout: Option<u64>,
    /// The time without a call after which the server is stopped, in milliseconds; 0 for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) idle_timeout: Option<u64>,
    /// Names of the servers that are started before this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) requires: Vec<String>,
}

impl OptionValue for NamedServers {
    const WORD: &'static str = "JSON";

    fn parse(text: &str) -> Result<Self, Problem> {
        let value: Value = serde_json::from_str(text)
            .map_err(|_| Problem::expected("an object of named servers"))?;
        Self::from_json(&value)
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        let servers: BTreeMap<String, NamedServer> =
            super::structured::shaped(value, "an object of named servers")?;
        let is_name = |name: &str| {
            let valid = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
            !name.is_empty() && name.len() <= 64 && name.chars().all(valid)
        };
        match servers.keys().find(|name| !is_name(name)) {
            Some(name) => Err(Problem::expected(format!(
                "names of letters, digits, - and _ (not \"{name}\")"
            ))),
            None => Ok(Self(servers)),
        }
    }

    fn to_json(&self) -> Value {
        json!(self.0)
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "command": { "type": "string" },
                    "args": { "type": "array", "items": { "type": "string" } },
                    "url": { "type": "string" },
                    "cwd": { "type": "string" },
                    "env": { "type": "object", "additionalProperties": { "type": "string" } },
                    "readyTimeout": { "type": "integer", "minimum": 1 },
                    "idleTimeout": { "type": "integer", "minimum": 0 },
                    "requires": { "type": "array", "items": { "type": "string" } }
                },
                "oneOf": [{ "required": ["command"] }, { "required": ["url"] }],
                "additionalProperties": false
            }
        })
    }

    fn rebase(&mut self, folder: &Path) {
        for server in self.0.values_mut() {
            let cwd = folder.join(server.cwd.as_deref().unwrap_or_default());
            server.cwd = Some(cwd.display().to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_has_the_quotes_of_a_shell_and_a_file_is_one_word() {
        let line = |text: &str| CommandLine::parse(text).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let words = |text: &str| line(text).words(folder.path());
        assert_eq!(
            words("node dev.mjs --name 'a b'"),
            ["node", "dev.mjs", "--name", "a b"]
        );
        std::fs::write(folder.path().join("my app.sh"), "").unwrap();
        assert_eq!(words("my app.sh"), ["my app.sh"]);
        for wrong in ["", "  ", "node 'dev.mjs", "'' x"] {
            assert!(CommandLine::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_wrong_key_of_a_server_is_named() {
        let wrong = NamedServers::from_json(&json!({ "web": { "command": "x", "arg": [] } }));
        let Err(Problem::Expected(what)) = wrong else {
            panic!("{wrong:?}")
        };
        assert!(what.contains("`arg`"), "{what}");
        assert!(NamedServers::from_json(&json!({ "a b": { "command": "x" } })).is_err());
    }
}
