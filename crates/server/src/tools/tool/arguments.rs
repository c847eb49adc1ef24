//! The check of arguments against the part of JSON Schema that tools use. The problems have the wording of `@playwright/mcp`.

use super::Arguments;
use crate::error::Problem;
use crate::error::nearest::nearest;
use serde_json::{Map, Value};

/// The largest integer that JavaScript represents exactly.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Returns the problems of `arguments`, those of outer members first. Parameters that are not in the schema are ignored.
pub(crate) fn problems(schema: &Map<String, Value>, arguments: &Arguments) -> Vec<Problem> {
    let mut found = Vec::new();
    object(schema, arguments, &Path::default(), &mut found);
    found.sort_by_key(|(depth, _)| *depth);
    found.into_iter().map(|(_, problem)| problem).collect()
}

/// Returns the parameters that are not in the schema, each with the most similar name.
pub(super) fn unknown(schema: &Map<String, Value>, arguments: &Arguments) -> Vec<Problem> {
    let mut found = Found::new();
    report_unknown(schema, arguments, &Path::default(), &mut found);
    found.into_iter().map(|(_, problem)| problem).collect()
}

fn report_unknown(
    schema: &Map<String, Value>,
    members: &Arguments,
    path: &Path,
    found: &mut Found,
) {
    let known = schema.get("properties").and_then(Value::as_object);
    let names = || known.into_iter().flat_map(Map::keys).map(String::as_str);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for (name, member) in members {
        let path = path.member(name);
        match known.and_then(|known| known.get(name)) {
            Some(Value::Object(property)) => report_unknown_in(property, member, &path, found),
            Some(_) => {}
            None if !closed => {}
            None => path.report(
                found,
                match nearest(name, names()) {
                    Some(similar) => format!("Unknown parameter, did you mean \"{similar}\"?"),
                    None => {
                        let known: Vec<_> = names().collect();
                        match known.as_slice() {
                            [] => "Unknown parameter: there are none".to_owned(),
                            known => format!("Unknown parameter. Known: {}", known.join(", ")),
                        }
                    }
                },
            ),
        }
    }
}

fn report_unknown_in(schema: &Map<String, Value>, given: &Value, path: &Path, found: &mut Found) {
    match (given, schema.get("items")) {
        (Value::Object(members), _) => report_unknown(schema, members, path, found),
        (Value::Array(items), Some(Value::Object(item))) => {
            for (index, given) in items.iter().enumerate() {
                report_unknown_in(item, given, &path.item(index), found);
            }
        }
        _ => {}
    }
}

/// Removes empty optional strings, because models send them for parameters that they leave out. `minLength: 0` marks parameters whose empty
/// string is a value.
pub(super) fn remove_empty(schema: &Map<String, Value>, members: &mut Arguments) {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return;
    };
    for (name, property) in properties {
        let Value::Object(property) = property else {
            continue;
        };
        let empty = members.get(name).is_some_and(|given| given == "");
        let is_string = property.get("type").is_some_and(|kind| kind == "string");
        if empty {
            let empty_is_value =
                property.get("minLength").is_some_and(|least| *least == 0) || !is_string;
            if !is_required(schema, name, property) && !empty_is_value {
                members.shift_remove(name);
            }
            continue;
        }
        match (members.get_mut(name), property.get("items")) {
            (Some(Value::Object(given)), _) => remove_empty(property, given),
            (Some(Value::Array(given)), Some(Value::Object(item))) => {
                for given in given.iter_mut().filter_map(Value::as_object_mut) {
                    remove_empty(item, given);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a parameter has to be given. Parameters with a default do not, although `required` lists them.
fn is_required(schema: &Map<String, Value>, name: &str, property: &Map<String, Value>) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known == name))
        && !property.contains_key("default")
}

/// Returns the value with whole numbers as integers, so that `2.0` is accepted as an index.
pub(super) fn with_integers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() <= MAX_SAFE_INTEGER => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "a whole number in the range of exact integers"
                )]
                let integer = float as i64;
                integer.into()
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(with_integers).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, member)| (name, with_integers(member)))
            .collect(),
        other => other,
    }
}

type Found = Vec<(usize, Problem)>;

/// The path of an argument, and its depth.
#[derive(Default, Clone)]
struct Path {
    text: String,
    depth: usize,
}

impl Path {
    fn member(&self, name: &str) -> Self {
        let dot = if self.text.is_empty() { "" } else { "." };
        Self {
            text: format!("{}{dot}{name}", self.text),
            depth: self.depth + 1,
        }
    }

    fn item(&self, index: usize) -> Self {
        Self {
            text: format!("{}[{index}]", self.text),
            depth: self.depth + 1,
        }
    }

