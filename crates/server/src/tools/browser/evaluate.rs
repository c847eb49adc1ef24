//! Evaluating scripts in the page.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Risk;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use crate::tools::verbs::evaluate::evaluate;
use engine::codegen::javascript;
use engine::codegen::{Receiver, Statement};
use engine::is_function;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Evaluate>()];

/// Run JavaScript in the page.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Evaluate {
    /// What the element is, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: Option<String>,
    /// () => {…}, or (element) => {…} with a target.
    function: String,
    /// Save the result to this file.
    filename: Option<String>,
}

impl Tool for Evaluate {
    const NAME: &'static str = "browser_evaluate";
    const TITLE: &'static str = "Evaluate JavaScript";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const RISK: Option<Risk> = Some(Risk::Evaluation);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let function = &self.function;
        let shown = if is_function(function) {
            function.clone()
        } else {
            format!("() => ({function})")
        };
        let found = match &self.target {
            Some(target) => Some(tab.find_attached(call, target).await?),
            None => None,
        };
        let code = javascript::evaluate(found.as_ref().map(|found| &found.shown), &shown);
        let receiver = match &found {
            Some(found) => Receiver::Element(found.shown.clone()),
            None => Receiver::Page,
        };
        let statement = Statement::new(receiver, "evaluate").argument(shown.as_str());
        let language = call.language();
        let element = found.as_ref().map(|found| &found.locator);
        let value = match evaluate(&tab, call, element, function).await {
            // A script that opens a dialog has no result until the dialog is handled.
            Err(engine::Error::DialogOpen {}) => {
                return Ok(Reply::statements(language, code, [statement]));
            }
            // An exception of the script is a result.
            Err(error @ engine::Error::Script { .. }) => return Ok(Reply::error(error)),
            value => value?,
        };
        let text = match value {
            Some(value) => task::pretty(value).await,
            None => "undefined".to_owned(),
        };
        let reply = tab
            .text_or_file(call, text, self.filename.as_deref(), "Evaluation result")
            .await?;
        Ok(reply.and_statements(language, code, [statement]))
    }
}
