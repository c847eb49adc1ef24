//! A call of a tool on a background server, and what a command prints of its answer.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::background::{BackgroundError, Connection};
use crate::error::{ErrorClass, ErrorCode};
use crate::sessions::session::DEFAULT_NAME;
use crate::tools::tool::{Arguments, SESSION};

/// How long another command may take to create the same session.
const CREATION_TIMEOUT: Duration = Duration::from_secs(60);
/// The interval between attempts to use a session that another command creates.
const CREATION_INTERVAL: Duration = Duration::from_millis(50);

/// A call of a tool.
pub(super) struct Call {
    /// The name of the tool in `tools/list`.
    pub(super) tool: String,
    /// The arguments, without the session.
    pub(super) arguments: Arguments,
    /// The name of the session; `None`: the default one.
    pub(super) session: Option<String>,
    /// Whether calls of the tool can name a session.
    pub(super) has_session: bool,
    /// Whether the answer is printed as JSON.
    pub(super) is_json: bool,
}

/// The answer to a call.
pub(super) struct Answer {
    /// The texts of the answer.
    text: String,
    /// The structured content.
    structured: Option<Map<String, Value>>,
    /// The code of the error, if it is one.
    error: Option<ErrorCode>,
}

impl Call {
    /// Makes the call. A session that does not exist is created.
    pub(super) fn make(&self, server: &mut Connection) -> Result<Answer, BackgroundError> {
        let session = self.session.as_deref();
        let session = session.filter(|name| self.has_session && *name != DEFAULT_NAME);
        let Some(name) = session else {
            return self.call(server, &self.tool, &self.arguments);
        };
        if !server.info().has_sessions {
            return Ok(Answer::refused(
                ErrorCode::ToolDisabled,
                "the background server has no sessions, because it was started with --toolsets browser",
            ));
        }
        let mut arguments = self.arguments.clone();
        arguments.insert(SESSION.to_owned(), name.into());
        let until = Instant::now() + CREATION_TIMEOUT;
        loop {
            let answer = self.call(server, &self.tool, &arguments)?;
            if !answer.lacks_session(name) || Instant::now() > until {
                return Ok(answer);
            }
            let options = Map::from_iter([("name".to_owned(), name.into())]);
            let created = self.call(server, "create_session", &options)?;
            match created.error {
                None => {}
                // Another command creates the session, or the name is wrong.
                Some(ErrorCode::InvalidParameters) if crate::sessions::is_name(name) => {
                    thread::sleep(CREATION_INTERVAL);
                }
                Some(_) => return Ok(created),
            }
        }
    }

    fn call(
        &self,
        server: &mut Connection,
        tool: &str,
        arguments: &Arguments,
    ) -> Result<Answer, BackgroundError> {
        Ok(match server.call(tool, arguments)? {
            Ok(result) => Answer::of(result),
            Err(error) => {
                let message = error["message"].as_str().unwrap_or_default();
                Answer::refused(ErrorCode::InvalidParameters, message)
            }
        })
    }
}

impl Answer {
    fn of(mut result: Value) -> Self {
        let texts = result["content"].as_array().into_iter().flatten();
        let texts: Vec<_> = texts.filter_map(|item| item["text"].as_str()).collect();
        let text = texts.join("\n");
        let structured = match result["structuredContent"].take() {
            Value::Object(object) => Some(object),
            _ => None,
        };
        let error = (result["isError"] == true).then(|| {
            let code = structured
                .as_ref()
                .and_then(|object| object.get("errorCode"));
            let code = code.and_then(Value::as_str).and_then(ErrorCode::of_name);
            code.unwrap_or(ErrorCode::InternalError)
        });
        Self {
            text,
            structured,
            error,
        }
    }

    /// An answer of this program, for a call that the server did not get or refused.
    fn refused(code: ErrorCode, message: &str) -> Self {
        let object = json!({ "errorCode": code.name(), "message": message });
        Self {
            text: message.to_owned(),
            structured: object.as_object().cloned(),
            error: Some(code),
        }
    }

