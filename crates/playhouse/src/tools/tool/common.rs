//! The parameters that many tools have, and none of them reads: which session, and how long to wait.

use super::{Arguments, OutputFormat, ToolDef};
use crate::error::{Error, Problem, Result};
use crate::sessions::session::DEFAULT_NAME;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Which session a call is for.
pub(crate) const SESSION: &str = "sessionId";
/// How long it may wait, in milliseconds.
const TIMEOUT: &str = "timeout";
/// The longest that a call may ask to wait, in milliseconds: a day.
const MAX_TIMEOUT_MS: f64 = 86_400_000.0;

/// Whether calls name the session that they are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionNaming {
    /// There is the default session and no other, as in `@playwright/mcp`.
    Impossible,
    /// Those that name none are for the default session.
    Optional,
    /// They must (`--require-session`).
    Required,
}

/// What a call says for all that serve it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Common {
    /// The session it is for; `None`: the default one.
    pub(crate) session_id: Option<String>,
    /// How long it may wait for what it waits for.
    pub(crate) timeout: Option<Duration>,
}

impl ToolDef {
    /// Takes the common parameters out of the arguments.
    pub(crate) fn common(
        &self,
        arguments: &mut Arguments,
        naming: SessionNaming,
    ) -> Result<Common> {
        let mut common = Common::default();
        let mut problems = Vec::new();
        if self.names_session(naming) {
            match arguments.shift_remove(SESSION) {
                // Models send empty strings for what they leave out.
                None => {}
                Some(Value::String(id)) if id.is_empty() => {}
                Some(Value::String(id)) => common.session_id = Some(id),
                // A program that lost its id must not act on another session.
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
        if problems.is_empty() {
            Ok(common)
        } else {
            Err(Error::InvalidArguments {
                tool: self.name,
                problems,
            })
        }
    }

    /// Adds the common parameters to a schema.
    pub(super) fn with_common(
        &self,
        mut schema: Map<String, Value>,
        naming: SessionNaming,
    ) -> Map<String, Value> {
        if naming != SessionNaming::Impossible {
            // Without it a schema is of the same dialect, and clients of @playwright/mcp see another list anyway.
            schema.remove("$schema");
        }
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            if self.has_timeout() && self.waits {
                let timeout = json!({ "type": "number", "description": "In ms." });
                properties.insert(TIMEOUT.to_owned(), timeout);
            }
            if self.names_session(naming) {
                // Its name says it, and every tool has it.
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

fn problem(parameter: &str, expected: &str) -> Problem {
    Problem {
        parameter: parameter.to_owned(),
        message: format!("Invalid input: expected {expected}"),
        missing: false,
    }
}
