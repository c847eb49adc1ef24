//! Scripts in the page's own world.

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

/// What it gave, as JSON.
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
        let function = self.readable(&tab.page, &call.navigation()).await?;
        let failures = tab.page.failures();
        let result = evaluate(&tab, call, None, &function).await?;
        tab.report_failure(failures);
        Ok(Evaluated { result }.into())
    }
}

impl Evaluate {
    /// A function that gives the script's value. Whether it is an expression only the browser can tell: functions in it have statements too.
    async fn readable(self, page: &Page, progress: &Progress) -> Result<String> {
        let is_large = task::is_large(&(&self.script, &self.args));
        let Outline {
            script,
            args,
            expression,
            returns,
            end,
            places,
        } = task::compute_if_large(is_large, move || self.outline()).await;
        if parses(page, progress, &expression).await? {
            return Ok(expression);
        }
        let body = as_body(&script, &args);
        // With a return it says itself what its value is; those of functions in it do not count.
        let says = returns && !page.parses(progress, &script).await?;
        if says || !parses(page, progress, &body).await? {
            return Ok(body);
        }
        for place in places {
            let (before, last) = (&script[..place], &script[place..end]);
            let returning = as_body(&format!("{before}\nreturn (\n{last}\n)"), &args);
            // It must be a value by itself, not the rest of what stands before it.
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
            returns: statements.has_word("return"),
            end: expression.len(),
            places: statements.last().map(|(before, _)| before.len()).collect(),
            expression: as_expression(expression, is_function(&self.script), &args),
            script: self.script,
            args,
        }
    }
}

/// What a script may be.
struct Outline {
    script: String,
    /// As JSON.
    args: String,
    /// A function that gives its value, if it is an expression.
    expression: String,
    /// It has the word.
    returns: bool,
    /// Where its last statement ends.
    end: usize,
    /// Where that may begin.
    places: Vec<usize>,
}

async fn parses(page: &Page, progress: &Progress, function: &str) -> Result<bool> {
    Ok(page.parses(progress, &format!("({function})")).await?)
}

/// A function that gives the value of an expression; that of a function is what it returns.
fn as_expression(expression: &str, is_function: bool, args: &str) -> String {
    if is_function {
        format!(
            "async () => {{ const value = (\n{expression}\n); return typeof value === 'function' ? value(...{args}) : value; }}"
        )
    } else {
        format!("async () => (\n{expression}\n)")
    }
}

/// A function that runs statements and returns as they do.
fn as_body(script: &str, args: &str) -> String {
    format!("() => (async function () {{\n{script}\n}})(...{args})")
}
