//! The common parameters of tools, which are parsed before the tool gets the arguments: `sessionId`, `timeout` and `maxTokens`.

use super::{Arguments, OutputFormat, ToolDef};
use crate::config::AnswerSettings;
use crate::error::{Error, Problem, Result};
use crate::sessions::session::DEFAULT_NAME;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The parameter with the identifier or name of the session that a call is for.
pub(crate) const SESSION: &str = "sessionId";
/// The parameter with the longest wait, in milliseconds.
const TIMEOUT: &str = "timeout";
/// The parameter with the largest size of the answer, in tokens.
const MAX_TOKENS: &str = "maxTokens";
/// The largest value of `timeout`, in milliseconds: one day.
const MAX_TIMEOUT_MS: f64 = 86_400_000.0;

/// Whether calls can or must name the session that they are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionNaming {
    /// Calls cannot name a session. There is only the default session, as in `@playwright/mcp`.
    Impossible,
    /// Calls can name a session. The default session is used otherwise.
    Optional,
    /// Calls must name a session (`--require-session`).
    Required,
}

/// The common parameters of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Common {
    /// The identifier or name of the session. `None` means the default session.
    pub(crate) session_id: Option<String>,
    /// The timeout of the call. `None` means the timeout of the settings.
    pub(crate) timeout: Option<Duration>,
    /// The largest size of the answer, in tokens. `None` means that of the settings.
    pub(crate) max_tokens: Option<usize>,
}

impl ToolDef {
    /// Removes the common parameters from the arguments and returns them. Fails if their values are invalid, or if the session is missing
    /// and required.
    pub(crate) fn common(
        &self,
        arguments: &mut Arguments,
        naming: SessionNaming,
    ) -> Result<Common> {
        let mut common = Common::default();
        let mut problems = Vec::new();
        if self.names_session(naming) {
            match arguments.shift_remove(SESSION) {
                // Models send empty strings for parameters that they leave out.
                None => {}
                Some(Value::String(id)) if id.is_empty() => {}
                Some(Value::String(id)) => common.session_id = Some(id),
                // A program that has lost the identifier must not act on the default session.
                Some(Value::Null) => problems.push(problem(SESSION, "string, received null")),
                Some(_) => problems.push(problem(SESSION, "string")),
            }
            let unnamed = common
                .session_id
                .as_deref()
                .is_none_or(|id| id == DEFAULT_NAME);
            if naming == SessionNaming::Required && unnamed && problems.is_empty() {
                problems.push(Problem {
                    parameter: SESSION.to_owned(),
                    message: "Missing: this server has no default session (--require-session)"
                        .to_owned(),
                    missing: true,
                });
            }
        }
        if self.has_timeout() {
            match arguments.shift_remove(TIMEOUT) {
                None | Some(Value::Null) => {}
                Some(value) => match value.as_f64().filter(|ms| *ms >= 0.0) {
                    Some(ms) if ms <= MAX_TIMEOUT_MS => {
                        common.timeout = Duration::try_from_secs_f64(ms / 1_000.0).ok();
                    }
                    Some(_) => problems.push(Problem {
                        parameter: TIMEOUT.to_owned(),
                        message: format!("Too big: expected number to be <={MAX_TIMEOUT_MS}"),
                        missing: false,
                    }),
                    None => problems.push(problem(TIMEOUT, "number of milliseconds")),
                },
            }
        }
        match arguments.shift_remove(MAX_TOKENS) {
            None | Some(Value::Null) => {}
            Some(value) => match value.as_f64().filter(|tokens| *tokens >= 0.0) {
                Some(tokens) => {
                    common.max_tokens = Some(AnswerSettings::token_limit(whole(tokens)))
                }
                None => problems.push(problem(MAX_TOKENS, "number of tokens")),
            },
        }
        if problems.is_empty() {
            Ok(common)
        } else {
            Err(Error::InvalidArguments {
                tool: self.name,
                problems,
            })
        }
    }

    /// Adds the common parameters to an input schema, in drop-in use only those that `@playwright/mcp` has.
    pub(super) fn with_common(
        &self,
        mut schema: Map<String, Value>,
        naming: SessionNaming,
        is_drop_in: bool,
    ) -> Map<String, Value> {
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            if self.has_timeout() && self.waits {
                let timeout = json!({ "type": "number", "description": "In ms." });
                properties.insert(TIMEOUT.to_owned(), timeout);
            }
            if self.has_large_answers && !is_drop_in {
                let tokens = json!({ "type": "number" });
                properties.insert(MAX_TOKENS.to_owned(), tokens);
            }
            if self.names_session(naming) {
                // Without a description: the name is sufficient, and the text would be repeated for every tool.
                let id = json!({ "type": "string" });
                properties.insert(SESSION.to_owned(), id);
            }
        }
        if self.names_session(naming) && naming == SessionNaming::Required {
            let required = schema.entry("required").or_insert_with(|| json!([]));
            if let Value::Array(required) = required {
                required.push(SESSION.into());
            }
        }
        schema
    }

    fn names_session(&self, naming: SessionNaming) -> bool {
        self.has_session && naming != SessionNaming::Impossible
    }

    fn has_timeout(&self) -> bool {
        self.has_session && self.output_format == OutputFormat::Json
    }
}

/// Returns a number without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and no answer is that large"
)]
fn whole(number: f64) -> usize {
    number as usize
}

fn problem(parameter: &str, expected: &str) -> Problem {
    Problem {
        parameter: parameter.to_owned(),
        message: format!("Invalid input: expected {expected}"),
        missing: false,
    }
}
