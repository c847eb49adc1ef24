//! Scripts in the page's own world.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Risk;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Evaluate>()];

/// Run JavaScript in the page.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Evaluate {
    /// What the element is, for people.
    #[expect(dead_code, reason = "for people who follow the calls")]
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
        let progress = call.navigation();
        let watch = tab.page.watch(&progress).await;
        call.set_status("waiting for the function to return");
        let (code, value) = match &self.target {
            Some(target) => {
                let found = tab.find(call, target).await?;
                let code = javascript::evaluate(Some(&found.shown), &shown);
                (code, found.locator.evaluate(&progress, function).await)
            }
            None => (
                javascript::evaluate(None, &shown),
                tab.page.evaluate(&progress, function).await,
            ),
        };
        if value.is_ok() {
            tab.settle_briefly(call, watch).await;
        }
        let value = match value {
            // A script that opens a dialog has no result until the dialog is answered.
            Err(engine::Error::DialogOpen {}) => return Ok(Reply::code(code)),
            // The page's own error is an outcome like another.
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
        Ok(reply.and_code(code))
    }
}

/// Whether the text is a function, as far as its beginning tells; else it is an expression.
pub(in crate::tools) fn is_function(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix("async").map_or(text, str::trim_start);
    if text.starts_with("function") {
        return true;
    }
    // Parameters, then an arrow.
    let after_parameters = match text.strip_prefix('(') {
        Some(rest) => after_bracket(rest),
        None => {
            let name = |char: char| char.is_alphanumeric() || char == '_' || char == '$';
            let rest = text.trim_start_matches(name);
            (rest.len() < text.len()).then_some(rest)
        }
    };
    after_parameters.is_some_and(|rest| rest.trim_start().starts_with("=>"))
}

/// What follows the bracket that closes the one before `text`.
fn after_bracket(text: &str) -> Option<&str> {
    let mut depth = 1_u32;
    for (index, char) in text.char_indices() {
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[index + 1..]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::is_function;

    #[test]
    fn functions_are_distinguished_from_expressions() {
        for function in [
            "() => 1",
            "async (a, {b: [c]}) => 1",
            "el => el.id",
            "async el => 1",
            "function () {}",
            "async function f() {}",
            "(a = (1)) => a",
        ] {
            assert!(is_function(function), "{function}");
        }
        for expression in [
            "1",
            "document.title",
            "(1)",
            "[1].map(x => x)",
            "(() => 1)()",
            "a",
        ] {
            assert!(!is_function(expression), "{expression}");
        }
    }
}
