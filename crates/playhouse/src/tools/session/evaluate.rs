//! Scripts in the page's own world.

use crate::call::Call;
use crate::config::Risk;
use crate::error::Result;
use crate::scope::FreeTab;
use crate::tool::{Effect, ObjectTool, Outcome, ToolDef};
use crate::tools::browser::evaluate::is_function;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::object::<Evaluate>()];

/// Run JavaScript in the page.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Evaluate {
    /// An expression, statements with a return, or a function.
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

impl ObjectTool for Evaluate {
    const NAME: &'static str = "evaluate";
    const TITLE: &'static str = "Evaluate";
    const EFFECT: Effect = Effect::Acts;
    const RISK: Option<Risk> = Some(Risk::Evaluation);
    type Scope = FreeTab;
    type Output = Evaluated;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Outcome<Evaluated>> {
        let progress = call.navigation();
        let args = serde_json::to_string(&self.args).unwrap_or_default();
        let mut function = as_expression(&self.script, &args);
        // Whether it is an expression only the browser can tell: functions in it have statements too.
        if !tab.page.parses(&progress, &format!("({function})")).await? {
            function = as_body(&self.script, &args);
        }
        let watch = tab.page.watch(&progress).await;
        let result = tab.page.evaluate(&progress, &function).await?;
        tab.settle_briefly(call, watch).await;
        Ok(Evaluated { result }.into())
    }
}

/// A function that gives the script's value; that of a function is what it returns. The script may end in a comment.
fn as_expression(script: &str, args: &str) -> String {
    let expression = script.trim_end_matches(|end: char| end == ';' || end.is_whitespace());
    if is_function(script) {
        format!(
            "async () => {{ const value = (\n{expression}\n); return typeof value === 'function' ? value(...{args}) : value; }}"
        )
    } else {
        format!("async () => (\n{expression}\n)")
    }
}

/// A function that runs the script's statements and returns as they do.
fn as_body(script: &str, args: &str) -> String {
    format!("() => (async function () {{\n{script}\n}})(...{args})")
}
