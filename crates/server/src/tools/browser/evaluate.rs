//! Evaluating scripts in the page.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Risk;
use crate::error::{Error, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use crate::tools::verbs::evaluate::{evaluate, shown_function};
use engine::codegen::javascript;
use engine::codegen::{Receiver, Statement};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

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
    /// Repeat it until the result is truthy, for at most so many seconds.
    #[schemars(extend("x-addition" = true))]
    wait: Option<f64>,
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
        if let Some(seconds) = self.wait {
            return self.wait_until_truthy(&tab, call, seconds).await;
        }
        let function = &self.function;
        let shown = shown_function(function);
        let found = match &self.target {
            Some(target) => Some(tab.find_attached(call, target).await?),
            None => None,
        };
        let code = javascript::evaluate(found.as_ref().map(|found| &found.shown), &shown);
        let receiver = match &found {
            Some(found) => Receiver::Element(found.shown.clone()),
            None => Receiver::Page,
        };
        let statement = Statement::new(receiver, "evaluate").argument(&*shown);
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

/// The longest time of a wait.
const MAX_WAIT: Duration = Duration::from_secs(30);

impl Evaluate {
    async fn wait_until_truthy(
        &self,
        tab: &CurrentTab,
        call: &Call,
        seconds: f64,
    ) -> Result<Reply> {
        if self.target.is_some() || self.filename.is_some() {
            return Err(Error::Arguments {
                reason: "wait cannot be used with target or filename.".into(),
                parameters: &["wait", "target", "filename"],
                missing: &[],
                bare: false,
            });
        }
        let limit = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(MAX_WAIT);
        let progress = call.within(limit.min(MAX_WAIT));
        match tab.page.wait_for_function(&progress, &self.function).await {
            // An exception of the function is a result.
            Err(error @ engine::Error::Script { .. }) => return Ok(Reply::error(error)),
            done => done?,
        }
        let shown = shown_function(&self.function);
        let code = javascript::wait_for_function(&shown);
        let statement = Statement::new(Receiver::Page, "waitForFunction").argument(&*shown);
        let reply = Reply::text("Waited for the function");
        let reply = reply.and_statements(call.language(), code, [statement]);
        Ok(reply.into_test_step().and_snapshot())
    }
}
