//! The options for people: each value and where it came from.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{
    options::{OPTIONS, Options},
    table::OptionDef,
};

/// What stands in place of a secret.
const MASK: &str = "***";

/// One value and where it came from.
pub(crate) struct Shown {
    /// The key of the file, or the flag of an option without one.
    pub(crate) name: String,
    /// The value; a secret is masked.
    pub(crate) value: Value,
    /// `flag --x`, `environment variable X`, `file PATH`, `default`.
    pub(crate) source: String,
}

/// Each option that has a value, in the order of the table.
pub(crate) fn shown(options: &Options) -> Vec<Shown> {
    let shown = |def: &OptionDef| {
        let (value, source) = (def.get)(options)?;
        let name = def
            .spec
            .key
            .map_or_else(|| format!("--{}", def.long()), str::to_owned);
        Some(Shown {
            name,
            value: masked(def, value),
            source: source.to_string(),
        })
    };
    OPTIONS.iter().filter_map(shown).collect()
}

/// The lines of `config show`: name, value, source, in columns.
pub(crate) fn text(options: &Options) -> String {
    let rows: Vec<_> = shown(options)
        .into_iter()
        .map(|row| (row.name, plain(&row.value), row.source))
        .collect();
    let width = |column: fn(&(String, String, String)) -> &String| {
        // A list of arguments must not push every source off the screen.
        rows.iter()
            .map(|row| column(row).chars().count())
            .filter(|width| *width <= 48)
            .max()
            .unwrap_or(0)
    };
    let (names, values) = (width(|row| &row.0), width(|row| &row.1));
    let mut text = String::new();
    for (name, value, source) in &rows {
        let _ = writeln!(text, "{name:names$}  {value:values$}  {source}");
    }
    text
}

/// The same as JSON: a list of objects with `option`, `value`, `source`.
pub(crate) fn json(options: &Options) -> Value {
    let row = |row: Shown| json!({ "option": row.name, "value": row.value, "source": row.source });
    shown(options).into_iter().map(row).collect()
}

/// The options in the shape of a configuration file; secrets are masked.
pub(crate) fn merged(options: &Options) -> Value {
    let mut merged = Map::new();
    for def in OPTIONS {
        if let (Some(key), Some((value, _))) = (def.spec.key, (def.get)(options)) {
            insert(&mut merged, key, masked(def, value));
        }
    }
    Value::Object(merged)
}

fn insert(map: &mut Map<String, Value>, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            map.insert(key.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = map
                .entry(first)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// A secret's shape with its strings masked; names of headers stay.
fn masked(def: &OptionDef, value: Value) -> Value {
    if !def.spec.secret {
        return value;
    }
    match value {
        Value::Object(map) => map
            .into_iter()
            .map(|(name, _)| (name, json!(MASK)))
            .collect(),
        _ => json!(MASK),
    }
}

/// A value as a person would write it.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().map(plain).collect::<Vec<_>>().join(",")
        }
        Value::Object(map) => match (map.get("width"), map.get("height")) {
            (Some(width), Some(height)) => format!("{width}x{height}"),
            _ => value.to_string(),
        },
        _ => value.to_string(),
    }
}
