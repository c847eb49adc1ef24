//! Validating answers against the output schemas of tools. Supports only the keywords of those schemas.

use serde_json::Value;

/// Returns where and why the value violates the schema; `None` if it is valid.
pub fn misfit(schema: &Value, value: &Value) -> Option<String> {
    at("", schema, value)
}

fn at(path: &str, schema: &Value, value: &Value) -> Option<String> {
    let Value::Object(words) = schema else {
        return (*schema == false).then(|| format!("{path} must not be there"));
    };
    if let Some(wanted) = words.get("type") {
        let fits = match wanted {
            Value::Array(any) => any.iter().any(|wanted| is(value, wanted)),
            one => is(value, one),
        };
        if !fits {
            return Some(format!("{path} is {value}, and not of type {wanted}"));
        }
    }
    if let Some(allowed) = words.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        return Some(format!("{path} is {value}, and none of {allowed:?}"));
    }
    for choice in ["anyOf", "oneOf"] {
        let choices = words.get(choice).and_then(Value::as_array);
        if choices.is_some_and(|all| all.iter().all(|one| at(path, one, value).is_some())) {
            return Some(format!("{path} is {value}, which fits none of {choice}"));
        }
    }
    match value {
        Value::Object(members) => {
            let required = words.get("required").and_then(Value::as_array);
            let mut names = required.into_iter().flatten().filter_map(Value::as_str);
            if let Some(missing) = names.find(|name| !members.contains_key(*name)) {
                return Some(format!("{path}.{missing} is missing"));
            }
            members.iter().find_map(|(name, member)| {
                let known = words.get("properties").and_then(|all| all.get(name));
                let schema = known.or_else(|| words.get("additionalProperties"))?;
                at(&format!("{path}.{name}"), schema, member)
            })
        }
        Value::Array(items) => {
            let schema = words.get("items")?;
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| at(&format!("{path}[{index}]"), schema, item))
        }
        _ => None,
    }
}

fn is(value: &Value, wanted: &Value) -> bool {
    match wanted.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::misfit;
    use serde_json::json;

    #[test]
    fn a_misfit_is_reported_with_its_path() {
        let schema = json!({
            "type": "object",
            "properties": {
                "n": { "type": ["integer", "null"] },
                "all": { "type": "array", "items": { "type": "object", "properties": { "s": { "type": "string" } }, "required": ["s"] } },
            },
            "required": ["n"],
        });
        for fitting in [
            json!({ "n": null }),
            json!({ "n": 1, "all": [{ "s": "" }], "more": true }),
        ] {
            assert_eq!(misfit(&schema, &fitting), None);
        }
        for (value, expected) in [
            (json!({}), ".n is missing"),
            (
                json!({ "n": "1" }),
                ".n is \"1\", and not of type [\"integer\",\"null\"]",
            ),
            (
                json!({ "n": 1, "all": [{ "s": "" }, {}] }),
                ".all[1].s is missing",
            ),
            (
                json!({ "n": 1, "all": [{ "s": null }] }),
                ".all[0].s is null, and not of type \"string\"",
            ),
        ] {
            assert_eq!(misfit(&schema, &value).as_deref(), Some(expected));
        }
    }
}
