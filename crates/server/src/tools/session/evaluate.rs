//! Evaluating scripts in the page.

use crate::access::principal::Permission;
use crate::calls::Call;
use crate::config::Risk;
use crate::error::Result;
use crate::tools::scope::FreeTab;
use crate::tools::tool::{Effect, Object, Tool, ToolDef};
use crate::tools::verbs::evaluate::evaluate;
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
    const HAS_LARGE_ANSWERS: bool = true;
    type Scope = FreeTab;
    type Output = Object<Evaluated>;

    async fn run(self, tab: FreeTab, call: &Call) -> Result<Object<Evaluated>> {
        let progress = call.navigation();
        let function = tab
            .page
            .script_as_function(&progress, self.script, &self.args);
        let function = function.await?;
        let failures = tab.page.failures();
        let result = evaluate(&tab, call, None, &function).await?;
        tab.report_failure(failures);
        Ok(Evaluated { result }.into())
    }
}
