//! Expressions of the caller as functions that return JSON.

/// Returns a function that evaluates the caller's expression and returns its value as JSON text, or null for undefined.
pub(crate) fn function_around(parameter: &str, expression: &str) -> String {
    format!(
        "async function({parameter}) {{\n  let value = (\n{expression}\n);
  if (typeof value === 'function') value = value(arguments[0]);
  value = await value;
  return ({TO_JSON})(value);\n}}"
    )
}

/// Returns a function that evaluates the caller's expression and returns its value.
pub(crate) fn plain_function_around(parameter: &str, expression: &str) -> String {
    format!(
        "async function({parameter}) {{\n  let value = (\n{expression}\n);
  if (typeof value === 'function') value = value(arguments[0]);
  return await value;\n}}"
    )
}

/// The conversion to JSON. Values that JSON does not have become text, and cycles are cut. If the page has replaced functions that the
/// conversion needs, the value itself is returned in an array.
pub(crate) const TO_JSON: &str = include_str!("expression.js");
