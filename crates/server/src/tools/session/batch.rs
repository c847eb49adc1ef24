//! Several calls in one: the steps of a batch.

mod references;

use crate::access::principal::Permission;
use crate::answers::bound::{fair_share, shortened};
use crate::answers::escape::indented;
use crate::answers::reply::{Image, Part, Reply};
use crate::answers::{Content, ContentItem};
use crate::calls::Call;
use crate::calls::tool_spec::ToolSpec;
use crate::error::{Error, ErrorCode, Problem, Result};
use crate::tools::scope::SessionSteps;
use crate::tools::tool::{Arguments, Effect, StepCaller, StepError, Tool, ToolDef};
use engine::estimate_tokens;
use references::Results;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Batch>()];

/// The largest number of steps.
const MAX_STEPS: usize = 50;

/// How long all steps together may take.
const BATCH_TIMEOUT: Duration = Duration::from_secs(300);

/// Call tools in order until one fails. {{steps.0.result}} in an argument is an earlier result, {{steps.0.result.id}} a member.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Batch {
    #[schemars(schema_with = "steps")]
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    tool: String,
    #[serde(default)]
    arguments: Arguments,
}

/// Returns the schema of the steps. The derived one is twice as long, and each conversation contains it.
fn steps(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "description": "Calls.", "items": {
        "type": "object",
        "properties": {
            "tool": { "type": "string", "description": "Its name." },
            "arguments": { "type": "object", "description": "Its arguments." },
        },
        "required": ["tool"],
    } })
}

impl Tool for Batch {
    const NAME: &'static str = "browser_batch";
    const TITLE: &'static str = "Batch";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    // The code of a step is the code of the batch.
    const NOT_READY: ErrorCode = ErrorCode::ElementNotClickable;
    const EXTRA_TIME: Duration = BATCH_TIMEOUT;
    type Scope = SessionSteps;
    type Output = Reply;

    async fn run(self, SessionSteps(caller): SessionSteps, call: &Call) -> Result<Reply> {
        let tools = self.check(&*caller, call)?;
        let deadline = Instant::now() + BATCH_TIMEOUT;
        let mut report = Report::new(call.max_tokens() / 3 * 2);
        for (index, (step, tool)) in self.steps.into_iter().zip(tools).enumerate() {
            let arguments = report
                .results
                .resolve(step.arguments, &call.settings.secrets);
            let ran = match arguments {
                Err(problem) => Err(Error::InvalidArguments {
                    tool: tool.name,
                    problems: vec![problem],
                }),
                Ok(arguments) => {
                    let ran = caller.call(call, tool.name, arguments);
                    let in_time = timeout_at(deadline, ran).await;
                    in_time.unwrap_or(Err(Error::TookTooLong {
                        tool: call.tool.name,
                        limit_ms: u64::try_from(BATCH_TIMEOUT.as_millis()).unwrap_or(u64::MAX),
                    }))
                }
            };
            match ran {
                Ok(content) if !content.is_error => report.add(tool.name, content),
                Ok(content) => {
                    return Ok(report.failed(index, tool, Failure::of_content(&content)));
                }
                Err(error) => {
                    return Ok(report.failed(index, tool, Failure::of_error(tool, &error)));
                }
            }
        }
        Ok(report.reply())
    }
}

impl Batch {
    /// Returns the tools of the steps, or an error about what can be known before the first step runs.
    fn check(&self, caller: &dyn StepCaller, call: &Call) -> Result<Vec<&'static ToolSpec>> {
        let mut problems = Vec::new();
        if self.steps.is_empty() || self.steps.len() > MAX_STEPS {
            problems.push(Problem {
                parameter: "steps".to_owned(),
                message: format!(
                    "Expected 1 to {MAX_STEPS} steps, received {}",
                    self.steps.len()
                ),
                missing: false,
            });
        }
        let mut tools = Vec::new();
        for (index, Step { tool, arguments }) in self.steps.iter().take(MAX_STEPS).enumerate() {
            match caller.check(tool, arguments) {
                Ok(tool) => tools.push(tool),
                Err(StepError::Parameter { name, message }) => problems.push(Problem {
                    parameter: format!("steps[{index}].{name}"),
                    message,
                    missing: false,
                }),
                Err(StepError::Refused(tool, error)) => {
                    return Err(Failure::of_error(tool, &error).into_error(index, tool, 0));
                }
            }
            problems.extend(references::problems(index, arguments));
        }
        if problems.is_empty() {
            return Ok(tools);
        }
        Err(Error::InvalidArguments {
            tool: call.tool.name,
            problems,
        })
    }
}

