//! Values of arguments: words of the command line as JSON, as the schema of a parameter requires.

use serde_json::{Map, Value};
use std::io::Read as _;
use std::path::Path;

/// The type of a parameter, as far as its words on the command line depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// `true` or `false`.
    Switch,
    /// A number.
    Number,
    /// One of these texts.
    Choice(Vec<String>),
    /// Any text.
    Text,
    /// A list with one word for each element.
    List(Box<Kind>),
    /// Any JSON; a word that is not JSON is a text where the schema allows one.
    Json {
        /// Whether the schema allows a text.
        has_text: bool,
    },
}

impl Kind {
    /// Returns the kind of a parameter with this schema.
    pub(super) fn of(schema: &Value) -> Self {
        let texts = |values: &Vec<Value>| {
            let texts = values.iter().map(|value| value.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>()
        };
        if let Some(choices) = schema["enum"].as_array().and_then(texts) {
            return Self::Choice(choices);
        }
        match schema["type"].as_str() {
            Some("boolean") => Self::Switch,
            Some("number" | "integer") => Self::Number,
            Some("string") => Self::Text,
            Some("array") => match Self::of(&schema["items"]) {
                // A list of objects is easier to write as one word.
                Self::Json { has_text: false } => Self::Json { has_text: false },
                element => Self::List(Box::new(element)),
            },
            Some(_) => Self::Json { has_text: false },
            None => Self::Json {
                has_text: schema["anyOf"].as_array().is_some_and(|schemas| {
                    let mut kinds = schemas.iter().map(Self::of);
                    kinds.any(|kind| matches!(kind, Self::Text | Self::Choice(_)))
                }),
            },
        }
    }

    /// Returns the value that a word stands for, or what is wrong with it. Files are relative to `cwd`.
    pub(super) fn parse(&self, word: &str, cwd: &Path) -> Result<Value, String> {
        match self {
            Self::Switch | Self::Number => match serde_json::from_str(word) {
                Ok(value @ (Value::Bool(_) | Value::Number(_))) => Ok(value),
                _ => Err(format!("'{word}' is not a number")),
            },
            Self::Choice(_) => Ok(word.into()),
            Self::Text => text(word, cwd).map(Value::from),
            Self::List(element) => element.parse(word, cwd),
            Self::Json { has_text } => {
                let text = text(word, cwd)?;
                match serde_json::from_str(&text) {
                    Ok(value) => Ok(value),
                    Err(_) if *has_text => Ok(text.into()),
                    Err(error) => Err(format!("'{word}' is not JSON: {error}")),
                }
            }
        }
    }
}

/// Returns the text that a word stands for: `-` is stdin, `@FILE` the content of a file, without its last line break; `@@` begins a text
/// with `@`.
fn text(word: &str, cwd: &Path) -> Result<String, String> {
    let mut text = match word.strip_prefix('@') {
        None if word == "-" => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| format!("cannot read stdin: {error}"))?;
            text
        }
        None => return Ok(word.to_owned()),
        Some(rest) if rest.starts_with('@') => return Ok(rest.to_owned()),
        Some(file) => std::fs::read_to_string(cwd.join(file)).map_err(|error| {
            format!(
                "cannot read the file {file}: {error}. A text that begins with @ is written @{word}"
            )
        })?,
    };
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// Returns the parameters of a schema that must be given, in order, and all others.
pub(super) fn split(schema: &Map<String, Value>) -> (Vec<&str>, Vec<&str>) {
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_required = |name: &str, property: &Value| {
        property.get("default").is_none()
            && required.is_some_and(|names| names.contains(&Value::from(name)))
    };
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for (name, property) in properties.into_iter().flatten() {
        match is_required(name, property) {
            true => first.push(name.as_str()),
            false => others.push(name.as_str()),
        }
    }
    (first, others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(schema: Value, word: &str) -> Result<Value, String> {
        Kind::of(&schema).parse(word, Path::new("/nowhere"))
    }

    #[test]
    fn words_become_what_the_schema_requires() {
        let string = || json!({ "type": "string" });
        for (schema, word, value) in [
            (string(), "5", json!("5")),
            (string(), "@@ada", json!("@ada")),
            (json!({ "type": "number" }), "-1.5", json!(-1.5)),
            (json!({ "type": "boolean" }), "true", json!(true)),
            (json!({ "enum": ["left", "right"] }), "left", json!("left")),
            (json!({ "type": "object" }), r#"{"a":1}"#, json!({ "a": 1 })),
            (
                json!({ "type": "array", "items": { "type": "object" } }),
                "[{}]",
                json!([{}]),
            ),
            (
                json!({ "anyOf": [string(), { "type": "array" }] }),
                "red",
                json!("red"),
            ),
            (
                json!({ "anyOf": [string(), { "type": "array" }] }),
                r#"["red"]"#,
                json!(["red"]),
            ),
        ] {
            assert_eq!(parsed(schema.clone(), word), Ok(value), "{schema} {word}");
        }
        for (schema, word) in [
            (json!({ "type": "number" }), "x"),
            (json!({ "type": "object" }), "x"),
            (string(), "@missing"),
        ] {
            assert!(parsed(schema.clone(), word).is_err(), "{schema} {word}");
        }
    }

    #[test]
    fn a_file_is_read_without_its_last_line_break() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("note.txt"), "one\ntwo\r\n").expect("writable");
        let read = Kind::Text.parse("@note.txt", folder.path());
        assert_eq!(read, Ok(json!("one\ntwo")));
    }
}
