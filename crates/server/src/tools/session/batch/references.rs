//! References to the results of earlier steps in string arguments: `{{steps.0.result}}`, or `{{steps.0.result.id}}` for a member.

use crate::config::Secrets;
use crate::error::Problem;
use crate::tools::tool::Arguments;
use serde_json::Value;
use std::ops::Range;

const START: &str = "{{";
const END: &str = "}}";

/// The largest size of the results that the arguments of one step contain, in bytes.
const MAX_RESOLVED_BYTES: usize = 1024 * 1024;

/// The results of the steps so far.
#[derive(Default)]
pub(super) struct Results(Vec<StepResult>);

struct StepResult {
    tool: &'static str,
    text: String,
}

/// A reference in a string.
#[derive(Debug, PartialEq, Eq)]
struct Reference<'a> {
    /// Its place in the string.
    place: Range<usize>,
    step: usize,
    /// The names of the members, outermost first; empty: the whole result.
    members: Vec<&'a str>,
}

/// Returns what is wrong with the references in the arguments of step `index`, as far as that does not depend on results.
pub(super) fn problems(index: usize, arguments: &Arguments) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut arguments = Value::Object(arguments.clone());
    let path = format!("steps[{index}].arguments");
    let _ = each_string(&mut arguments, &path, &mut |path, text| {
        let message = match references(text) {
            Err(malformed) => Some(format!(
                "Unknown reference {malformed}: expected {{{{steps.N.result}}}}, or {{{{steps.N.result.MEMBER}}}}"
            )),
            Ok(references) => references
                .iter()
                .find(|reference| reference.step >= index)
                .map(|reference| {
                    let text = &text[reference.place.clone()];
                    format!("Unknown reference {text}: it must be to a step before step {index}")
                }),
        };
        problems.extend(message.map(|message| problem(path, message)));
        Ok(())
    });
    problems
}

impl Results {
    /// Adds the result of the next step.
    pub(super) fn add(&mut self, tool: &'static str, text: String) {
        self.0.push(StepResult { tool, text });
    }

    /// Returns the arguments of a step with the results that they refer to.
    pub(super) fn resolve(
        &self,
        arguments: Arguments,
        secrets: &Secrets,
    ) -> Result<Arguments, Problem> {
        let mut size = 0;
        let mut value = Value::Object(arguments);
        each_string(&mut value, "", &mut |path, text| {
            let references = references(text).unwrap_or_default();
            if references.is_empty() {
                return Ok(());
            }
            let mut filled = String::new();
            let mut end = 0;
            for Reference {
                place,
                step,
                members,
            } in references
            {
                let result = self.value(step, &members).map_err(|reason| {
                    let reference = &text[place.clone()];
                    problem(path, format!("Unknown reference {reference}: {reason}"))
                })?;
                size += result.len();
                if size > MAX_RESOLVED_BYTES {
                    let message = format!("The results are larger than {MAX_RESOLVED_BYTES} bytes");
                    return Err(problem(path, message));
                }
                filled += &text[end..place.start];
                filled += &result;
                end = place.end;
            }
            filled += &text[end..];
            // A page must not choose a secret that is typed.
            if secrets.names().any(|name| name == filled) {
                let message = "The result of a step must not be the name of a secret".to_owned();
                return Err(problem(path, message));
            }
            *text = filled;
            Ok(())
        })?;
        match value {
            Value::Object(arguments) => Ok(arguments),
            _ => Ok(Arguments::new()),
        }
    }

    /// Returns a result or a member of it as text, or the reason why there is none.
    fn value(&self, step: usize, members: &[&str]) -> Result<String, String> {
        let Some(StepResult { tool, text }) = self.0.get(step) else {
            return Err(format!("step {step} has not run"));
        };
        if text.is_empty() {
            return Err(format!("step {step} ({tool}) has no result"));
        }
        let parsed = serde_json::from_str::<Value>(text);
        let mut value = match &parsed {
            Ok(value) => value,
            Err(_) if members.is_empty() => return Ok(text.clone()),
            Err(_) => return Err(format!("the result of step {step} ({tool}) is not JSON")),
        };
        for name in members {
            let member = match value {
                Value::Array(items) => name.parse().ok().and_then(|index: usize| items.get(index)),
                value => value.get(name),
            };
            value = member.ok_or_else(|| {
                format!("the result of step {step} ({tool}) has no member \"{name}\"")
            })?;
        }
        Ok(match value {
            Value::String(string) => string.clone(),
            _ if members.is_empty() => text.clone(),
            value => value.to_string(),
        })
    }
}

/// Returns the references in a string, or a reference that is malformed. Other text in double braces is no reference.
fn references(text: &str) -> Result<Vec<Reference<'_>>, &str> {
    let mut references = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(START).map(|at| from + at) {
        let inner = start + START.len();
        let Some(end) = text[inner..].find(END).map(|at| inner + at) else {
            break;
        };
        let mut names = text[inner..end].trim().split('.');
        if names.next() != Some("steps") {
            from = inner;
            continue;
        }
        let place = start..end + END.len();
        let step = names.next().and_then(|step| step.parse().ok());
        let (Some(step), Some("result")) = (step, names.next()) else {
            return Err(&text[place]);
        };
        from = place.end;
        references.push(Reference {
            place,
            step,
            members: names.collect(),
        });
    }
    Ok(references)
}

