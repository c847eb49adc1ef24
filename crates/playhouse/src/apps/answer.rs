//! What the command of a server answers: one JSON object on stdout, as the requirement document S4 has it. It may have more members
//! than those, and other lines before it.

use super::logs::Logs;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Objects that are looked at, from the end of the output, until one is an answer.
const MAX_CANDIDATES: usize = 200;

/// The most of a message that is told, in bytes.
const MAX_LENGTH: usize = 2000;

/// What the command said, as far as it was understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// `ready`, `already_running`, `running`, `unhealthy`, `restarted`, `stopped`, `error`.
    pub(crate) status: String,
    /// Where the app is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<u32>,
    /// In the command's own words, by rule ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopped_at: Option<String>,
    /// In seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uptime: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) healthy: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) previous_pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) previous_port: Option<u16>,
    /// Of a server that ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    /// The same of one that a signal ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signal: Option<i32>,
    #[serde(skip_serializing_if = "Logs::is_empty")]
    pub(crate) logs: Logs,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
}

impl Answer {
    /// Where the server is by a later answer.
    pub(super) fn moves_to(&mut self, later: &Self) {
        self.url.clone_from(&later.url);
        self.port = later.port;
        self.pid = later.pid.or(self.pid);
        if !later.logs.is_empty() {
            self.logs = later.logs.clone();
        }
    }

    /// Of a server that was running before anybody asked for it.
    pub(super) fn of_url(url: &str) -> Self {
        let parsed = url::Url::parse(url).ok();
        Self {
            status: "already_running".to_owned(),
            url: Some(url.to_owned()),
            port: parsed.and_then(|url| url.port_or_known_default()),
            ..Self::default()
        }
    }

    pub(super) fn with_status(self, status: &str) -> Self {
        Self {
            status: status.to_owned(),
            ..self
        }
    }

    /// The answer in an output; relative paths in it begin in `cwd`. Fails with what is wrong, in a sentence.
    pub(super) fn read(output: &str, cwd: &Path) -> Result<Self, String> {
        let members = object(output).ok_or_else(|| match output.trim().is_empty() {
            true => {
                "it printed nothing on stdout, and should have printed a JSON object".to_owned()
            }
            false => "it printed no JSON object with a \"status\" on stdout".to_owned(),
        })?;
        let read = Members(&members);
        let mut answer = Self {
            status: read.text("status")?.unwrap_or_default(),
            url: read.text("url")?,
            port: read.number("port", "a port: a whole number up to 65535")?,
            pid: read.number("pid", "a process id: a whole number")?,
            started_at: read.text("startedAt")?,
            stopped_at: read.text("stoppedAt")?,
            uptime: read.seconds("uptime")?,
            healthy: read.typed("healthy", "true or false", Value::as_bool)?,
            previous_pid: read.number("previousPid", "a process id: a whole number")?,
            previous_port: read.number("previousPort", "a port: a whole number up to 65535")?,
            exit_code: read.number("exitCode", "a whole number")?,
            signal: read.number("signal", "the number of a signal")?,
            logs: Logs::default(),
            error: read.text("error")?.map(shortened),
            message: read.text("message")?.map(shortened),
        };
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
        match members.get("logs") {
            None | Some(Value::Null) => {}
            Some(Value::Object(logs)) => {
                let read = Members(logs);
                let path = |name| -> Result<Option<PathBuf>, String> {
                    let path = read
                        .text(name)
                        .map_err(|wrong| format!("in \"logs\", {wrong}"))?;
                    Ok(path
                        .filter(|path| !path.is_empty())
                        .map(|path| cwd.join(path)))
                };
                answer.logs = Logs {
                    stdout: path("stdout")?,
                    stderr: path("stderr")?,
                    combined: path("combined")?,
                };
            }
            Some(other) => return Err(wrong("logs", other, "an object of paths")),
        }
        Ok(answer)
    }
}

/// The last object of the output that has a status.
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
    // At the beginning of a line first: further in, it is likely a part of something else.
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

/// A message that an answer has room for.
fn shortened(mut message: String) -> String {
    if message.len() > MAX_LENGTH {
        message.truncate(message.floor_char_boundary(MAX_LENGTH));
        message.push('…');
    }
    message
}

struct Members<'a>(&'a Map<String, Value>);

impl Members<'_> {
    fn typed<T>(
        &self,
        name: &str,
        expected: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value)
                .map(Some)
                .ok_or_else(|| wrong(name, value, expected)),
        }
    }

    fn text(&self, name: &str) -> Result<Option<String>, String> {
        self.typed(name, "a string", |value| value.as_str().map(str::to_owned))
    }

    fn number<T: TryFrom<i64>>(&self, name: &str, expected: &str) -> Result<Option<T>, String> {
        let number = |value: &Value| value.as_i64().and_then(|number| T::try_from(number).ok());
        self.typed(name, expected, number)
    }

    /// Some clocks count parts of seconds, and some go back.
    fn seconds(&self, name: &str) -> Result<Option<u64>, String> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and no server runs that long"
        )]
        let seconds = |value: &Value| value.as_f64().map(|seconds| seconds.max(0.0) as u64);
        self.typed(name, "a number of seconds", seconds)
    }
}

fn wrong(name: &str, value: &Value, expected: &str) -> String {
    let mut shown: String = value.to_string().chars().take(80).collect();
    if shown.len() < value.to_string().len() {
        shown.push('…');
    }
    format!("\"{name}\" is {shown}, and must be {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str) -> Result<Answer, String> {
        Answer::read(output, Path::new("/app"))
    }

    #[test]
    fn all_that_the_interface_has_is_read() {
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
                (&*answer.status, answer.port),
                ("ready", Some(1)),
                "{output}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (output, wrong) in [
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
                "\"port\" is \"3000\", and must be a port: a whole number up to 65535",
            ),
            (r#"{"status":7}"#, "\"status\" is 7, and must be a string"),
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
                "\"logs\" is \"x\", and must be an object of paths",
            ),
        ] {
            assert_eq!(read(output), Err(wrong.to_owned()), "{output}");
        }
    }
}
