//! Refs with the name of a browser context: `clean:e5` is the ref `e5` of the context `clean`. They are accepted in each parameter that
//! names an element.

use super::{Arguments, ToolDef};
use crate::error::{Error, Problem, Result};
use crate::sessions::is_name;
use serde_json::Value;

/// The parameters that name elements.
const TARGET_PARAMETERS: &[&str] = &["target", "startTarget", "endTarget", "selector", "source"];

impl ToolDef {
    /// Removes the name of the context from the refs in the arguments and returns it. Fails if the refs name different contexts.
    pub(crate) fn context(&self, arguments: &mut Arguments) -> Result<Option<String>> {
        let mut named = None;
        if remove_context(arguments, &mut named) {
            return Ok(named);
        }
        Err(Error::InvalidArguments {
            tool: self.name,
            problems: vec![Problem {
                parameter: String::new(),
                message: "Refs of one call must be of one context".to_owned(),
                missing: false,
            }],
        })
    }
}

/// Removes the names of contexts from refs and stores the first in `named`. Returns false if there is a different one.
fn remove_context(object: &mut Arguments, named: &mut Option<String>) -> bool {
    object.iter_mut().all(|(key, value)| match value {
        Value::String(text) if TARGET_PARAMETERS.contains(&key.as_str()) => {
            // Errors are reported by the tool.
            let copied = engine::reference_in(text).ok().flatten();
            let Some((name, reference)) = split(copied.unwrap_or(text)) else {
                return true;
            };
            let is_same = named.get_or_insert_with(|| name.to_owned()) == name;
            *text = reference.to_owned();
            is_same
        }
        Value::Array(items) => items.iter_mut().all(|item| match item {
            Value::Object(object) => remove_context(object, named),
            _ => true,
        }),
        _ => true,
    })
}

/// Splits a ref into the name of its context and the ref in the context. Returns `None` if it names no context.
fn split(text: &str) -> Option<(&str, &str)> {
    let (name, reference) = text.trim().split_once(':')?;
    // A fold of an outline: `clean:e5..e9`.
    let first = reference
        .split_once("..")
        .map_or(reference, |(first, _)| first);
    let first = first.split_once('+').map_or(first, |(first, _)| first);
    let element = first.strip_prefix('f').map_or(Some(first), |framed| {
        let digits = framed.trim_start_matches(|digit: char| digit.is_ascii_digit());
        (digits.len() < framed.len()).then_some(digits)
    })?;
    let number = element.strip_prefix('e')?;
    let is_ref = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    (is_ref && is_name(name)).then_some((name, reference))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_ref_may_name_its_context() {
        for (text, parts) in [
            ("clean:e1", Some(("clean", "e1"))),
            ("a-b_2:f12e30", Some(("a-b_2", "f12e30"))),
            ("default:e1", Some(("default", "e1"))),
            ("clean:e1..f1e20", Some(("clean", "e1..f1e20"))),
            ("clean:e1+2..e1+30", Some(("clean", "e1+2..e1+30"))),
            ("e1..e2", None),
            ("e1", None),
            (":e1", None),
            ("clean:e", None),
            ("clean:fe1", None),
            ("clean:e1x", None),
            ("a:hover", None),
            ("xpath=//a:e1", None),
        ] {
            assert_eq!(split(text), parts, "{text}");
        }
    }

    #[test]
    fn all_refs_of_a_call_are_of_one_context() {
        let removed = |value: Value| {
            let Value::Object(mut arguments) = value else {
                return (false, None, Value::Null);
            };
            let mut named = None;
            let same_context = remove_context(&mut arguments, &mut named);
            (same_context, named, Value::Object(arguments))
        };
        assert_eq!(
            removed(
                json!({ "fields": [{ "target": "uk:e1", "value": "uk:e2" }], "element": "uk:e3" })
            ),
            (
                true,
                Some("uk".to_owned()),
                json!({ "fields": [{ "target": "e1", "value": "uk:e2" }], "element": "uk:e3" })
            )
        );
        let lines =
            json!({ "startTarget": "- button \"a:e3\" uk:e1", "endTarget": "link [ref=uk:f1e2]" });
        let refs = json!({ "startTarget": "e1", "endTarget": "f1e2" });
        assert_eq!(removed(lines), (true, Some("uk".to_owned()), refs));
        let (same_context, ..) = removed(json!({ "startTarget": "a:e1", "endTarget": "b:e1" }));
        assert!(!same_context);
    }
}
