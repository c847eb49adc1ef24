//! Evaluating scripts in the page.

use super::statements::Statements;
use crate::access::principal::Permission;
use crate::calls::Call;
use crate::config::Risk;
use crate::error::Result;
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use crate::tools::verbs::evaluate::{evaluate, is_function};
use engine::{Page, Progress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Evaluate>()];

/// Run JavaScript in the page.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Evaluate {
    /// An expression, statements, or a function.
    script: String,
    /// Arguments of the function.
    #[serde(default)]
    #[schemars(schema_with = "list")]
    args: Vec<Value>,
}

fn list(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "array" })
}

/// The result of the script, as JSON.
#[derive(Serialize, JsonSchema)]
pub(super) struct Evaluated {
    result: Option<Value>,
}

impl Tool for Evaluate {
    const NAME: &'static str = "evaluate";
    const TITLE: &'static str = "Evaluate";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const RISK: Option<Risk> = Some(Risk::Evaluation);
    type Scope = FreeTab;
    type Output = Object<Evaluated>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Evaluated>> {
        let function = self.into_function(&tab.page, &call.navigation()).await?;
        let failures = tab.page.failures();
        let result = evaluate(&tab, call, None, &function).await?;
        tab.report_failure(failures);
        Ok(Evaluated { result }.into())
    }
}

impl Evaluate {
    /// Returns a function that returns the value of the script. Only the browser can decide whether the script is an expression, because
    /// functions in an expression contain statements too.
    async fn into_function(self, page: &Page, progress: &Progress) -> Result<String> {
        let is_large = task::is_large(&(&self.script, &self.args));
        let Outline {
            script,
            args,
            expression,
            has_return,
            end,
            last_starts,
        } = task::compute_if_large(is_large, move || self.outline()).await;
        if parses(page, progress, &expression).await? {
            return Ok(expression);
        }
        let body = as_body(&script, &args);
        // A script with its own `return` determines its value. A `return` in a function of the script does not count.
        let returns_value = has_return && !page.parses(progress, &script).await?;
        if returns_value || !parses(page, progress, &body).await? {
            return Ok(body);
        }
        for start in last_starts {
            let (before, last) = (&script[..start], &script[start..end]);
            let returning = as_body(&format!("{before}\nreturn (\n{last}\n)"), &args);
            // The last statement must be a value by itself, not the rest of an expression before it.
            let value = format!("async () => (\n{last}\n)");
            if parses(page, progress, &value).await? && parses(page, progress, &returning).await? {
                return Ok(returning);
            }
        }
        Ok(body)
    }

    fn outline(self) -> Outline {
        let args = serde_json::to_string(&self.args).unwrap_or_default();
        let statements = Statements::of(&self.script);
        let expression = statements.trimmed();
        Outline {
            has_return: statements.has_word("return"),
            end: expression.len(),
            last_starts: statements.last().map(|(before, _)| before.len()).collect(),
            expression: as_expression(expression, is_function(&self.script), &args),
            script: self.script,
            args,
        }
    }
}

/// The possible forms of a script.
struct Outline {
    script: String,
    /// The arguments, as a JSON array.
    args: String,
    /// A function that returns the value of the script if the script is an expression.
    expression: String,
    /// Whether the script contains the word `return`.
    has_return: bool,
    /// The offset of the end of the last statement.
    end: usize,
    /// The offsets at which the last statement may begin.
    last_starts: Vec<usize>,
}

async fn parses(page: &Page, progress: &Progress, function: &str) -> Result<bool> {
    Ok(page.parses(progress, &format!("({function})")).await?)
}

/// Returns a function that returns the value of the expression. If the expression is a function, it is called.
fn as_expression(expression: &str, is_function: bool, args: &str) -> String {
    if is_function {
        format!(
            "async () => {{ const value = (\n{expression}\n); return typeof value === 'function' ? value(...{args}) : value; }}"
        )
    } else {
        format!("async () => (\n{expression}\n)")
    }
}

/// Returns a function with the statements as its body.
fn as_body(script: &str, args: &str) -> String {
    format!("() => (async function () {{\n{script}\n}})(...{args})")
}
