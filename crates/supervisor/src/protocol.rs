//! The protocol of server commands: one JSON object on stdout. `playhouse app` writes it, and `e2e_*` tools read it, also from other
//! commands, which may add members and print other lines before it.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The largest number of objects, from the end of the output, that are tried as an answer.
const MAX_CANDIDATES: usize = 200;

/// The longest message, in bytes.
const MAX_LENGTH: usize = 2000;

/// The longest part of an invalid value in an error, in bytes.
const MAX_SHOWN_VALUE: usize = 80;

/// The answer of a server command. `exitCode` and `signal` are those of a server that ended by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Answer {
    /// `ready`, `already_running`, `running`, `unhealthy`, `restarted`, `stopped`, `error`.
    #[schemars(with = "String")]
    pub status: Status,
    /// The URL of the app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_port: Option<u16>,
    /// As the command reports it, usually ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_at: Option<String>,
    /// In seconds.
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole_seconds"
    )]
    pub uptime: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub healthy: Option<bool>,
    /// If the server ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// If a signal ended the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[serde(
        skip_serializing_if = "Logs::is_empty",
        deserialize_with = "null_as_default"
    )]
    pub logs: Logs,
    /// The error message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The state of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Status {
    Ready,
    AlreadyRunning,
    Restarted,
    Running,
    Unhealthy,
    Stopped,
    Error,
    /// The command did not answer.
    #[default]
    Unknown,
    /// A status that the interface does not define.
    #[serde(untagged)]
    #[strum(to_string = "{0}")]
    Other(String),
}

/// The paths of a server's logs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Logs {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<PathBuf>,
    /// stdout and stderr, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combined: Option<PathBuf>,
}

impl Answer {
    /// Parses the answer in an output; relative paths in it are relative to `cwd`. The error is a sentence.
    pub fn read(output: &str, cwd: &Path) -> Result<Self, String> {
        let members = object(output).ok_or_else(|| match output.trim().is_empty() {
            true => {
                "it printed nothing on stdout, and should have printed a JSON object".to_owned()
            }
            false => "it printed no JSON object with a \"status\" on stdout".to_owned(),
        })?;
        let mut answer = from_members(members)?;
        for text in [&mut answer.error, &mut answer.message] {
            *text = text.take().map(shortened);
        }
        let logs = &mut answer.logs;
        for path in [&mut logs.stdout, &mut logs.stderr, &mut logs.combined] {
            let named = path.take().filter(|path| !path.as_os_str().is_empty());
            *path = named.map(|path| cwd.join(path));
        }
        if let Some(url) = &answer.url {
            let parsed = url::Url::parse(url).ok().filter(|url| url.has_host());
            let Some(parsed) = parsed.filter(|url| matches!(url.scheme(), "http" | "https")) else {
                return Err(format!(
                    "\"url\" is {url:?}, and must be an http or https URL"
                ));
            };
            let of_url = parsed.port_or_known_default();
            if let (Some(port), Some(of_url)) = (answer.port, of_url)
                && port != of_url
            {
                return Err(format!("\"port\" is {port}, and the \"url\" is {url}"));
            }
            answer.port = answer.port.or(of_url);
        }
        Ok(answer)
    }

    /// Creates the answer for a server that was not started by Playhouse.
    pub fn of_url(url: &str) -> Self {
        let parsed = url::Url::parse(url).ok();
        Self {
            status: Status::AlreadyRunning,
            url: Some(url.to_owned()),
            port: parsed.and_then(|url| url.port_or_known_default()),
            ..Self::default()
        }
    }

    /// Copies the URL, port, process and logs of the server from a later answer.
    pub fn update_address(&mut self, later: &Self) {
        self.url.clone_from(&later.url);
        self.port = later.port;
        self.pid = later.pid.or(self.pid);
        if !later.logs.is_empty() {
            self.logs = later.logs.clone();
        }
    }
}

impl Logs {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns all log paths without duplicates.
    pub fn paths(&self) -> Vec<String> {
        let all = [&self.stdout, &self.stderr, &self.combined]
            .into_iter()
            .flatten();
        let mut paths: Vec<_> = all.map(|path| path.display().to_string()).collect();
        paths.dedup();
        paths
    }

    /// Returns the log that most likely contains the error: the first one that is not empty.
    pub fn errors(&self) -> Option<&Path> {
        let all = [&self.stderr, &self.combined, &self.stdout];
        let mut named = all.into_iter().filter_map(|path| path.as_deref());
        let has_lines = |path: &&Path| path.metadata().is_ok_and(|metadata| metadata.len() > 1);
        named.clone().find(has_lines).or_else(|| named.next())
    }

    /// Returns the combined log, if the command writes one.
    pub fn combined(&self) -> Option<&Path> {
        let named = self.combined.as_deref();
        named.filter(|path| path.is_file() || (self.stdout.is_none() && self.stderr.is_none()))
    }
}

/// Parses the answer from its members. The error names the invalid member.
fn from_members(members: Map<String, Value>) -> Result<Answer, String> {
    let error = match Answer::deserialize(&members) {
        Ok(answer) => return Ok(answer),
        Err(error) => error.to_string(),
    };
    let invalid = members.into_iter().find_map(|(name, value)| {
        let mut shown = value.to_string();
        let one = Map::from_iter([(name.clone(), value)]);
        let error = Answer::deserialize(&one).err()?;
        if shown.len() > MAX_SHOWN_VALUE {
            shown.truncate(shown.floor_char_boundary(MAX_SHOWN_VALUE));
            shown.push('…');
        }
        Some(format!(
            "\"{name}\" is {shown}, which cannot be read: {error}"
        ))
    });
    Err(invalid.unwrap_or(error))
}

