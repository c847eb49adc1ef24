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
    #[schemars(required)]
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
        let args = serde_json::to_string(&self.args).unwrap_or_default();
        let script = &self.script;
        let function = if is_function(script) {
            format!("() => ({script})(...{args})")
        } else if is_statements(script) {
            format!("() => (async function () {{ {script}\n }})(...{args})")
        } else {
            format!("() => ({script}\n)")
        };
        let progress = call.navigation();
        let watch = tab.page.watch(&progress).await;
        let result = tab.page.evaluate(&progress, &function).await?;
        tab.settle_briefly(call, watch).await;
        Ok(Evaluated { result }.into())
    }
}

/// Whether a script that is no function returns by itself, as the body of a function does.
fn is_statements(script: &str) -> bool {
    let words = script.split(|char: char| !char.is_alphanumeric() && char != '_' && char != '$');
    let mut words = words.filter(|word| !word.is_empty());
    words.any(|word| word == "return")
}

#[cfg(test)]
mod tests {
    use super::is_statements;

    #[test]
    fn statements_return() {
        assert!(is_statements("const a = 1; return a + 1"));
        assert!(is_statements("if (x) { return 1 }"));
        assert!(!is_statements("document.title"));
        assert!(!is_statements("returned + 1"));
    }
}