    fn report(&self, found: &mut Found, message: String) {
        let problem = Problem {
            parameter: self.text.clone(),
            message,
            missing: false,
        };
        found.push((self.depth, problem));
    }
}

fn object(schema: &Map<String, Value>, members: &Arguments, path: &Path, found: &mut Found) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Value::Object(property) = property else {
            continue;
        };
        match members.get(name) {
            None if !is_required(schema, name, property) => {}
            None => {
                let before = found.len();
                let path = path.member(name);
                value(property, None, &path, found);
                if found.len() == before {
                    path.report(found, "Required".to_owned());
                }
                for (_, problem) in &mut found[before..] {
                    problem.missing = true;
                }
            }
            member => value(property, member, &path.member(name), found),
        }
    }
    if let Some(Value::Object(any)) = schema.get("additionalProperties") {
        for (name, member) in members {
            value(any, Some(member), &path.member(name), found);
        }
    }
}

fn value(schema: &Map<String, Value>, given: Option<&Value>, path: &Path, found: &mut Found) {
    if let Some(Value::Array(choices)) = schema.get("anyOf") {
        // If no choice matches, the problems of the closest choice are reported, or those of the first.
        let mut closest: Option<Found> = None;
        for choice in choices.iter().filter_map(Value::as_object) {
            let mut problems = Found::new();
            value(choice, given, path, &mut problems);
            if problems.is_empty() {
                return;
            }
            let depth = |found: &Found| found.iter().map(|(depth, _)| *depth).max();
            if closest
                .as_ref()
                .is_none_or(|closest| depth(&problems) > depth(closest))
            {
                closest = Some(problems);
            }
        }
        found.extend(closest.unwrap_or_default());
        return;
    }
    if let Some(Value::Array(choices)) = schema.get("enum") {
        if !given.is_some_and(|given| choices.contains(given)) {
            let names: Vec<_> = choices.iter().map(Value::to_string).collect();
            path.report(
                found,
                format!("Invalid option: expected one of {}", names.join("|")),
            );
        }
        return;
    }
    let Some(expected) = schema.get("type").and_then(Value::as_str) else {
        return;
    };
    match (expected, given) {
        ("null", Some(Value::Null))
        | ("string", Some(Value::String(_)))
        | ("boolean", Some(Value::Bool(_))) => {}
        ("number", Some(Value::Number(number))) => range(schema, number.as_f64(), path, found),
        ("integer", Some(Value::Number(number))) => {
            integer(schema, number.as_f64(), path, found);
        }
        ("array", Some(Value::Array(items))) => {
            let Some(Value::Object(item)) = schema.get("items") else {
                return;
            };
            for (index, given) in items.iter().enumerate() {
                value(item, Some(given), &path.item(index), found);
            }
        }
        ("object", Some(Value::Object(members))) => object(schema, members, path, found),
        (expected, given) => {
            let expected = match expected {
                "integer" => "number",
                "object" if is_map(schema) => "record",
                expected => expected,
            };
            path.report(
                found,
                format!(
                    "Invalid input: expected {expected}, received {}",
                    kind(given)
                ),
            );
        }
    }
}

/// Returns whether the schema is that of an object whose member names the caller chooses.
fn is_map(schema: &Map<String, Value>) -> bool {
    schema
        .get("additionalProperties")
        .is_some_and(Value::is_object)
}

fn integer(schema: &Map<String, Value>, number: Option<f64>, path: &Path, found: &mut Found) {
    match number {
        Some(number) if number.fract() != 0.0 => path.report(
            found,
            "Invalid input: expected int, received number".to_owned(),
        ),
        Some(number) if number > MAX_SAFE_INTEGER => path.report(
            found,
            format!("Too big: expected int to be <={MAX_SAFE_INTEGER}"),
        ),
        number => range(schema, number, path, found),
    }
}

fn range(schema: &Map<String, Value>, number: Option<f64>, path: &Path, found: &mut Found) {
    let limit = |name| schema.get(name).and_then(Value::as_f64);
    let Some(number) = number else { return };
    if let Some(minimum) = limit("minimum").filter(|minimum| number < *minimum) {
        path.report(
            found,
            format!("Too small: expected number to be >={minimum}"),
        );
    } else if let Some(maximum) = limit("maximum").filter(|maximum| number > *maximum) {
        path.report(found, format!("Too big: expected number to be <={maximum}"));
    }
}

