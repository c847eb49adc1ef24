//! Refs that name a context: `clean:e5` is the ref `e5` of the context `clean`, in whatever parameter it stands.

use super::{Arguments, ToolDef};
use crate::error::{Error, Problem, Result};
use crate::sessions::is_name;
use serde_json::Value;

/// The parameters that name elements.
const TARGETS: &[&str] = &["target", "startTarget", "endTarget", "selector", "source"];

impl ToolDef {
    /// Takes the context's name out of the refs among the arguments: the context that the call is for.
    pub(crate) fn context(&self, arguments: &mut Arguments) -> Result<Option<String>> {
        let mut named = None;
        if take(arguments, &mut named) {
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

/// False when two contexts are named.
fn take(object: &mut Arguments, named: &mut Option<String>) -> bool {
    object.iter_mut().all(|(key, value)| match value {
        Value::String(text) if TARGETS.contains(&key.as_str()) => {
            let Some((name, reference)) = split(text) else {
                return true;
            };
            let same = named.get_or_insert_with(|| name.to_owned()) == name;
            *text = reference.to_owned();
            same
        }
        Value::Array(items) => items.iter_mut().all(|item| match item {
            Value::Object(object) => take(object, named),
            _ => true,
        }),
        _ => true,
    })
}

/// The context's name and the ref in it.
fn split(text: &str) -> Option<(&str, &str)> {
    let (name, reference) = text.trim().split_once(':')?;
    let element = reference
        .strip_prefix('f')
        .map_or(Some(reference), |framed| {
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
        let taken = |value: Value| {
            let Value::Object(mut arguments) = value else {
                return (false, None, Value::Null);
            };
            let mut named = None;
            let fine = take(&mut arguments, &mut named);
            (fine, named, Value::Object(arguments))
        };
        assert_eq!(
            taken(
                json!({ "fields": [{ "target": "uk:e1", "value": "uk:e2" }], "element": "uk:e3" })
            ),
            (
                true,
                Some("uk".to_owned()),
                json!({ "fields": [{ "target": "e1", "value": "uk:e2" }], "element": "uk:e3" })
            )
        );
        let (fine, ..) = taken(json!({ "startTarget": "a:e1", "endTarget": "b:e1" }));
        assert!(!fine);
    }
}
