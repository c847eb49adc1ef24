//! Evaluating scripts in the page.

use crate::calls::Call;
use crate::tools::scope::TabInAnyState;
use engine::{Locator, Result, is_function};
use serde_json::Value;
use std::borrow::Cow;

/// Calls a function in the page, with the element as its argument if there is one, and waits until the page has settled. Returns the
/// result, or `None` for `undefined`.
pub(crate) async fn evaluate(
    tab: &TabInAnyState,
    call: &Call,
    element: Option<&Locator>,
    function: &str,
) -> Result<Option<Value>> {
    let progress = call.navigation();
    let watch = tab.page.watch(&progress).await;
    call.set_status("waiting for the script to return");
    let result = match element {
        Some(element) => element.evaluate(&progress, function).await?,
        None => tab.page.evaluate(&progress, function).await?,
    };
    tab.settle_briefly(call, watch).await;
    Ok(result)
}

/// Returns a function as generated code shows it: an expression becomes one.
pub(crate) fn shown_function(function: &str) -> Cow<'_, str> {
    match is_function(function) {
        true => function.into(),
        false => format!("() => ({function})").into(),
    }
}