/// Visits each string in a value, with its path.
fn each_string(
    value: &mut Value,
    path: &str,
    visit: &mut impl FnMut(&str, &mut String) -> Result<(), Problem>,
) -> Result<(), Problem> {
    match value {
        Value::String(text) => visit(path, text),
        Value::Array(items) => items
            .iter_mut()
            .enumerate()
            .try_for_each(|(index, item)| each_string(item, &format!("{path}[{index}]"), visit)),
        Value::Object(members) => members.iter_mut().try_for_each(|(name, member)| {
            let dot = if path.is_empty() { "" } else { "." };
            each_string(member, &format!("{path}{dot}{name}"), visit)
        }),
        _ => Ok(()),
    }
}

fn problem(path: &str, message: String) -> Problem {
    Problem {
        parameter: path.to_owned(),
        message,
        missing: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Arguments {
        value.as_object().cloned().expect("an object")
    }

    fn resolve(arguments: Value) -> Result<Value, Problem> {
        let mut results = Results::default();
        results.add(
            "evaluate",
            r#"{"id":7,"list":["a",{"b":"c"}],"text":"t"}"#.to_owned(),
        );
        results.add("browser_evaluate", "\"Tea\"".to_owned());
        results.add("browser_find", "no JSON".to_owned());
        results.add("browser_click", String::new());
        let secrets = Secrets::new([("KEY".to_owned(), "value-of-the-key".to_owned())]);
        results
            .resolve(object(arguments), &secrets)
            .map(Value::Object)
    }

    #[test]
    fn a_reference_is_replaced_by_the_result_or_a_member_of_it() {
        let arguments = json!({
            "text": "<{{steps.1.result}}> {{ steps.0.result.id }}",
            "fields": [{ "value": "{{steps.0.result.list.1.b}}", "n": 1 }],
            "raw": "{{steps.2.result}}",
            "whole": "{{steps.0.result}}",
            "list": "{{steps.0.result.list}}",
            "other": "{{name}} {{ {{steps.0.result.text}}",
        });
        assert_eq!(
            resolve(arguments).expect("all are known"),
            json!({
                "text": "<Tea> 7",
                "fields": [{ "value": "c", "n": 1 }],
                "raw": "no JSON",
                "whole": r#"{"id":7,"list":["a",{"b":"c"}],"text":"t"}"#,
                "list": r#"["a",{"b":"c"}]"#,
                "other": "{{name}} {{ t",
            })
        );
    }

    #[test]
    fn a_result_that_is_not_there_is_an_error() {
        for (reference, reason) in [
            ("{{steps.0.result.x}}", "has no member \"x\""),
            ("{{steps.0.result.list.9}}", "has no member \"9\""),
            ("{{steps.2.result.x}}", "is not JSON"),
            ("{{steps.3.result}}", "has no result"),
            ("{{steps.4.result}}", "has not run"),
        ] {
            let problem = resolve(json!({ "a": [reference] })).expect_err(reference);
            assert_eq!(problem.parameter, "a[0]");
            assert!(problem.message.contains(reason), "{}", problem.message);
        }
    }

    #[test]
    fn a_result_chooses_no_secret() {
        let mut results = Results::default();
        results.add("browser_evaluate", "\"KEY\"".to_owned());
        let secrets = Secrets::new([("KEY".to_owned(), "value-of-the-key".to_owned())]);
        let resolve = |text: &str| results.resolve(object(json!({ "text": text })), &secrets);
        assert!(resolve("{{steps.0.result}}").is_err());
        assert!(resolve("KEY").is_ok() && resolve("a {{steps.0.result}}").is_ok());
    }

    #[test]
    fn wrong_references_are_found_before_the_first_step() {
        let arguments = object(json!({
            "a": "{{steps.0.result}} {{steps.2.result}}",
            "b": { "c": "{{steps.x.result}}" },
            "d": "{{steps.1.text}} {{other}}",
            "e": "{{steps.1.result.a}}",
        }));
        let found = problems(2, &arguments);
        let found: Vec<_> = found
            .iter()
            .map(|problem| format!("{}: {}", problem.parameter, problem.message))
            .collect();
        assert_eq!(
            found,
            [
                "steps[2].arguments.a: Unknown reference {{steps.2.result}}: it must be to a step before step 2",
                "steps[2].arguments.b.c: Unknown reference {{steps.x.result}}: expected {{steps.N.result}}, or {{steps.N.result.MEMBER}}",
                "steps[2].arguments.d: Unknown reference {{steps.1.text}}: expected {{steps.N.result}}, or {{steps.N.result.MEMBER}}",
            ]
        );
    }
}