    /// Returns whether the call failed because there is no session of that name.
    fn lacks_session(&self, name: &str) -> bool {
        let object = self.structured.as_ref();
        let details = object.and_then(|object| object.get("details"));
        self.error == Some(ErrorCode::SessionNotFound)
            && details.is_some_and(|details| details[SESSION] == name)
    }

    /// Returns whether the call failed.
    pub(super) fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// Returns the answer as JSON: that of the tool if it answers so, otherwise an object with the text.
    fn json(&self) -> Map<String, Value> {
        let mut object = self.structured.clone().unwrap_or_default();
        if self.structured.is_none() {
            object.insert("text".to_owned(), self.text.as_str().into());
        }
        object.shift_insert(0, "success".to_owned(), (!self.is_error()).into());
        object
    }

    /// Returns the message of an error, with the suggestion.
    fn message(&self) -> String {
        let member = |name: &str| {
            let object = self.structured.as_ref();
            object.and_then(|object| object.get(name)?.as_str())
        };
        // Tools with an object as their answer repeat it as text.
        let text = match self.text.starts_with('{') {
            true => member("message").unwrap_or(&self.text),
            false => &self.text,
        };
        let mut message = text.trim_end().to_owned();
        if let Some(suggestion) = member("suggestion").filter(|hint| !message.contains(*hint)) {
            message = format!("{message}\n{suggestion}");
        }
        if self.error == Some(ErrorCode::ToolDisabled) {
            message += "\n`playhouse stop` ends the background server, and `playhouse start OPTIONS` starts one with these options.";
        }
        message
    }
}

/// Escapes control characters, which a terminal would interpret. JSON allows DEL and C1 in strings.
fn without_controls(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_control) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match is_control(c) {
            true => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            false => escaped.push(c),
        }
    }
    escaped.into()
}

/// How a command prints answers.
#[derive(Clone, Copy)]
pub(super) struct Output {
    /// As JSON, on one line.
    pub(super) is_json: bool,
    /// The number of the step in a script.
    pub(super) step: Option<usize>,
}

impl Output {
    /// Prints an answer, and returns the exit status.
    pub(super) fn print(self, call: &Call, answer: &Answer) -> ExitCode {
        if self.is_json {
            self.print_json(Some(&call.tool), answer.json());
        } else if answer.is_error() {
            let message = answer.message();
            let message = without_controls(&message);
            let _ = writeln!(io::stderr(), "{}{message}", self.prefix());
        } else {
            let text = without_controls(answer.text.trim_end());
            let _ = writeln!(io::stdout(), "{text}");
        }
        let status = answer.error.map_or(0, |code| code.class().exit_status());
        ExitCode::from(status)
    }

    /// Prints an error of the command itself, and returns the exit status of its class.
    pub(super) fn fail(self, error: &dyn std::fmt::Display, class: ErrorClass) -> ExitCode {
        let text = error.to_string();
        if self.is_json {
            let object = json!({ "success": false, "message": text });
            self.print_json(None, object.as_object().cloned().unwrap_or_default());
        } else {
            let _ = writeln!(io::stderr(), "{}error: {text}", self.prefix());
        }
        ExitCode::from(class.exit_status())
    }

    fn print_json(self, tool: Option<&str>, mut object: Map<String, Value>) {
        if let Some(step) = self.step {
            if let Some(tool) = tool {
                object.shift_insert(0, "tool".to_owned(), tool.into());
            }
            object.shift_insert(0, "step".to_owned(), step.into());
        }
        let text = Value::Object(object).to_string();
        let _ = writeln!(io::stdout(), "{}", without_controls(&text));
    }

    fn prefix(self) -> String {
        self.step
            .map_or_else(String::new, |step| format!("step {step}: "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_reaches_the_terminal() {
        let page = "a\u{1b}[2J\u{7f}b\u{9b}31m\u{85}\r\tc\n";
        let shown = "a\\u001b[2J\\u007fb\\u009b31m\\u0085\\u000d\tc\n";
        assert_eq!(without_controls(page), shown);
        let json = Value::from(page).to_string();
        let printed = without_controls(&json);
        assert!(!printed.contains(char::is_control), "{printed:?}");
        assert_eq!(
            serde_json::from_str::<String>(&printed).expect("JSON"),
            page
        );
    }
}