/// Parses a duration. Some commands report fractions of seconds, and some negative values.
fn whole_seconds<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u64>, D::Error> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and no server runs that long"
    )]
    let whole = |seconds: f64| seconds.max(0.0) as u64;
    Ok(Option::deserialize(value)?.map(whole))
}

fn null_as_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    value: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or_default())
}

/// Returns the last object of the output that has a status.
fn object(output: &str) -> Option<Map<String, Value>> {
    let parsed = |text: &str| {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(members))) if members.contains_key("status") => Some(members),
            _ => None,
        }
    };
    let starts = || {
        let lines = output.match_indices('\n').map(|(at, _)| at + 1);
        std::iter::once(0)
            .chain(lines)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
    };
    // Objects at the start of a line are tried first: further in, an object is probably nested.
    let at_begin = starts().filter(|at| output[*at..].starts_with('{'));
    let further_in = starts().filter_map(|at| {
        let line = output[at..].lines().next().unwrap_or_default();
        line.find('{')
            .filter(|within| *within > 0)
            .map(|within| at + within)
    });
    let lines = || {
        at_begin
            .take(MAX_CANDIDATES)
            .chain(further_in.take(MAX_CANDIDATES))
    };
    lines().find_map(|at| parsed(&output[at..]))
}

/// Shortens a message to the limit of an answer.
fn shortened(mut message: String) -> String {
    if message.len() > MAX_LENGTH {
        message.truncate(message.floor_char_boundary(MAX_LENGTH));
        message.push('…');
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read(output: &str) -> Result<Answer, String> {
        Answer::read(output, Path::new("/app"))
    }

    #[test]
    fn every_member_of_the_interface_is_read() {
        let answer = read(
            r#"{ "status": "ready", "url": "http://localhost:3542", "port": 3542, "pid": 12345,
                "startedAt": "2025-11-02T10:30:00Z", "logs": { "stdout": "/tmp/o.log", "stderr": "e.log" },
                "uptime": 3.7, "healthy": true, "extra": [1] }"#,
        )
        .unwrap();
        assert_eq!(
            (answer.port, answer.pid, answer.uptime),
            (Some(3542), Some(12345), Some(3))
        );
        assert_eq!(answer.logs.stderr.as_deref(), Some(Path::new("/app/e.log")));
        assert_eq!(answer.logs.combined, None);
    }

    #[test]
    fn the_answer_is_found_among_other_lines() {
        for output in [
            "> dev\n> vite\n\n{\"status\":\"ready\",\"url\":\"http://a:1\"}\n",
            "{\"level\":\"info\"}\n{\"status\":\"ready\",\"url\":\"http://a:1\"}\nbye {\n",
            "{\n  \"status\": \"ready\",\n  \"url\": \"http://a:1\",\n  \"logs\": {\n  }\n}",
            "answer: {\"status\":\"ready\",\"url\":\"http://a:1\"}",
            "{\"status\":\"starting\"} \n{\"status\":\"ready\",\"url\":\"http://a:1\"}",
        ] {
            let answer = read(output).unwrap();
            assert_eq!(
                (answer.status, answer.port),
                (Status::Ready, Some(1)),
                "{output}"
            );
        }
    }

    #[test]
    fn a_status_of_the_command_s_own_is_kept() {
        let answer = read(r#"{"status":"warming up"}"#).unwrap();
        assert_eq!(answer.status, Status::Other("warming up".to_owned()));
        assert_eq!(answer.status.to_string(), "warming up");
        assert_eq!(Status::AlreadyRunning.to_string(), "already_running");
    }

    #[test]
    fn the_wrong_member_is_named() {
        for (output, error) in [
            (
                "",
                "it printed nothing on stdout, and should have printed a JSON object",
            ),
            (
                "started!",
                "it printed no JSON object with a \"status\" on stdout",
            ),
            (
                r#"{"status":"ready","port":"3000"}"#,
                "\"port\" is \"3000\", which cannot be read: invalid type: string \"3000\", expected u16",
            ),
            (
                r#"{"status":"ready","port":70000}"#,
                "\"port\" is 70000, which cannot be read: invalid value: integer `70000`, expected u16",
            ),
            (
                r#"{"status":7}"#,
                "\"status\" is 7, which cannot be read: data did not match any variant of untagged enum Status",
            ),
            (
                r#"{"status":"ready","url":"localhost:3000"}"#,
                "\"url\" is \"localhost:3000\", and must be an http or https URL",
            ),
            (
                r#"{"status":"ready","url":"http://a:1","port":2}"#,
                "\"port\" is 2, and the \"url\" is http://a:1",
            ),
            (
                r#"{"status":"ready","logs":"x"}"#,
                "\"logs\" is \"x\", which cannot be read: invalid type: string \"x\", expected struct Logs",
            ),
        ] {
            assert_eq!(read(output), Err(error.to_owned()), "{output}");
        }
    }

    #[test]
    fn the_log_of_errors_is_one_that_has_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| Some(folder.path().join(name));
        let logs = Logs {
            stdout: path("out.log"),
            stderr: path("err.log"),
            combined: path("never-written.log"),
        };
        fs::write(logs.stderr.as_deref().unwrap(), "").unwrap();
        assert_eq!(logs.errors(), logs.stderr.as_deref());
        fs::write(logs.stdout.as_deref().unwrap(), "Error: no table\n").unwrap();
        assert_eq!(logs.errors(), logs.stdout.as_deref());
        assert_eq!(logs.combined(), None);
    }
}