fn kind(value: Option<&Value>) -> &'static str {
    match value {
        None => "undefined",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn messages(schema: Value, arguments: Value) -> Vec<String> {
        let (Value::Object(schema), Value::Object(arguments)) = (schema, arguments) else {
            panic!("two objects");
        };
        problems(&schema, &arguments)
            .into_iter()
            .map(|problem| format!("{} at {}", problem.message, problem.parameter))
            .collect()
    }

    #[test]
    fn an_object_with_names_of_the_callers_own_is_a_record() {
        let schema = json!({
            "type": "object",
            "properties": {"data": {"type": "object", "additionalProperties": {"type": "string"}}},
        });
        assert_eq!(
            messages(schema, json!({"data": "x"})),
            ["Invalid input: expected record, received string at data"]
        );
    }

    #[test]
    fn each_problem_has_its_path_and_shallow_ones_come_first() {
        let schema = json!({
            "type": "object",
            "properties": {
                "fields": { "type": "array", "items": {
                    "type": "object",
                    "properties": { "type": { "type": "string", "enum": ["a", "b"] }, "target": { "type": "string" } },
                    "required": ["target", "type"],
                } },
                "url": { "type": "string" },
            },
            "required": ["fields", "url"],
        });
        assert_eq!(
            messages(schema, json!({ "fields": [{ "type": "c" }, 7] })),
            [
                "Invalid input: expected string, received undefined at url",
                "Invalid input: expected object, received number at fields[1]",
                "Invalid option: expected one of \"a\"|\"b\" at fields[0].type",
                "Invalid input: expected string, received undefined at fields[0].target",
            ]
        );
    }

    #[test]
    fn a_parameter_with_a_default_is_optional_but_validated() {
        let schema = json!({
            "properties": { "level": { "type": "string", "enum": ["x"], "default": "x" } },
            "required": ["level"],
        });
        assert_eq!(messages(schema.clone(), json!({})), Vec::<String>::new());
        assert_eq!(
            messages(schema, json!({ "level": null })),
            ["Invalid option: expected one of \"x\" at level"]
        );
    }

    #[test]
    fn an_empty_optional_string_is_dropped() {
        let schema = json!({
            "properties": {
                "text": { "type": "string" },
                "level": { "type": "string", "enum": ["x"], "default": "x" },
                "filename": { "type": "string" },
                "prompt": { "type": "string", "minLength": 0 },
                "value": {},
                "headers": { "type": "object", "additionalProperties": { "type": "string" } },
                "fields": { "type": "array", "items": {
                    "properties": { "element": { "type": "string" }, "value": { "type": "string" } },
                    "required": ["value"],
                } },
            },
            "required": ["text", "level", "fields"],
        });
        let given = json!({
            "text": "", "level": "", "filename": "", "prompt": "", "value": "", "headers": { "a": "" },
            "fields": [{ "element": "", "value": "" }],
        });
        let (Value::Object(schema), Value::Object(mut given)) = (schema, given) else {
            panic!("two objects");
        };
        remove_empty(&schema, &mut given);
        assert_eq!(
            Value::Object(given),
            json!({
                "text": "", "prompt": "", "value": "", "headers": { "a": "" },
                "fields": [{ "value": "" }],
            })
        );
    }

    #[test]
    fn null_is_a_value_if_the_schema_allows_it() {
        let schema = json!({
            "properties": { "scheme": { "anyOf": [{ "type": "string", "enum": ["light"] }, { "type": "null" }] } },
        });
        assert_eq!(
            messages(schema.clone(), json!({ "scheme": null })),
            Vec::<String>::new()
        );
        assert_eq!(
            messages(schema, json!({ "scheme": "pink" })),
            ["Invalid option: expected one of \"light\" at scheme"]
        );
    }

    #[test]
    fn integers_are_whole_and_in_their_range() {
        let schema = json!({
            "properties": { "index": { "type": "integer", "minimum": 1, "maximum": 9_007_199_254_740_991_u64 } },
            "required": ["index"],
        });
        let one = |index: Value| messages(schema.clone(), json!({ "index": index })).concat();
        assert_eq!(one(json!(2)), "");
        assert_eq!(
            one(json!(0)),
            "Too small: expected number to be >=1 at index"
        );
        assert_eq!(
            one(json!(1.5)),
            "Invalid input: expected int, received number at index"
        );
        assert_eq!(
            one(json!(1e17)),
            "Too big: expected int to be <=9007199254740991 at index"
        );
        assert_eq!(
            one(json!("3")),
            "Invalid input: expected number, received string at index"
        );
    }

    #[test]
    fn the_values_of_an_open_object_are_checked_too() {
        let schema = json!({
            "properties": { "data": { "type": "object", "additionalProperties": { "type": "string" } } },
        });
        assert_eq!(
            messages(schema, json!({ "data": { "a": 1 } })),
            ["Invalid input: expected string, received number at data.a"]
        );
    }

    #[test]
    fn unknown_parameters_are_ignored() {
        assert_eq!(
            messages(
                json!({ "properties": {}, "additionalProperties": false }),
                json!({ "x": 1 })
            ),
            Vec::<String>::new()
        );
    }
}