/// The error of a step.
struct Failure {
    code: ErrorCode,
    message: String,
    details: Value,
}

impl Failure {
    fn of_content(content: &Content) -> Self {
        let mut object = content.structured.clone().unwrap_or_default();
        let code = object["errorCode"]
            .as_str()
            .and_then(|code| code.parse().ok());
        let message = object["message"].as_str().map(str::to_owned);
        Self {
            code: code.unwrap_or(ErrorCode::InternalError),
            message: message.unwrap_or_else(|| content.text()),
            details: object["details"].take(),
        }
    }

    fn of_error(tool: &ToolSpec, error: &Error) -> Self {
        let code = tool.code_of(error);
        Self {
            code,
            message: error.to_string(),
            details: error.to_json(code)["details"].take(),
        }
    }

    fn into_error(self, step: usize, tool: &ToolSpec, ran: usize) -> Error {
        Error::StepFailed {
            step,
            tool: tool.name,
            ran,
            error: Box::new(self.details),
            message: self.message,
            code: self.code,
        }
    }
}

/// What the steps have returned so far.
struct Report {
    results: Results,
    /// The tool and the result of each step.
    shown: Vec<(&'static str, String)>,
    /// The line about the step that failed.
    failed: Option<String>,
    images: Vec<Image>,
    code: Vec<String>,
    needs_snapshot: bool,
    needs_changes: bool,
    /// The largest size of the results together, in tokens.
    max_tokens: usize,
}

impl Report {
    fn new(max_tokens: usize) -> Self {
        Self {
            results: Results::default(),
            shown: Vec::new(),
            failed: None,
            images: Vec::new(),
            code: Vec::new(),
            needs_snapshot: false,
            needs_changes: false,
            max_tokens,
        }
    }

    /// Adds a step that was carried out.
    fn add(&mut self, tool: &'static str, content: Content) {
        let text = content.text();
        // More cannot be shown, even if it is the only result.
        let result = shortened(compact(&text).into_owned(), self.max_tokens);
        self.shown.push((tool, result));
        self.results.add(tool, text);
        self.code.extend(content.step.code);
        self.needs_snapshot |= content.step.needs_snapshot;
        self.needs_changes |= content.step.needs_changes;
        for item in content.items {
            if let ContentItem::Image { bytes, mime_type } = item {
                self.images.push(Image { bytes, mime_type });
            }
        }
    }

    /// Returns the answer after a step that failed.
    fn failed(mut self, step: usize, tool: &ToolSpec, failure: Failure) -> Reply {
        let code = failure.code.name();
        self.failed = Some(format!("- {step} {} failed: {code}", tool.name));
        self.needs_snapshot = true;
        Reply {
            error: Some(failure.into_error(step, tool, step)),
            ..self.reply()
        }
    }

    fn reply(self) -> Reply {
        let sizes = self.shown.iter().map(|(_, result)| estimate_tokens(result));
        let share = fair_share(&sizes.collect::<Vec<_>>(), self.max_tokens);
        let steps = self.shown.into_iter().enumerate();
        let steps = steps.map(|(number, (tool, result))| match result.is_empty() {
            true => format!("- {number} {tool} ok"),
            false => {
                let result = shortened(result, share);
                format!("- {number} {tool} ok: {}", indented(&result))
            }
        });
        let lines: Vec<String> = steps.chain(self.failed).collect();
        let mut reply = Reply {
            code: self.code,
            ..Reply::page(lines.join("\n"))
        };
        reply.parts.extend(self.images.into_iter().map(Part::Image));
        match (self.needs_snapshot, self.needs_changes) {
            (true, _) => reply.and_snapshot(),
            (false, true) => reply.and_changes(),
            (false, false) => reply,
        }
    }
}

/// Returns JSON without the whitespace that makes it readable, and other text unchanged.
fn compact(text: &str) -> Cow<'_, str> {
    match text
        .contains('\n')
        .then(|| serde_json::from_str::<Value>(text))
    {
        Some(Ok(value)) => value.to_string().into(),
        _ => text.into(),
    }
}
