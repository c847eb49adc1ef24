//! Evaluating scripts in the page.

use crate::calls::Call;
use crate::tools::scope::TabInAnyState;
use engine::{Locator, Result};
use serde_json::Value;

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

/// Returns whether a script begins like a function. Otherwise it is treated as an expression.
pub(crate) fn is_function(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix("async").map_or(text, str::trim_start);
    if text.starts_with("function") {
        return true;
    }
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

/// Returns the text after the bracket that closes the one before `text`.
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
