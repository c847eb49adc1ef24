//! The caller's JavaScript as a function whose result is JSON; the same for every protocol.

/// A function that runs the caller's expression and returns its value as JSON text, or null for undefined.
pub(crate) fn function_around(parameter: &str, expression: &str) -> String {
    format!(
        "async function({parameter}) {{\n  let value = (\n{expression}\n);
  if (typeof value === 'function') value = value(arguments[0]);
  value = await value;
  return ({TO_JSON})(value);\n}}"
    )
}

/// What JSON has no word for is told in text; a cycle is cut. Pages may have replaced what we use of theirs: then the value itself is
/// returned, in an array.
const TO_JSON: &str = include_str!("expression.js");
